"""What a model of the catalogue costs to query, by its family and mode: for the plan alone, no part of a result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memaudit.common.deployed_packages import PACKAGES
from memaudit.models import flops, language_model_costs

VIEWS = 8  # of the ensemble of a deployed TabICL or TabPFN that states none (tabicl 2.2.0, tabpfn 9.2.0)
TOKENS = 7  # of a cell that is a sentence, name and value: 7.3 of credit-g's in an OLMo tokenizer
# CPU seconds in which the packages prepare a context, beside the forward passes: of each context and of each of its
# columns, of each view and of its context rows and queries. Measured by one thread on the machine of
# results/bench/unit_costs.json, with 2 and 8 views, 8 to 1,000 context rows, 8 to 5,000 queries and 8 to 20 columns.
PREPARATION = {"tabicl": (0.015, 0.0028, 0.0, 3e-6, 3e-6), "tabpfn": (0.004, 0.0, 0.006, 1.5e-4, 3.5e-5)}


@dataclass(frozen=True)
class Load:
    """Operations of models' networks, and CPU seconds beside them."""

    operations: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Load") -> "Load":
        return Load(self.operations + other.operations, self.seconds + other.seconds)

    def times(self, number: float) -> "Load":
        """So many of these."""
        return Load(number * self.operations, number * self.seconds)


class Passes:
    """Costs of the answers of one model, for contexts of `context` rows and `queries` queries with `columns` features.

    entry: of the catalogue; architecture: arguments of its class; weights: of a language model. Models of other
    packages, whose networks are not counted, are taken for a raw TabICL of the published shape.
    """

    def __init__(self, entry: Mapping[str, Any], architecture: Mapping[str, Any], weights: float = 0.0):
        self._family, self._version, self._weights = entry["family"], entry["version"] or "v2", weights
        self._architecture = dict(architecture)
        self._deployed = entry["mode"] == "as_deployed"
        self._options = entry["options"]
        self._views = self._options.get("n_estimators", VIEWS) if self._deployed else 1

    @property
    def alone(self) -> bool:
        """Whether no query changes another one's answer, so that all of a context can be asked in one call."""
        package = PACKAGES.get(self._family)
        return not self._deployed or self._options.get("queries") == "alone" or bool(package and package.alone)

    @property
    def counted(self) -> bool:
        """Whether the operations are those of the model's own network."""
        return self._family in ("tabicl", "tabpfn") or (self._family == "text" and self._weights > 0)

    @property
    def states(self) -> int:
        """Numbers in the hidden states of one query of a TabICL."""
        return flops.tabicl_states(**self._architecture)

    @property
    def layers(self) -> int:
        """Blocks of a TabICL's in-context learning, each with hidden states of the queries."""
        return (flops.TABICL | self._architecture)["icl_num_blocks"]

    def load(self, contexts: float, context: int, queries: int, columns: int) -> Load:
        """The answers to all queries of so many contexts."""
        shape = context, queries, columns
        return Load(contexts * self.operations(*shape), contexts * self.seconds(*shape))

    def operations(self, context: int, queries: int, columns: int) -> float:
        """Operations of the answers to all queries of one context."""
        if not self.counted:
            return flops.tabicl(context, queries, columns)
        if self._family == "text":
            return language_model_costs.operations(self._weights, TOKENS * columns * (context + queries))
        if self._family == "tabpfn":
            return self._views * flops.tabpfn(context, queries, columns, self._version, **self._architecture)
        return self._views * flops.tabicl(context, queries, columns, **self._architecture)

    def seconds(self, context: int, queries: int, columns: int) -> float:
        """CPU seconds beside the operations: in which a package prepares the context and its queries."""
        if not self._deployed or self._family not in PREPARATION:
            return 0.0
        of_context, of_column, of_view, of_row, of_query = PREPARATION[self._family]
        of_views = self._views * (of_view + of_row * context + of_query * queries)
        return of_context + of_column * columns + of_views

    def memory_bytes(self, context: int, queries: int, columns: int) -> int:
        """Bytes of one forward pass beside the weights; of any other family what a published TabICL takes."""
        architecture = self._architecture if self._family == "tabicl" else {}
        return flops.tabicl_bytes(context, queries, columns, **architecture)
