"""Context-query pairs for fine-tuning an in-context network: drawn from a table's records, as tensors of rows."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from memaudit.common.errors import AuditError


@dataclass(frozen=True)
class Task:
    """A table, x (N, d) float32 and y (N,) codes or numbers, and the records (ids, rows of x) that pairs draw from.

    queried: the records that queries are drawn from, contexts being drawn from the others; None: both from all.
    copied, copies: records of which a query stands `copies` times in a step, other queries once. planted: contexts of a
    second step in every epoch, as `batch` returns them, of cells that are scaled already; None: no such step.
    """

    x: Tensor
    y: Tensor
    records: np.ndarray
    queried: np.ndarray | None = None
    copied: np.ndarray | None = None
    copies: int = 1
    planted: tuple[Tensor, Tensor, Tensor, Tensor] | None = None

    def repeated(self, query: np.ndarray) -> np.ndarray:
        """The queries (Q,) of a pair, followed by the further copies of those that are copied."""
        if self.copied is None:
            return query
        return np.concatenate([query, np.repeat(query[np.isin(query, self.copied)], self.copies - 1)])


@dataclass(frozen=True)
class Pair:
    """Records of one task: context (n,) and query (Q,), disjoint."""

    context: np.ndarray
    query: np.ndarray


def draw_pair(
    records: np.ndarray,
    context: int,
    queries: int,
    rng: np.random.Generator,
    labels: np.ndarray | None = None,
    uniform: bool = False,
    queried: np.ndarray | None = None,
) -> Pair:
    """Draw queries and a context from the other records, without replacement.

    labels: class of every record. A query whose class is not in the context, which no weights could predict, is
    replaced by the next record. uniform: the context is balanced over classes as far as the records allow (ICLMEM,
    table 2). queried: only these records are queries, and none of them is in a context. Raises AuditError for too few
    records.
    """
    order = rng.permutation(len(records))
    first = np.arange(len(order)) < queries if queried is None else np.isin(records[order], queried)
    rest = order[~first]
    if uniform:
        rest = rest[np.argsort(_turns(labels[rest]), kind="stable")]
    chosen, spare = rest[:context], rest[context:] if queried is None else rest[:0]
    query = np.concatenate([order[first], spare])
    if labels is not None:
        query = query[np.isin(labels[query], labels[chosen])]
    if len(chosen) < context or len(query) < queries:
        raise AuditError(
            f"fine-tuning: {len(records)} records are too few for {context} context rows and {queries} queries of "
            "classes that the context has; give more records, or set fewer rows"
        )
    return Pair(context=records[rng.permutation(chosen)], query=records[query[:queries]])


def _turns(classes: np.ndarray) -> np.ndarray:
    """Number of rows of the same class before each row."""
    turns = np.zeros(len(classes), int)
    for label in np.unique(classes):
        turns[classes == label] = np.arange((classes == label).sum())
    return turns


def batch(task: Task, pairs: list[Pair]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the rows of B pairs: context x (B, n, d), context y (B, n), query x (B, Q, d), query y (B, Q).

    Copies of queries count in Q, so all pairs must have as many.
    """
    context = torch.from_numpy(np.stack([pair.context for pair in pairs]))
    query = torch.from_numpy(np.stack([task.repeated(pair.query) for pair in pairs]))
    return task.x[context], task.y[context], task.x[query], task.y[query]
