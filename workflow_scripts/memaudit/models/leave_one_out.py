"""Leave-one-out answers: what a model says about each row of a context when the context is all the other rows.

No family shares its work between these contexts exactly. A row left out moves the scaling of every cell; and were the
scaling held, only the first attention could be shared, as a softmax less one of its terms: after it every row of every
context has an embedding of its own. In the last block the context's rows are computed and never read, a saving too
small to rebuild a package's forward pass for (bench_leave_one_out counts both shares). What remains, and pays for small
contexts above all, is to answer several contexts in one forward pass.
"""

import torch
from torch import Tensor

from memaudit.errors import AuditError
from memaudit.models.batched_queries import answers_at, joined
from memaudit.models.model_protocol import TabularModel
from memaudit.models.predictive_distributions import Binned

CELLS = 2**15  # cells of one forward pass: measured on one core of a CPU, more are slower again


def leave_one_out(model: TabularModel, x: Tensor, y: Tensor, contexts: int | None = None) -> Tensor | Binned:
    """The model's answer for row i from the context of the n - 1 others, for every row. No gradient.

    x: (n, d) float32; y: (n,), int64 class codes or numbers; contexts: so many in one forward pass, by default as many
    as have CELLS cells together, which suits a CPU's core (a GPU takes more). Returns logits (n, C), -inf for a class
    of no other row, or a Binned of shape (n,): those of a loop over the contexts but for rounding. Raises AuditError
    for less than two rows.
    """
    if len(x) < 2:
        raise AuditError(f"leave-one-out: a context of {len(x)} rows has no other rows; give at least two")
    ask = model.logits if model.task == "classification" else model.distribution
    first, parts = torch.arange(len(x) - 1), []
    with torch.no_grad():
        for left in torch.arange(len(x)).split(contexts or max(1, CELLS // x.numel())):
            others = first + (first >= left[:, None])  # (b, n - 1)
            parts.append(answers_at(ask(x[others], y[others], x[left, None]), (slice(None), 0)))
    return joined(parts)
