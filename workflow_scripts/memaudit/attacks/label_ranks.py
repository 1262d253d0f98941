"""Ranks of labels among all candidates by a model's loss, for their exposure (`label_exposure`)."""

import numpy as np
import torch
from torch import Tensor

from memaudit.common.arrays import Array, Floats
from memaudit.models.predictive_distributions import Binned


def label_ranks(predicted: Tensor | Binned, labels: Floats, candidates: Floats) -> Array:
    """Rank of each label among the candidates by the model's loss, 1 for the smallest; ties share their mean rank.

    predicted: logits (target, class), or a distribution of each target; labels: (target,) class codes or numbers;
    candidates: (k,), the labels among them. Returns (target,), NaN where an answer is not finite.
    """
    offered, chosen = torch.as_tensor(candidates), torch.as_tensor(labels)
    if isinstance(predicted, Binned):
        values = predicted.log_density(offered.expand(len(chosen), -1)).double().numpy()
        own = predicted.log_density(chosen[:, None]).double().numpy()
    else:
        values = predicted[:, offered.long()].double().numpy()
        own = predicted.gather(1, chosen.long()[:, None]).double().numpy()
    better, tied = (values > own).sum(1), (values == own).sum(1)
    return np.where(np.isnan(values).any(1), np.nan, better + (tied + 1) / 2)
