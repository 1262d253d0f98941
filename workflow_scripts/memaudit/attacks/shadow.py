"""Shadow grids: what in-context models with known contexts answer about records."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memaudit.attacks.signals import logit_confidence
from memaudit.models.protocol import TabularModel

CLIP = 1e-12  # least and largest probability, as in the reliability paper's code


@torch.inference_mode()
def logit_signals(
    model: TabularModel, x: Tensor, y: Tensor, contexts: NDArray[np.bool_], asked: Tensor, classes: int
) -> NDArray[np.float32]:
    """Logit-scaled confidence in the true label of the records asked about, one model a row.

    x: (record, feature) float32; y: (record,) class codes; contexts: (model, record), True where a record is in the
    context; asked: (record,) bool. Returns (model, asked record) float32.
    A shadow model is its context: one forward pass each (batching contexts does not pay on a CPU: the pass is bound by
    arithmetic).
    """
    queries, labels = x[asked][None], y[asked].numpy()
    rows = []
    for context in torch.from_numpy(contexts):
        logits = model.logits(x[context][None], y[context][None], queries)[0, :, :classes]
        rows.append(logit_confidence(logits.double().cpu().numpy(), labels, clip=CLIP))
    return np.asarray(rows, dtype=np.float32)
