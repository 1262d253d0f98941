"""The zero-information multiple-choice probe (ICLMEM, section 4.2): what is left of an answer without a context?

The context of a query is copies of the query itself, one for each candidate label, under a manipulation (`manipulate`).
The labels say nothing about the features, so whatever prefers one of them is in the weights. A context of copies makes
every column constant, and a model that scales by its context no longer sees the query. So cells are scaled by a fixed
reference set, and the network is asked without its own scaling. That takes TabICL, or TabPFN from v3 on, in raw mode:
the packages' estimators drop constant columns before their network sees them, and ConTextTab's does so with texts and
categories too.
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
from memaudit.errors import AuditError
from memaudit.models.batched_queries import MEMORY, Question, answer, as_wide
from memaudit.models.context_scaling import target_scale
from memaudit.models.model_protocol import Network, TabularModel
from memaudit.models.predictive_distributions import Binned

# Records whose questions are asked together: enough for full passes, few enough to hold their answers.
RECORDS = {"classification": 256, "regression": 64}

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Reference:
    """Records that cells and targets are scaled by, whoever is asked: x (N, d), NaN = missing, and y (N,)."""

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
) -> NDArray[np.float32]:
    """Signals of every target under every manipulation: (target, manipulation, signal), in the order of PROBE_SIGNALS.

    x: (target, d); labels: (target,) true class codes or numbers; candidates: (k,) or (target, k) labels to choose
    from, all different, the true one among them; rngs: of each target, for its manipulations; replicates: copies of the
    query that are asked together, their signals averaged: 50 in the paper, and no different from 1 where queries are
    answered as if alone; memory: MiB, see batching.answer.

    loss: -log p of the true label; p of a number is its density, per unit of the target standardised by the reference.
    entropy: of the prediction, in nats; of numbers the differential one, in that unit. confidence: exp(-loss). error: 1
    if the true label is not the most probable, a tie being an error; of numbers the mean's squared error, in that unit.
    All are NaN where the answer is no number. Raises AuditError for a model that cannot be asked without its scaling,
    and for a true label that is no candidate.
    """
    network, numbers = _without_scaling(model), model.task == "regression"
    orderless = network.orderless
    true, chosen = _labels(labels, candidates, np.float32 if numbers else np.int64)
    cells = model.scale(x, reference.x).cpu()
    deviation = target_scale(reference.y[None])[1].item() if numbers else 1.0
    parts, step = [], RECORDS[model.task]
    for part in np.split(np.arange(len(true)), range(step, len(true), step)):
        questions = [
            question
            for at in part
            for question in questions_of(cells[at], true[at], chosen[at], suite, rngs[at], orderless, replicates)
        ]
        said = _joined(answer(network, questions, memory))
        asked = np.broadcast_to(np.repeat(true[part], len(suite))[:, None], (len(questions), replicates))
        parts.append(read(said, asked, deviation).mean(1))
    return np.concatenate(parts).reshape(len(true), len(suite), len(PROBE_SIGNALS))


def questions_of(
    cells: Tensor,
    true: float,
    candidates: Array,
    suite: Sequence[Manipulation],
    rng: np.random.Generator,
    orderless: bool = False,
    replicates: int = 1,
) -> Iterator[Question]:
    """The question about one query, cells (d,), under each manipulation. candidates: (k,), the true label among them.

    orderless: rows are sorted by label, so that a model to which their order says nothing is asked once for all orders.
    """
    place, row = int(np.flatnonzero(candidates == true)[0]), cells.numpy()
    for manipulation in suite:
        context = manipulation.context(len(candidates), place, len(row), rng)
        order = np.argsort(context.labels, kind="stable") if orderless else np.arange(len(context.labels))
        noise = context.noise[np.append(order, -1)]
        x = torch.from_numpy(np.hstack([np.tile(row[context.columns], (len(noise), 1)), noise]))
        labels = torch.from_numpy(candidates[context.labels[order]])
        yield Question(x[:-1], labels, x[-1:].expand(replicates, -1))


def candidates_of(targets: ArrayLike, most: int, true: float, rng: np.random.Generator) -> NDArray[Any]:
    """Labels to choose from, in order: the different targets of the task (record,), or `most` of them drawn at random.

    The true one is always among them, also where no record has it.
    """
    others = np.setdiff1d(targets, true)
    drawn = others if len(others) < most else rng.choice(others, most - 1, replace=False)
    return np.sort(np.append(drawn, true).astype(others.dtype))


def read(said: Tensor | Binned, true: Array, deviation: float = 1.0) -> NDArray[np.float32]:
    """Signals (..., signal), see `probe`, of logits (..., class) or of densities (...), whose true labels are (...).

    deviation: of the targets that numbers are measured in. Signals of an answer that is no number are NaN.
    """
    if isinstance(said, Binned):
        y = torch.tensor(true, dtype=torch.float64)
        loss = signals.density_loss(said.log_density(y[..., None])[..., 0]) - np.log(deviation)
        entropy = said.entropy().numpy() - np.log(deviation)
        error = ((said.mean() - y) / deviation).square().numpy()
    else:
        logits = said.numpy()
        with np.errstate(invalid="ignore"):  # of answers that are no number
            loss, entropy = signals.loss(logits, true), signals.entropy(logits)
        error = 1 - signals.correctness(logits, true)
    found = np.stack([loss, entropy, np.exp(-loss), error], -1).astype(np.float32)
    found[np.isnan(loss)] = np.nan
    return found


def _joined(answers: list[Tensor] | list[Binned]) -> Tensor | Binned:
    """Answers of one shape as one, in front; logits of classes that a context does not show are -inf."""
    if isinstance(answers[0], Binned):
        return Binned.joined(torch.stack, answers)
    width = max(part.shape[-1] for part in answers)
    return torch.stack([as_wide(part, width) for part in answers])


def _labels(labels: ArrayLike, candidates: ArrayLike, kind: type) -> tuple[NDArray[Any], NDArray[Any]]:
    """True labels (target,) and candidates (target, k) as the network takes them. Raises AuditError, see `probe`."""
    true = np.asarray(labels, dtype=kind)
    chosen = np.broadcast_to(np.asarray(candidates, dtype=kind), (len(true), np.shape(candidates)[-1]))
    if not (found := (chosen == true[:, None]).any(1)).all():
        raise AuditError(f"probe: the true label of target {found.argmin()} is no candidate; put it among them")
    return true, chosen


def _without_scaling(model: TabularModel) -> Network:
    if not hasattr(model, "without_scaling"):
        raise AuditError(
            f"probe: a {type(model).__name__} in mode {model.mode} does not see a query among copies of it; choose "
            "family tabicl, or tabpfn v3 or v3.5, in mode raw"
        )
    return model.without_scaling()
