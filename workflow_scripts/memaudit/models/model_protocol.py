"""The interface of tabular in-context models, and of those with weights that can be fine-tuned."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from torch import Tensor, nn

from memaudit.common.errors import AuditError
from memaudit.models.predictive_distributions import Binned

Mode = Literal["raw", "as_deployed"]


@dataclass(frozen=True)
class Limits:
    """The largest table that a model takes: context rows, features, classes (0 for a regressor). None: no limit."""

    rows: int | None
    features: int | None
    classes: int | None

    def check(self, where: str, rows: int, features: int | None = None, classes: int | None = None) -> None:
        """Raise AuditError if contexts of so many rows, features and classes exceed a limit; None: not known yet."""
        for what, count, limit in (
            ("context rows", rows, self.rows),
            ("features", features, self.features),
            ("classes", classes, self.classes),
        ):
            if count is not None and limit is not None and count > limit:
                raise AuditError(
                    f"{where}: {count} {what}, the model takes at most {limit}; choose another model or fewer"
                )


class TabularModel(Protocol):
    """A model that predicts queries from a context of labelled records, and has no other memory of them.

    mode: `raw`, one view of the table and nothing drawn; or `as_deployed`, the package's own estimator with its
    defaults (ensemble, shuffles, fingerprints). Score matrices record it.
    """

    task: Literal["classification", "regression"]
    mode: Mode
    limits: Limits
    reads_text: bool  # else a column of free text is refused
    alone: bool  # no query can change the answer to another query

    @classmethod
    def load(
        cls, weights: Path, card: Mapping[str, Any], device: str, schema: Mapping[str, Any] | None
    ) -> "TabularModel":
        """Open the folder `weights`, which `card` (model.json) describes, on a device.

        schema: of the table that will be predicted (data/column_schema.py), for families that need names.
        Raises AuditError, in one line, for another family, version or task, a damaged file, and unknown options.
        """
        ...

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Class logits of every query, each answered as if it were alone. Classifiers only.

        context_x: (B, n, d) float32, categories as ordinal codes, NaN = missing; context_y: (B, n) int64 class codes;
        query_x: (B, m, d). Returns (B, m, C) float32, C >= every class of the contexts; -inf for a class that is not in
        the context. Differentiable in all float inputs where the family has weights.
        """
        ...

    def distribution(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Binned:
        """Predicted distribution of every query's target, in the target's unit. Regressors only.

        context_y: (B, n) float32; the rest as for `logits`. The result's shape is (B, m).
        """
        ...


class Network(TabularModel, Protocol):
    """A tabular model whose weights can be fine-tuned, with access to its attention."""

    module: nn.Module
    device: str
    orderless: bool  # the order of a context's rows changes no answer, except for rounding
    # `forward`, `logits` and `distribution` take counts (B, n) int64 last: how often each context row stands.
    counting: bool

    def scale(self, x: Tensor, reference_x: Tensor) -> Tensor:
        """Scale cells x (m, d) as those of queries with the context reference_x (N, d). Returns (m, k).

        Columns that the family leaves out, such as constant ones, are missing: k <= d. For `without_scaling`.
        """
        ...

    def without_scaling(self) -> "Network":
        """Return the same network, sharing its weights, that takes cells scaled by `scale`.

        No context scales them, and a column that is constant in its context counts like any other; a standard normal
        column is one of mean 0 and deviation 1. Targets are scaled by their context all the same. Raises AuditError
        for a family that does not support it.
        """
        ...

    def forward(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Return the head's outputs, differentiable in its weights: logits (B, m, C) or a regression head (B, m, K).

        A regression head is in units of deviations of the context's targets from their mean (see `loss`).
        """
        ...

    def loss(self, outputs: Tensor, context_y: Tensor, query_y: Tensor) -> Tensor:
        """The loss that the family was pre-trained with, of `forward`'s outputs, per query: (B, m)."""
        ...

    def attention(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Attention of every query on the context rows in the last layer: (B, m, n), mean over heads, sums to 1."""
        ...
