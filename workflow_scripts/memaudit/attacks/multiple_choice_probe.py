"""The zero-information multiple-choice probe: predictions of a model whose context holds no information (ICLMEM, 4.2).

The context of a query consists of duplicates of the query itself, one for each candidate label, under a manipulation
(`context_manipulations`). The labels are independent of the features, so any preference for one of them comes from the
weights. In a context of duplicates every column is constant, and a model that scales by its context no longer sees the
query. So cells are scaled by a fixed reference set, and the network is queried without its own scaling. This needs
TabICL, or TabPFN from v3 on, in raw mode: the packages' estimators drop constant columns before their network sees
them, and ConTextTab's does so with texts and categories too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from memaudit.attacks import signals
from memaudit.attacks.context_manipulations import PROBE_SIGNALS, Manipulation
from memaudit.common.arrays import Array32, Floats
from memaudit.common.errors import AuditError
from memaudit.models.batched_queries import MEMORY, Question, answer, as_wide
from memaudit.models.context_scaling import target_scale
from memaudit.models.model_protocol import Network, TabularModel
from memaudit.models.predictive_distributions import Binned

# Records whose questions are answered together: enough for full passes, few enough to keep their answers in memory.
RECORDS = {"classification": 256, "regression": 64}


@dataclass(frozen=True)
class Reference:
    """Records that cells and targets are scaled by, for every model: x (N, d), NaN = missing, and y (N,)."""

    x: Tensor
    y: Tensor


def probe(
    model: TabularModel,
    x: Tensor,
    labels: ArrayLike,
    candidates: ArrayLike,
    suite: Sequence[Manipulation],
    *,
    reference: Reference,
    rngs: Sequence[np.random.Generator],
    replicates: int = 1,
    memory: int = MEMORY,
) -> Array32:
    """Signals of every target under every manipulation: (target, manipulation, signal), in the order of PROBE_SIGNALS.

    x: (target, d); labels: (target,) true class codes or numbers; candidates: (k,) or (target, k) labels to choose
    from, all different, the true one among them; rngs: of each target, for its manipulations; replicates: repeated
    queries whose signals are averaged: 50 in the paper, and no different from 1 where queries are answered
    independently; memory: MiB, see batched_queries.answer.

    loss: -log p of the true label; p of a number is its density, per unit of the target standardised by the reference.
    entropy: of the prediction, in nats; of numbers the differential one, in that unit. confidence: exp(-loss). error: 1
    if the true label is not the most probable, a tie being an error; of numbers the mean's squared error, in that unit.
    All are NaN where the answer is not finite. Raises AuditError for a model that cannot be queried without its
    scaling, and for a true label that is no candidate.
    """
    network, numbers = _without_scaling(model), model.task == "regression"
    true, chosen = _labels(labels, candidates, np.float32 if numbers else np.int64)
    how = network.orderless, replicates, network.counting
    cells = model.scale(x, reference.x).cpu()
    deviation = target_scale(reference.y[None])[1].item() if numbers else 1.0
    parts, step = [], RECORDS[model.task]
    for part in np.split(np.arange(len(true)), range(step, len(true), step)):
        questions = [
            question for at in part for question in questions_of(cells[at], true[at], chosen[at], suite, rngs[at], *how)
        ]
        predicted = _joined(answer(network, questions, memory))
        labels_of = np.broadcast_to(np.repeat(true[part], len(suite))[:, None], (len(questions), replicates))
        parts.append(read(predicted, labels_of, deviation).mean(1))
    return np.concatenate(parts).reshape(len(true), len(suite), len(PROBE_SIGNALS))


def questions_of(
    cells: Tensor,
    true: float,
    candidates: Floats,
    suite: Sequence[Manipulation],
    rng: np.random.Generator,
    orderless: bool = False,
    replicates: int = 1,
    counting: bool = False,
) -> Iterator[Question]:
    """The question about one query, cells (d,), under each manipulation. candidates: (k,), the true label among them.

    orderless: rows are sorted by label, so that a model that ignores their order is queried once for all orders.
    counting: equal rows are one row with its number, for a model that counts rows.
    """
    place, row, each = int(np.flatnonzero(candidates == true)[0]), cells.numpy(), torch.tensor(candidates)
    for manipulation in suite:
        context = manipulation.context(len(candidates), place, len(row), rng)
        if counting and not manipulation.noise:
            x = torch.from_numpy(row[context.columns])
            counts = torch.from_numpy(np.bincount(context.labels))
            yield Question(x.expand(len(each), -1), each, x.expand(replicates, -1), counts)
            continue
        order = np.argsort(context.labels, kind="stable") if orderless else np.arange(len(context.labels))
        noise = context.noise[np.append(order, -1)]
        x = torch.from_numpy(np.hstack([np.tile(row[context.columns], (len(noise), 1)), noise]))
        labels = torch.from_numpy(candidates[context.labels[order]])
        yield Question(x[:-1], labels, x[-1:].expand(replicates, -1))


def candidates_of(targets: ArrayLike, most: int, true: float, rng: np.random.Generator) -> NDArray[Any]:
    """Candidate labels, in order: the different targets of the task (record,), or `most` of them drawn at random.

    The true one is always among them, even if no record has it.
    """
    others = np.setdiff1d(targets, true)
    drawn = others if len(others) < most else rng.choice(others, most - 1, replace=False)
    return np.sort(np.append(drawn, true).astype(others.dtype))


def read(predicted: Tensor | Binned, true: Floats, deviation: float = 1.0) -> Array32:
    """Signals (..., signal), see `probe`, of logits (..., class) or of densities (...), whose true labels are (...).

    deviation: of the targets, the unit of numbers. Signals of an answer that is not finite are NaN.
    """
    if isinstance(predicted, Binned):
        y = torch.tensor(true, dtype=torch.float64)
        loss = signals.density_loss(predicted.log_density(y[..., None])[..., 0]) - np.log(deviation)
        entropy = predicted.entropy().numpy() - np.log(deviation)
        error = ((predicted.mean() - y) / deviation).square().numpy()
    else:
        logits = predicted.numpy()
        with np.errstate(invalid="ignore"):  # of answers that are not finite
            loss, entropy = signals.loss(logits, true), signals.entropy(logits)
        error = 1 - signals.correctness(logits, true)
    values = np.stack([loss, entropy, np.exp(-loss), error], -1).astype(np.float32)
    values[np.isnan(loss)] = np.nan
    return values


def _joined(answers: list[Tensor] | list[Binned]) -> Tensor | Binned:
    """Answers of one shape, stacked along a new first axis; logits of classes that a context lacks are -inf."""
    if isinstance(answers[0], Binned):
        return Binned.joined(torch.stack, answers)
    width = max(part.shape[-1] for part in answers)
    return torch.stack([as_wide(part, width) for part in answers])


def _labels(labels: ArrayLike, candidates: ArrayLike, kind: type) -> tuple[NDArray[Any], NDArray[Any]]:
    """True labels (target,) and candidates (target, k) as the network takes them. Raises AuditError, see `probe`."""
    true = np.asarray(labels, dtype=kind)
    chosen = np.broadcast_to(np.asarray(candidates, dtype=kind), (len(true), np.shape(candidates)[-1]))
    if not (offered := (chosen == true[:, None]).any(1)).all():
        raise AuditError(f"probe: the true label of target {offered.argmin()} is no candidate; add it to them")
    return true, chosen


def _without_scaling(model: TabularModel) -> Network:
    if not hasattr(model, "without_scaling"):
        raise AuditError(
            f"probe: a {type(model).__name__} in mode {model.mode} does not see a query in a context of its duplicates;"
            " choose family tabicl, or tabpfn v3 or v3.5, in mode raw"
        )
    return model.without_scaling()
