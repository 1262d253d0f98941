"""Membership scores of texts that need more than one pass of target and reference; higher = more likely a member.

They compare a text's log-likelihood with that after a prefix, of its neighbours, or by a model tuned on the target's
own texts, or its tokens' probabilities with their frequencies. Log-likelihoods are means over the scored tokens, in
nats, (text,) float64; so are the scores.
"""

import numpy as np

from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError

CERTAIN = -1e-12  # largest log-likelihood that is divided by


def recall(plain: Array, after_nonmembers: Array) -> Array:
    """Log-likelihood after known non-members over that of the text alone (ReCaLL; Xie et al. 2024, Section 3)."""
    return after_nonmembers / np.minimum(plain, CERTAIN)


def con_recall(plain: Array, after_nonmembers: Array, after_members: Array, contrast: float) -> Array:
    """ReCaLL less `contrast` times the same with known members in front (Con-ReCaLL; Wang et al. 2025, Section 3)."""
    return (after_nonmembers - contrast * after_members) / np.minimum(plain, CERTAIN)


def neighbourhood(plain: Array, neighbours: Array) -> Array:
    """Log-likelihood less the mean of that of neighbours (text, neighbour) (Mattern et al. 2023, Section 3.1)."""
    return plain - neighbours.mean(1)


def self_calibrated(plain: Array, neighbours: Array, other: Array, other_neighbours: Array) -> Array:
    """Relative rise of the loss of neighbours, less that by a model that was tuned on what the target generates.

    plain, neighbours: (text,), (text, neighbour) of the target, the others of that model. SPV-MIA (Fu et al. 2024,
    Section 4) with neighbours of its authors' code, which replace tokens.
    """
    rises = [
        values.mean(1) / np.minimum(one, CERTAIN) - 1
        for one, values in ((plain, neighbours), (other, other_neighbours))
    ]
    return rises[0] - rises[1]


def frequencies(ids: Array, mask: Mask, vocabulary: int) -> Array:
    """Share (token,) of each token among those of some texts (text, T), one added to each count (Laplace)."""
    counts = np.bincount(ids[mask], minlength=vocabulary) + 1.0
    if len(counts) > vocabulary:
        raise AuditError(
            f"token frequencies: a token id is not within the {vocabulary} of the model; use its tokenizer"
        )
    return counts / counts.sum()


def dc_pdd(log_probability: Array, ids: Array, mask: Mask, frequency: Array, ceiling: float) -> Array:
    """Mean of min(p log(1 / f), ceiling) over the first occurrences of a text's tokens (DC-PDD; Zhang et al. 2024).

    log_probability, mask: (text, T) of the token `ids` at each place, and whether it is scored; frequency: (token,) in
    a reference corpus, none of them 0. Equations 2 to 5; the authors' code has the opposite sign.
    """
    cross_entropy = np.minimum(np.exp(log_probability) * -np.log(frequency[ids]), ceiling)
    first = mask & _first_occurrences(np.where(mask, ids, -1 - np.arange(ids.shape[1])))
    return (cross_entropy * first).sum(1) / first.sum(1)


def _first_occurrences(ids: Array) -> Mask:
    """Whether the token of each place (text, T) occurs at no earlier one."""
    order = np.argsort(ids, axis=1, kind="stable")
    ordered = np.take_along_axis(ids, order, 1)
    new = np.ones(ids.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.empty_like(new)
    np.put_along_axis(first, order, new, 1)
    return first
