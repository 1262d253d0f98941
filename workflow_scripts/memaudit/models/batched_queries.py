"""Batched queries of many small tables: equal ones once, those of one shape together, within a bound of memory.

A forward pass of a tiny table is mostly overhead: sixty-four tables in one pass cost little more than one.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice

import torch
from torch import Tensor, nn

from memaudit.common.checksums import array_hash
from memaudit.common.errors import AuditError
from memaudit.common.io import MEBIBYTE
from memaudit.models import flops
from memaudit.models.model_protocol import TabularModel
from memaudit.models.predictive_distributions import Binned

TABLES = 64  # per forward pass: on a CPU more save nothing, for tiny and large tables alike
# Rows of a pass are the batch of its row attention; CUDA's kernels fail beyond this (pytorch issue 142228).
ROWS = 2**16 - 1
MEMORY = 2048  # MiB


@dataclass(frozen=True)
class Question:
    """A context and its queries: context_x (n, d), context_y (n,), query_x (m, d); see TabularModel.logits.

    counts: (n,) how often each context row stands, for a network that counts them; None: once.
    """

    context_x: Tensor
    context_y: Tensor
    query_x: Tensor
    counts: Tensor | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """n, m, d."""
        return len(self.context_x), len(self.query_x), self.context_x.shape[1]

    @property
    def rows(self) -> int:
        """Number of context rows, each as often as it stands."""
        return len(self.context_x) if self.counts is None else int(self.counts.sum())

    @property
    def context(self) -> tuple[Tensor, ...]:
        """All that the context consists of."""
        parts = (self.context_x, self.context_y, self.counts)
        return tuple(part for part in parts if part is not None)


@torch.inference_mode()
def answer(model: TabularModel, questions: Sequence[Question], memory: int = MEMORY) -> list[Tensor] | list[Binned]:
    """Answer each question as if it were alone, to 1e-5: logits (m, C) or Binned (m,), on the CPU.

    memory: MiB that a forward pass may hold beside the weights, by `table_bytes`; a context that alone needs more
    is still queried, with a quarter as many queries. Questions equal bit by bit are computed once, those of one context
    together. Where a device runs out of memory, the number of tables, then of queries, is halved. Raises AuditError if
    the memory does not suffice for one query. If a model's queries may change each other's answers (not `alone`), the
    queries of a question are neither split nor combined with others.
    """
    parts = [_split(model, question, memory * MEBIBYTE) for question in questions]
    answers = iter(_answer(model, [part for split in parts for part in split], memory))
    return [joined(list(islice(answers, len(split)))) for split in parts]


def _split(model: TabularModel, question: Question, most: int) -> list[Question]:
    """Split a question into as few parts as stay below `most` bytes and ROWS rows.

    Every part computes its context again, so none has fewer queries than a quarter of the context's rows.
    """
    n, m, d = question.shape
    if m == 1:
        return [question]
    low, high = max(1, min(m, n // 4, ROWS - n)) if model.alone else m, m
    while low < high:
        middle = (low + high + 1) // 2
        fits = n + middle <= ROWS and table_bytes(model, n, middle, d) <= most
        low, high = (middle, high) if fits else (low, middle - 1)
    return [replace(question, query_x=part) for part in question.query_x.split(max(1, low))]


def _answer(model: TabularModel, questions: Sequence[Question], memory: int) -> list[Tensor] | list[Binned]:
    """Answers to questions of which each fits into a forward pass."""
    tables, places = _tables(model, questions, memory * MEBIBYTE if model.alone else -1)
    shapes = defaultdict(list)
    for number, table in enumerate(tables):
        shapes[*table.shape, table.counts is not None].append(number)
    answers = {}
    # The largest first: the others reuse the memory that those have freed.
    for (n, m, d, _), members in sorted(shapes.items(), reverse=True):
        most = min(TABLES, ROWS // (n + m), memory * MEBIBYTE // max(1, table_bytes(model, n, m, d)))
        # Neighbours of as many rows are faster, see `merged_rows.counted`.
        remaining = iter(sorted(members, key=lambda number: tables[number].rows))
        while part := list(islice(remaining, max(1, most))):
            answers |= zip(part, _forward(model, [tables[number] for number in part]), strict=True)
    return [answers_at(answers[table], queries) for table, queries in places]


def table_bytes(model: TabularModel, context: int, queries: int, columns: int) -> int:
    """Upper estimate of the bytes that one table of a forward pass holds beside the weights.

    A model with a module of TabICL's arguments (flops.TABICL) is counted in its own shape, any other like the published
    TabICL, which is as wide as the known tabular models. An estimator, whose module is None, counts as 0: splitting its
    queries would only fit it again.
    """
    module = getattr(model, "module", model)
    if module is None:
        return 0
    shape = {name: getattr(module, name) for name in flops.TABICL if hasattr(module, name)}
    inducing = (flops.TABICL | shape)["col_num_inds"]
    return flops.tabicl_bytes(max(context, inducing), queries, columns, **shape)


def _tables(model: TabularModel, questions: Sequence[Question], most: int) -> tuple[list[Question], list]:
    """Distinct tables, and for every question the number of its table and the slice of its queries there.

    The queries of a context share a table as long as it needs no more than `most` bytes.
    """
    contexts = defaultdict(dict)
    for number, question in enumerate(questions):
        context = array_hash(*(part.cpu().numpy() for part in question.context))
        contexts[context].setdefault(array_hash(question.query_x.cpu().numpy()), []).append(number)
    tables: list[tuple[Question, list[Tensor]]] = []
    places: dict[int, tuple[int, slice]] = {}
    for groups in contexts.values():
        rows = 0
        for numbers in groups.values():
            question = questions[numbers[0]]
            n, m, d = question.shape
            if not rows or n + rows + m > ROWS or table_bytes(model, n, rows + m, d) > most:
                rows = 0
                tables.append((question, []))
            tables[-1][1].append(question.query_x)
            places |= dict.fromkeys(numbers, (len(tables) - 1, slice(rows, rows + m)))
            rows += m
    merged = [replace(question, query_x=torch.cat(queries)) for question, queries in tables]
    return merged, [places[number] for number in range(len(questions))]


def _forward(model: TabularModel, tables: list[Question]) -> list[Tensor] | list[Binned]:
    """Answers to tables of one shape, in order, on the CPU."""
    predict = model.logits if model.task == "classification" else model.distribution
    names = [field.name for field in fields(Question) if getattr(tables[0], field.name) is not None]
    stacked = (torch.stack([getattr(table, name) for table in tables]) for name in names)
    try:
        answers = predict(*stacked)
        answers = answers.cpu() if isinstance(answers, Tensor) else answers.each(Tensor.cpu)
    except torch.OutOfMemoryError as error:
        reason = str(error).partition("\n")[0]
    else:
        return [answers_at(answers, number) for number in range(len(tables))]
    # Outside the handler: the error no longer holds the memory of the failed pass.
    if len(tables) > 1:
        half = len(tables) // 2
        return _forward(model, tables[:half]) + _forward(model, tables[half:])
    n, m, d = tables[0].shape
    if m > 1 and model.alone:
        halves = tables[0].query_x.split(-(-m // 2))
        parts = [replace(tables[0], query_x=half) for half in halves]
        return [joined([part for half in parts for part in _forward(model, [half])])]
    raise AuditError(
        f"a table of {n} context and {m} query rows, {d} features: too little memory on the device for one such "
        f"({reason}); take smaller contexts or another device"
    )


def joined(parts: list[Tensor] | list[Binned]) -> Tensor | Binned:
    """Concatenate answers (m, ...) to several lists of queries; logits are padded to the widest with -inf."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], Tensor):
        # A pass is as wide as the highest class of its contexts, which may be another table's.
        width = max(part.shape[-1] for part in parts)
        return torch.cat([nn.functional.pad(part, (0, width - part.shape[-1]), value=-torch.inf) for part in parts])
    return Binned.joined(torch.cat, parts)


def answers_at(answers: Tensor | Binned, at: int | slice | tuple[slice, int]) -> Tensor | Binned:
    """Return some of the answers, by an index along their leading axes."""
    return answers[at] if isinstance(answers, Tensor) else answers.each(lambda part: part[at])


def as_wide(logits: Tensor, classes: int) -> Tensor:
    """Return logits (m, any) as (m, classes): unused classes are cut, classes that the model lacks are -inf."""
    known = logits[:, :classes].float()
    return nn.functional.pad(known, (0, classes - known.shape[1]), value=-torch.inf)
