"""Features of every token of a text under a fine-tuned model and its reference (LT-MIA, Section 3.2 and Appendix C).

Position t holds both models' predictions of token t + 1. With k = 20 it has 154 channels, in this order:

    truth       4       logit of the true token, target and reference; its rank in each
    head        4 x k   per place j of the top k: logit of the target's j-th token in target and in reference, its rank
                        in the reference, and the rank in the target of the reference's own j-th token
    tail        3 x k   per place j of the bottom k: the same logits, and the rank in the reference
    loss        3       target, reference, difference
    sequence    7       mean and deviation of the three losses over the text, and the sum of the difference

The larger of a pair of logits (target, reference) is subtracted from both. A rank is the number of strictly greater
logits, plus one, encoded as log(1 + rank) / log(V + 1). Of equal logits the smaller token id comes first. Deviations
are sqrt(var + 1e-6). Losses are in nats. The layout is the authors'; the paper counts 45 target, 45 reference and 64
comparison channels.

On disk a text is a row: float16 values with a scale per channel and text, a power of two, so that rows do not depend on
the shard. A value x has an error of at most 2^-11 |x| + 2^-39 max |x|, the maximum of its channel in the text.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memaudit.common.arrays import Array32, Mask
from memaudit.common.errors import AuditError
from memaudit.common.io import DAMAGED, MEBIBYTE, readable, replacing

Rows = NDArray[np.void]
Positions = tuple[Tensor, Tensor]

K = 20
MEMORY = 64  # MiB
ARRAYS = 6  # arrays of the logits' shape that a chunk needs at once
TIED_PARTS = 16  # parts in which a chunk's positions with equal logits at the edge are resolved
SEQUENCE = 7
VARIANCE_FLOOR = 1e-6
HIGHEST = 15  # stored values stay below 2^15; float16 ends at 65504


@dataclass(frozen=True)
class TokenFeatures:
    """values: (text, T, channel) float32, zero where there is no next token; mask: (text, T), where there is one."""

    values: Array32
    mask: Mask


def channels(k: int = K) -> list[str]:
    """Names of the 7 k + 14 channels, in order; `head_rank_reference_1`: the rank in the reference of the first."""
    return [name for name, _ in _layout(k)]


def groups(k: int = K) -> dict[str, list[int]]:
    """Channels of the paper's three groups (Appendix C, Figure 3): comparison, target and reference."""
    layout = _layout(k)
    names = ("comparison", "target", "reference")
    return {group: [number for number, (_, own) in enumerate(layout) if own == group] for group in names}


def _layout(k: int) -> list[tuple[str, str]]:
    """Name and group of every channel."""
    models = ("target", "reference")
    layout = [(f"truth_{what}_{model}", model) for what in ("logit", "rank") for model in models]
    for place in range(1, k + 1):
        layout += [(f"head_logit_{model}_{place}", model) for model in models]
        layout += [(f"head_rank_{model}_{place}", "comparison") for model in reversed(models)]
    for place in range(1, k + 1):
        layout += [(f"tail_logit_{model}_{place}", model) for model in models]
        layout += [(f"tail_rank_reference_{place}", "comparison")]
    losses = [("loss_target", "target"), ("loss_reference", "reference"), ("loss_difference", "comparison")]
    layout += losses
    layout += [(f"{loss}_{what}", group) for loss, group in losses for what in ("mean", "deviation")]
    return [*layout, ("loss_difference_sum", "comparison")]


@torch.inference_mode()
def extract(
    target: Tensor, reference: Tensor, ids: Tensor, mask: Tensor, k: int = K, memory: int = MEMORY
) -> TokenFeatures:
    """Features of a batch of texts, computed where the logits are.

    target, reference: logits (text, T, V) of any floating type, position t predicting token t + 1; ids: (text, T);
    mask: (text, T), true for tokens and false for padding; memory: MiB to use beside the logits. A position counts if
    it and the next are tokens: an empty text and one of a single token have no such position, and all their features
    are zero. Values at padding are never read. Raises AuditError for logits that are not finite, unknown tokens, shapes
    that do not fit, and fewer than k tokens in the vocabulary.
    """
    ids, mask = ids.to(target.device), mask.to(target.device)
    scored = scored_positions(ids, mask, target, reference)
    vocabulary = target.shape[-1]
    if not 0 < k <= vocabulary:
        raise AuditError(f"token features: no {k} highest tokens in a vocabulary of {vocabulary}; choose another k")
    steps = torch.zeros(*scored.shape, 7 * k + 7, device=target.device)
    for at in chunks(scored, vocabulary, memory):
        pair = (logits_at(target, at, "target"), logits_at(reference, at, "reference"))
        steps[at] = _of_positions(*pair, labels_at(ids, at), k)
    sequence = _of_sequence(steps[..., -3:].double(), scored[..., None])
    values = torch.cat([steps, sequence.float()], -1).cpu().numpy()
    return TokenFeatures(values, scored.cpu().numpy())


def scored_positions(ids: Tensor, mask: Tensor, *logits: Tensor) -> Tensor:
    """Whether a position and the next are tokens, (text, T). Raises AuditError for shapes and ids that do not fit."""
    shape, known = tuple(ids.shape), logits[0].shape[-1]
    if any(tuple(one.shape) != (*shape, known) for one in logits) or tuple(mask.shape) != shape:
        shapes = ", ".join(str(tuple(one.shape)) for one in (*logits, mask))
        raise AuditError(f"token logits: ids are {shape}, logits and mask {shapes}; take them from one batch")
    scored = torch.zeros_like(mask, dtype=torch.bool)
    scored[:, :-1] = mask[:, :-1].bool() & mask[:, 1:].bool()
    labels = ids[:, 1:][scored[:, :-1]]
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < known:
        raise AuditError(f"token logits: a token id is not within the {known} of the logits; use their tokenizer")
    return scored


def chunks(scored: Tensor, vocabulary: int, memory: int) -> Iterator[Positions]:
    """The scored positions (text, place), in parts that need at most `memory` MiB, or of one position."""
    most = max(1, memory * MEBIBYTE // (ARRAYS * 4 * vocabulary))
    return zip(*(part.split(most) for part in scored.nonzero(as_tuple=True)), strict=True)


def logits_at(logits: Tensor, at: Positions, whose: str) -> Tensor:
    """Float32 copy (position, V) of the logits at some positions. Raises AuditError if one is not finite."""
    copied = logits[at].float()
    finite = copied.sum(-1).isfinite()  # much cheaper than a check of every logit
    if not finite.all():
        text, place = (int(part[int(finite.int().argmin())]) for part in at)
        raise AuditError(
            f"token logits: the {whose} model's logits of text {text} at position {place} are not all finite"
            f" ({str(logits.dtype).removeprefix('torch.')}); query the model in float32"
        )
    return copied


def labels_at(ids: Tensor, at: Positions) -> Tensor:
    """The tokens (position, 1) that are predicted at some positions."""
    return ids[at[0], at[1] + 1].long()[:, None]


def _of_positions(target: Tensor, reference: Tensor, label: Tensor, k: int) -> Tensor:
    """Channels of positions, without those of the sequence. Logits: (n, V); label: (n, 1); returns (n, 7 k + 7)."""
    of_target, of_reference = rising(target), rising(reference)
    head, tail, other = (
        extreme(target, k, largest=True, ordered=of_target),
        extreme(target, k, largest=False, ordered=of_target),
        extreme(reference, k, largest=True, ordered=of_reference),
    )
    in_reference = encoded_ranks(reference, reference.gather(-1, torch.cat([label, head, tail], -1)), of_reference)
    in_target = encoded_ranks(target, target.gather(-1, torch.cat([label, other], -1)), of_target)
    truth, head_logits, tail_logits = (_pair(target, reference, tokens) for tokens in (label, head, tail))
    losses = [model.logsumexp(-1) - model.gather(-1, label)[:, 0] for model in (target, reference)]
    blocks = [
        truth[:, 0],
        in_target[:, :1],
        in_reference[:, :1],
        torch.cat([head_logits, in_reference[:, 1 : 1 + k, None], in_target[:, 1:, None]], -1).flatten(1),
        torch.cat([tail_logits, in_reference[:, 1 + k :, None]], -1).flatten(1),
        torch.stack([*losses, losses[0] - losses[1]], -1),
    ]
    return torch.cat(blocks, -1)


def _pair(target: Tensor, reference: Tensor, tokens: Tensor) -> Tensor:
    """Both models' logits (n, token, 2) of the tokens (n, token), minus the larger of the two."""
    pair = torch.stack([target.gather(-1, tokens), reference.gather(-1, tokens)], -1)
    return pair - pair.amax(-1, keepdim=True)


def _of_sequence(losses: Tensor, scored: Tensor) -> Tensor:
    """Channels (text, T, 7) from the losses (text, T, 3) of scored positions (text, T, 1)."""
    count = scored.sum(1, keepdim=True).clamp_min(1)
    mean = (losses * scored).sum(1, keepdim=True) / count
    variance = ((losses - mean).square() * scored).sum(1, keepdim=True) / count
    moments = torch.stack([mean, (variance + VARIANCE_FLOOR).sqrt()], -1).flatten(2)
    total = (losses[..., 2:] * scored).sum(1, keepdim=True)
    return torch.cat([moments, total], -1) * scored


def rising(logits: Tensor) -> Tensor | None:
    """The logits (n, V) in rising order on a CPU, where numpy sorts faster than it selects; None on other devices."""
    return torch.from_numpy(np.sort(logits.numpy(), axis=-1)) if logits.device.type == "cpu" else None


def extreme(logits: Tensor, k: int, *, largest: bool, ordered: Tensor | None = None) -> Tensor:
    """Ids (n, k) of the k largest or smallest logits, the most extreme first, of equal ones the smaller id first.

    topk leaves the order of equal logits undefined, so another device would choose other tokens; in bf16 ties are
    common. ordered: what `rising` returns.
    """
    beyond = torch.gt if largest else torch.lt
    if ordered is None:
        values, ids = logits.topk(min(k + 1, logits.shape[-1]), largest=largest)
        ids = ids[:, :k].clone()
    else:
        values = ordered[:, -k - 1 :].flip(-1) if largest else ordered[:, : k + 1]
        ids = _reached(logits, values[:, k - 1 : k], k, largest)
    edge = values[:, k - 1 : k]
    if values.shape[-1] > k and (tied := (values[:, k:] == edge)[:, 0]).any():
        # A few positions at a time: copies and masks of all of them would need four more arrays of the logits' shape.
        for rows in tied.nonzero()[:, 0].split(-(-len(logits) // TIED_PARTS)):
            tied_logits = logits[rows]
            chosen, equal = beyond(tied_logits, edge[rows]), tied_logits == edge[rows]
            left = k - chosen.sum(-1, keepdim=True)
            chosen |= equal.logical_and_(equal.cumsum(-1, dtype=torch.int32) <= left)
            ids[rows] = chosen.nonzero()[:, 1].view(-1, k)
    ids = ids.sort(-1).values
    return ids.gather(-1, logits.gather(-1, ids).sort(dim=-1, descending=largest, stable=True).indices)


def _reached(logits: Tensor, edge: Tensor, k: int, largest: bool) -> Tensor:
    """Ids (n, k) of the logits (n, V) at or beyond the edge (n, 1); zeros where ties make them more than k."""
    rows, ends = logits.numpy(), edge.numpy()
    reached = rows >= ends if largest else rows <= ends
    untied = np.count_nonzero(reached, axis=-1) == k
    reached[~untied] = False
    ids = np.zeros((len(rows), k), dtype=np.int64)
    ids[untied] = (np.flatnonzero(reached) % rows.shape[-1]).reshape(-1, k)
    return torch.from_numpy(ids)


def encoded_ranks(logits: Tensor, values: Tensor, ordered: Tensor | None = None) -> Tensor:
    """log(1 + rank) / log(V + 1) of values (n, q) among logits (n, V); rank = number strictly greater, plus one.

    ordered: what `rising` returns.
    """
    counts = greater_by_counts(logits, values) if ordered is None else greater_by_order(ordered, values)
    return (counts.double() + 2).log().div(math.log(logits.shape[-1] + 1)).float()


def greater_by_order(ordered: Tensor, values: Tensor) -> Tensor:
    """Number of logits, given in rising order (n, V), strictly greater than each of the values (n, q): (n, q) int64."""
    return ordered.shape[-1] - torch.searchsorted(ordered, values.contiguous(), right=True)


def greater_by_counts(logits: Tensor, values: Tensor) -> Tensor:
    """The same without sorting the vocabulary, for GPUs: every logit is searched among the few values."""
    rising, order = values.sort(-1)
    below = torch.searchsorted(rising, logits.contiguous(), out_int32=True)  # number of smaller values
    rows, places = len(values), values.shape[-1] + 1
    below += places * torch.arange(rows, dtype=torch.int32, device=values.device)[:, None]
    counts = torch.bincount(below.flatten(), minlength=rows * places).view(rows, places)
    greater = logits.shape[-1] - counts.cumsum(-1)[:, :-1]
    return torch.empty_like(greater).scatter_(-1, order, greater)


def pack(features: TokenFeatures) -> Rows:
    """One row (text,) per text: `exponent` (channel,) int16, `mask` (T,), `values` (T, channel) float16.

    Raises AuditError for features that are not finite.
    """
    values, mask = features.values, features.mask
    if not np.isfinite(values).all():
        text = int(np.argmin(np.isfinite(values).all((1, 2))))
        raise AuditError(f"token features: those of text {text} are not finite; extract them in float32")
    rows = np.empty(len(values), row_type(*values.shape[1:]))
    exponent = np.frexp(np.abs(values).max(1, initial=0))[1] - HIGHEST
    rows["exponent"], rows["mask"] = exponent, mask
    rows["values"] = np.ldexp(values, -exponent[:, None])
    return rows


def unpack(rows: Rows) -> TokenFeatures:
    """The features of packed rows, in memory; see the module's docstring for their error."""
    exponent = rows["exponent"][:, None].astype(np.int32)
    values = torch.from_numpy(np.ascontiguousarray(rows["values"])).float().numpy()  # three times as fast as astype
    return TokenFeatures(np.ldexp(values, exponent), np.array(rows["mask"]))


def row_type(positions: int, width: int) -> np.dtype:
    """Type of a packed row of `positions` positions and `width` channels."""
    return np.dtype([("exponent", "<i2", width), ("mask", "?", positions), ("values", "<f2", (positions, width))])


@contextmanager
def writing_rows(path: str | Path, texts: int, positions: int, width: int) -> Iterator[Rows]:
    """Packed rows (text,) on disk as .npy, to be filled in parts; the file is created only if the block succeeds."""
    with replacing(path) as temporary:
        rows = np.lib.format.open_memmap(temporary, "w+", row_type(positions, width), (texts,))
        yield rows
        rows.flush()


def open_rows(path: str | Path) -> Rows:
    """Packed rows (text,), mapped from disk and read on access. Raises AuditError for another kind of file."""
    with readable(path):
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    if rows.dtype.names != ("exponent", "mask", "values"):
        raise AuditError(f"{path}: holds no token features; {DAMAGED}")
    return rows
