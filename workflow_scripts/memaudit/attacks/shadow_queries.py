"""Shadow grids: what in-context models with known contexts answer about records."""

import numpy as np
import torch
from torch import Tensor

from memaudit.attacks.signals import CLIP, logit_confidence
from memaudit.common.arrays import Array32, Mask
from memaudit.models.batched_queries import MEMORY, Question, answer
from memaudit.models.model_protocol import TabularModel


@torch.inference_mode()
def logit_signals(
    model: TabularModel,
    x: Tensor,
    y: Tensor,
    contexts: Mask,
    asked: Tensor,
    classes: int,
    memory: int = MEMORY,
) -> Array32:
    """Logit-scaled confidence in the true label of the records asked about, one model a row.

    x: (record, feature) float32; y: (record,) class codes; contexts: (model, record), True where a record is in the
    context; asked: (record,) bool. Returns (model, asked record) float32.
    A shadow model is its context. On a CPU each has forward passes of its own: they are bound by arithmetic, more at
    once would not be faster. On a GPU contexts of one size share a pass. None holds more than `memory` MiB.
    """
    queries, labels = x[asked], y[asked].numpy()
    questions = (Question(x[context], y[context], queries) for context in torch.from_numpy(contexts))
    if torch.device(getattr(model, "device", "cpu")).type == "cpu":
        answers = (answer(model, [one], memory)[0] for one in questions)
    else:
        answers = answer(model, list(questions), memory)
    rows = [logit_confidence(logits[:, :classes].double().cpu().numpy(), labels, clip=CLIP) for logits in answers]
    return np.asarray(rows, dtype=np.float32)
