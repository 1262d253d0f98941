"""What every tabular in-context model offers to the studies."""

from typing import Protocol

from torch import Tensor


class TabularModel(Protocol):
    """A model that predicts queries from a context of labelled records, and has no other memory of them."""

    max_classes: int
    mode: str

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Class logits of every query, each answered as if it were alone.

        context_x: (B, n, d) float32, NaN = missing; context_y: (B, n) int64 class codes; query_x: (B, m, d).
        Returns (B, m, max_classes) float32, differentiable in all float inputs; -inf for a class that is in no row of
        the context.
        """
        ...
