"""Signals of an adversary who sees how a query attends to the rows of its context.

After AMIA (Carvalho and Cordy 2026, arXiv 2606.26021), of which the abstract alone was at hand: a record that is in the
context concentrates the attention of its query on one row, its own. The abstract fixes neither block nor statistic.
Both were chosen on scikit-learn's tables (workflow_scripts/maintenance/choose_attention_signal.py prints the
comparison), which are not those that the attack is reported on:

- BLOCK: the first block of in-context learning. Its keys are still the rows themselves; later blocks mix them.
- Heads are averaged geometrically, by their log weights: a query meets its own row in all heads, another row in some.
- Uncalibrated, the largest less the second-largest log weight (GAP); calibrated by shadow contexts, the LARGEST.

Whoever sees the keys or the rows of the context, too, needs no attack: they can be compared with the record.
"""

import torch
from torch import Tensor

BLOCK = 0


def concentration(weights: Tensor, _targets: Tensor | None = None, *, k: int = 1) -> Tensor:
    """STATISTICS (`attention_statistics`) of queries' attention on contexts (b, q, statistic), higher = concentrated.

    weights: (b, heads, q, n) that sum to 1, n >= 2. Largest and gap are in nats; the entropy is negative, of the
    normalised geometric mean over heads. For `models.context_attention.ReadsContext`. k: of k-anonymous keys, under
    which k weights are the same: the gap is that between the largest and the (k + 1)-th, 0 where there are fewer.
    """
    return of_log_weights(geometric_mean(weights), k)


def geometric_mean(weights: Tensor) -> Tensor:
    """Mean log weights over heads, (b, q, n), of weights (b, heads, q, n), at least the smallest normal number."""
    return weights.clamp_min(torch.finfo(weights.dtype).tiny).log().mean(1)


def of_log_weights(logs: Tensor, k: int = 1) -> Tensor:
    """STATISTICS (b, q, statistic) of log weights (b, q, n); k: as for `concentration`."""
    largest = logs.topk(min(k + 1, logs.shape[-1])).values
    first = largest[..., 0]
    shares = logs.log_softmax(-1)
    return torch.stack([first, first - largest[..., -1], (shares.exp() * shares).sum(-1)], -1)
