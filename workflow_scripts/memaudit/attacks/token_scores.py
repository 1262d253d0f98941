"""Membership scores of texts without training, from token predictions; higher = more likely a member.

The logits are read once, into a few numbers per token (`tokens`); all scores are computed from those. Log-probabilities
are in nats. All scores are (text,) float64.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from memaudit.attacks.token_features import MEMORY, chunks, labels_at, logits_at, scored_positions
from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError

SHARE = 0.2  # k of Min-K%; the LT-MIA paper does not state its own
DEVIATION_FLOOR = 1e-6
SHIFT_FLOOR = 1e-12  # as in EZ-MIA's code


@dataclass(frozen=True)
class Likelihoods:
    """Predictions of one model for every token of every text, all (text, T); position t is about token t + 1.

    log_probability: of the token, 0 where there is none; mask: whether there is a token to predict.
    """

    log_probability: Array
    mask: Mask


@dataclass(frozen=True)
class Tokens(Likelihoods):
    """What is asked of a target beside the likelihoods, both (text, T) and 0 where there is no token to predict.

    standardised: log-probability less its mean, over its deviation, both weighted with the predicted probabilities
    (Min-K%++); right: whether no other token has a larger logit.
    """

    standardised: Array
    right: Mask


@torch.inference_mode()
def tokens(logits: Tensor, ids: Tensor, mask: Tensor, memory: int = MEMORY, whose: str = "target") -> Tokens:
    """Read a batch of logits (text, T, V); arguments as for `token_features.extract`, `whose` for its errors.

    Raises AuditError as there, and for a text with no token to predict.
    """
    (own, standardised, right), scored = _at_positions(_of_positions, 3, logits, ids, mask, memory, whose)
    return Tokens(own, scored, standardised, right.astype(bool))


@torch.inference_mode()
def likelihoods(
    logits: Tensor, ids: Tensor, mask: Tensor, memory: int = MEMORY, whose: str = "reference"
) -> Likelihoods:
    """The likelihoods of `tokens` alone, which is all that scores read of a reference, at a third of the cost."""
    (own,), scored = _at_positions(_log_probabilities, 1, logits, ids, mask, memory, whose)
    return Likelihoods(own, scored)


def _at_positions(
    compute: Callable[[Tensor, Tensor], Tensor],
    width: int,
    logits: Tensor,
    ids: Tensor,
    mask: Tensor,
    memory: int,
    whose: str,
) -> tuple[Array, Mask]:
    """Values (width, text, T) of the scored positions, 0 elsewhere, and where they are, (text, T)."""
    ids, mask = ids.to(logits.device), mask.to(logits.device)
    scored = scored_positions(ids, mask, logits)
    if not scored.any(1).all():
        text = int(scored.any(1).int().argmin())
        raise AuditError(f"token scores: text {text} has no token to predict; leave out texts of fewer than two tokens")
    values = torch.zeros(*scored.shape, width, device=logits.device)
    for at in chunks(scored, logits.shape[-1], memory):
        values[at] = compute(logits_at(logits, at, whose), labels_at(ids, at))
    return values.double().cpu().numpy().transpose(2, 0, 1), scored.cpu().numpy()


def _log_probabilities(logits: Tensor, label: Tensor) -> Tensor:
    """(n, 1): log-probability. logits: (n, V); label: (n, 1)."""
    return logits.log_softmax(-1).gather(-1, label)


def _of_positions(logits: Tensor, label: Tensor) -> Tensor:
    """(n, 3): log-probability, standardised, right. logits: (n, V); label: (n, 1)."""
    logs = logits.log_softmax(-1)
    own = logs.gather(-1, label)
    right = own[:, 0] >= logs.amax(-1)
    weights = logs.exp()
    # Relative to the token itself, so that both are exactly 0 for a uniform prediction.
    logs -= own
    mean = torch.linalg.vecdot(weights, logs)[:, None]
    deviation = torch.linalg.vecdot(weights, logs.sub_(mean).square_()).sqrt()
    return torch.stack([own[:, 0], -mean[:, 0] / deviation.clamp_min(DEVIATION_FLOOR), right.float()], -1)


def all_scores(target: Tokens, reference: Likelihoods, texts: Sequence[str]) -> dict[str, Array]:
    """Every score that needs at most one pass of target and reference, by name."""
    return {
        "loss": loss(target),
        "min_k": min_k(target),
        "min_k_plus_plus": min_k_plus_plus(target),
        "zlib": zlib_ratio(target, texts),
        "ref_loss": reference_loss(target, reference),
        "ez_published": ez_published(target, reference),
        "ez": ez(target, reference),
    }


def loss(target: Likelihoods) -> Array:
    """Mean log-likelihood of the tokens, the negative loss (Yeom et al. 2018)."""
    return _mean(target.log_probability, target.mask)


def min_k(target: Tokens, share: float = SHARE) -> Array:
    """Mean log-probability of the `share` least likely tokens, of one at least (Shi et al. 2024)."""
    return _mean_of_lowest(target.log_probability, target.mask, share)


def min_k_plus_plus(target: Tokens, share: float = SHARE) -> Array:
    """Mean of the `share` lowest standardised log-probabilities, of one at least (Zhang et al. 2024)."""
    return _mean_of_lowest(target.standardised, target.mask, share)


def zlib_ratio(target: Likelihoods, texts: Sequence[str]) -> Array:
    """Mean log-likelihood per byte of the text (text,) compressed by zlib, as UTF-8 (Carlini et al. 2021)."""
    return loss(target) / [len(zlib.compress(text.encode("utf-8"))) for text in texts]


def reference_loss(target: Likelihoods, reference: Likelihoods) -> Array:
    """Mean log-likelihood ratio of target to reference (RefLoss)."""
    return loss(target) - loss(reference)


def ez_published(target: Tokens, reference: Likelihoods, *, drop_first: bool = True) -> Array:
    """Rises over falls of the log-probability, where the target errs (EZ-MIA, Ilić et al. 2026), as published.

    0 with fewer than two errors or without a fall: a clear member may have the lowest score. drop_first: leave out the
    prediction of the second token.
    """
    errors = _kept(target, drop_first) & ~target.right
    rises, falls = _shifts(target, reference, errors)
    return np.where((errors.sum(1) < 2) | (falls == 0), 0.0, rises / (falls + SHIFT_FLOOR))


def ez(target: Tokens, reference: Likelihoods) -> Array:
    """EZ-MIA corrected: log((rises + 1e-12) / (falls + 1e-12)), over all tokens where fewer than two are errors.

    It ranks texts as the published score does where that has two errors, a rise and a fall; the absence of falls is the
    strongest evidence here, not the weakest. 0 where target and reference agree.
    """
    kept = _kept(target, drop_first=True)
    errors = kept & ~target.right
    few = errors.sum(1, keepdims=True) < 2
    rises, falls = _shifts(target, reference, np.where(few, kept, errors))
    return np.log((rises + SHIFT_FLOOR) / (falls + SHIFT_FLOOR))


def _mean(values: Array, mask: Mask) -> Array:
    return (values * mask).sum(1) / mask.sum(1)


def _mean_of_lowest(values: Array, mask: Mask, share: float) -> Array:
    count = np.maximum(1, (share * mask.sum(1)).astype(int))
    rising = np.sort(np.where(mask, values, np.inf), axis=1)
    return _mean(np.where(np.isfinite(rising), rising, 0.0), np.arange(mask.shape[1]) < count[:, None])


def _kept(target: Tokens, drop_first: bool) -> Mask:
    """The mask, without each text's first prediction if drop_first; with padding on the left that is not at 0."""
    first = np.arange(target.mask.shape[1]) == target.mask.argmax(1)[:, None]
    return target.mask & ~(first & drop_first)


def _shifts(target: Likelihoods, reference: Likelihoods, where: Mask) -> tuple[Array, Array]:
    """Sums (text,) of the rises and of the falls of the log-probability from reference to target."""
    shift = np.where(where, target.log_probability - reference.log_probability, 0.0)
    return np.maximum(shift, 0).sum(1), np.maximum(-shift, 0).sum(1)
