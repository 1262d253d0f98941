"""Arms of the study attacks: which tables, contexts and poisons each condition has.

An arm is one way to put records into contexts and to query them (config: `attacks/arms`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from memaudit.config.arm_tables import tables_of

MAIN = "main"


class Arms:
    """The arms of a run. section: the config's `attacks`."""

    def __init__(self, section: Mapping[str, Any]):
        self._section, self._arms, self._datasets = section, section["arms"], section["datasets"]

    def of_table(self, dataset: str, among: Iterable[str] | None = None) -> list[str]:
        """Arms that a table has, of all arms or among these."""
        return [arm for arm in among or self._arms if dataset in tables_of(self._arms[arm]["datasets"], self._datasets)]

    def contexts(self, arm: str) -> int:
        """Contexts of an arm: one for each shadow context and variant."""
        return self._arms[arm]["sets"] * len(self._arms[arm]["variants"])

    def drawn_by(self, dataset: str, arm: str) -> str:
        """The arm whose drawn contexts an arm takes: its own, or the first with the same variants and as many sets.

        Random streams are named after population and size, not after the arm, and fewer contexts are the first of more.
        """
        if arm == MAIN or arm not in self.of_table(dataset):
            return arm
        wanted = self._arms[arm]
        return next(
            name
            for name in self.of_table(dataset)
            if self._arms[name]["variants"] == wanted["variants"] and self._arms[name]["sets"] >= wanted["sets"]
        )

    def protects(self, arm: str) -> bool:
        """Whether a variant of an arm protects a layer: the most vulnerable records."""
        return any(variant["layer"] for variant in self._arms[arm]["variants"])

    def poisoned(self, dataset: str) -> list[str]:
        """Arms of a table whose contexts are poisoned; none of a table that `active/datasets` leaves out."""
        active = self._section["active"]
        return self.of_table(dataset, active["arms"]) if dataset in (active["datasets"] or self._datasets) else []

    def poisoned_sets(self, arm: str) -> int:
        """Shadow contexts of an arm that are poisoned: all of them, if it has fewer."""
        return min(self._section["active"]["sets"], self._arms[arm]["sets"])

    @property
    def attended(self) -> list[str]:
        """Tables whose attention is read."""
        return [name for name in self._section["attention"]["datasets"] if name in self._datasets]

    def attended_by(self, dataset: str) -> list[str]:
        """Arms of a table whose attention is read: `main`, and those with a variant that changes keys."""
        if dataset not in self.attended:
            return []
        return [arm for arm in self.of_table(dataset) if arm == MAIN or self._changed_keys(arm)]

    def attended_model(self, arm: str = MAIN) -> str:
        """The model whose attention is read on an arm's contexts."""
        return (arm == MAIN and self._section["attention"]["model"]) or self._arms[arm]["model"]

    def attended_sets(self, arm: str) -> int:
        """Contexts of an arm whose attention is read."""
        return min(self._section["attention"]["sets"], self._arms[arm]["sets"]) * (1 + self._changed_keys(arm))

    def _changed_keys(self, arm: str) -> int:
        """Number of an arm's variants that change keys."""
        return sum(variant["keys"] is not None for variant in self._arms[arm]["variants"])
