"""Arms of the study iclmem: which tables, numbers of records and settings each fine-tuning condition has.

An arm is one way to fine-tune (config: `iclmem/arms`). A task is what one model is fine-tuned on: a table, or `joint`,
all tables of an arm with one model.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from memaudit.config.arm_tables import tables_of
from memaudit.config.iclmem_section import DOSES, JOINT

# The paper calls learning rates up to this one typical.
TYPICAL_RATE = 1e-3


class Arms:
    """The arms of a run. section: the config's `iclmem`; catalogue: its `datasets`."""

    def __init__(self, section: Mapping[str, Any], catalogue: Mapping[str, Any]):
        self._section, self._catalogue = section, catalogue

    @cached_property
    def runs(self) -> list[tuple[str, str]]:
        """Every pair of a task and an arm that models are fine-tuned for."""
        return [(task, arm) for arm in self._section["arms"] for task in self.tasks(arm)]

    @property
    def all_tasks(self) -> list[str]:
        """The tasks of all arms."""
        return list(dict.fromkeys(task for task, _ in self.runs))

    def datasets(self, arm: str) -> list[str]:
        """Tables of an arm; none of a joint one if any of its tables is not in the study."""
        named = tables_of(self._section["arms"][arm]["datasets"], self._section["datasets"])
        present = [name for name in self._section["datasets"] if name in named]
        incomplete = self._section["arms"][arm]["joint"] and len(present) < len(named)
        return [] if incomplete else present

    def tasks(self, arm: str) -> list[str]:
        """Tasks of an arm: its tables, or the joint one."""
        datasets = self.datasets(arm)
        return [JOINT][: len(datasets)] if self._section["arms"][arm]["joint"] else datasets

    def arms_of(self, task: str) -> list[str]:
        """Arms that have models of a task."""
        return [arm for one, arm in self.runs if one == task]

    def tables(self, task: str, arm: str) -> list[str]:
        """Tables that a model is fine-tuned on."""
        return self.datasets(arm) if task == JOINT else [task]

    def model(self, dataset: str) -> str:
        """The base model of a table."""
        return self._section["models"][self._catalogue[dataset]["task"]]

    def settings(self, task: str, arm: str) -> dict[str, Any]:
        """Settings of an arm for one of its tasks, with the study's own where the arm has none."""
        settings, tables = self._section["arms"][arm], self.tables(task, arm)
        filled = {key: settings[key] or self._section[key] for key in ("queries", "epochs")}
        # Pairs of a joint run have one size.
        filled |= {"context": min(self._context(name, arm) for name in tables), "model": self.model(tables[0])}
        if settings["pairs"] == "random_contexts":
            filled["pool"] = max(filled["context"], min(self._of_table(name) for name in tables))
        return {key: value for key, value in settings.items() if key not in ("datasets", "splits_per_job")} | filled

    def splits_per_job(self, arm: str) -> int:
        """Splits that a job of an arm fine-tunes on."""
        return self._section["arms"][arm]["splits_per_job"] or self._section["splits_per_job"]

    @property
    def shadowed(self) -> list[tuple[str, str]]:
        """Every pair of a table and an arm that has shadow models for a ground truth."""
        truth = self._section["ground_truth"] or {"datasets": [], "arms": []}
        return [(name, arm) for arm in truth["arms"] for name in self.datasets(arm) if name in truth["datasets"]]

    def shadow_settings(self, dataset: str, arm: str) -> dict[str, Any]:
        """Settings of an arm for its shadow models, which are probed at some of its epochs."""
        settings, wanted = self.settings(dataset, arm), self._section["ground_truth"]["epochs"]
        probed = settings["epochs"][-1:] if wanted is None else [one for one in settings["epochs"] if one in wanted]
        return settings | {"epochs": probed}

    def label_conditions(self, dataset: str) -> list[str]:
        """Conditions of a table's labels: normal, shuffled or canaries."""
        return list(dict.fromkeys(self._section["arms"][arm]["labels"] for _, arm in self._runs_of(dataset)))

    def query_counts(self, dataset: str) -> list[int]:
        """Numbers of query members, increasing: those that arms are fine-tuned on, and those that are probed."""
        used = {self.settings(task, arm)["queries"] for task, arm in self._runs_of(dataset)}
        return sorted(used | {min(self._section["targets"]["queries"] or count, count) for count in used})

    def control_count(self, dataset: str) -> int:
        """Most records of a split that negative controls are fine-tuned on instead of query members."""
        settings = [self.settings(task, arm) for task, arm in self._runs_of(dataset)]
        return max((one["queries"] for one in settings if one["placebo"]), default=0)

    def context_counts(self, dataset: str) -> list[int]:
        """Numbers of context rows, increasing."""
        settings = [self.settings(task, arm) for task, arm in self._runs_of(dataset)]
        return sorted({rows for one in settings for rows in (one["context"], one.get("pool", one["context"]))})

    def probed(self, queries: int) -> int:
        """Number of query members that are probed, of so many."""
        return min(filter(None, (self._section["targets"]["queries"], queries)))

    def probed_count(self, dataset: str) -> int:
        """Most query members of a split that are probed."""
        return self.probed(self.query_counts(dataset)[-1])

    @cached_property
    def used(self) -> dict[str, dict[str, Any]]:
        """Arms that have a table, with their settings as in the config."""
        return {arm: settings for arm, settings in self._section["arms"].items() if self.datasets(arm)}

    @property
    def plain(self) -> list[str]:
        """Arms like the paper's main results: models of one table, fixed pairs, all weights, no privacy."""
        special = ("joint", "adapter", "private", "copies", "label_smoothing", "control")
        return [
            arm
            for arm, settings in self.used.items()
            if settings["pairs"] == "fixed" and not any(settings[key] for key in special)
        ]

    @property
    def doses(self) -> list[str]:
        """Plain arms, negative controls among them, that are probed at epochs enough for a dose-response."""
        return [arm for arm in self.plain if self._probed_often(arm)]

    @property
    def drawn_doses(self) -> list[str]:
        """Arms whose epochs a figure has room for: of `doses` those with the study's queries and labels not shuffled.

        Positive controls are few, and drawn whatever their labels.
        """
        few = [arm for arm in self.doses if not self.used[arm]["labels"].startswith("shuffled")]
        few = [arm for arm in few if self._rate_and_queries(arm)[1] == self._section["queries"]]
        return few + [arm for arm in self.positive if self._probed_often(arm)]

    @cached_property
    def dose_axes(self) -> list[str]:
        """Axes of the dose-response beside epochs whose arms share a table of the study."""
        axes = self._section["doses"].items()
        return [axis for axis, arms in axes if set.intersection(*(set(self.datasets(arm)) for arm in arms))]

    @property
    def positive(self) -> list[str]:
        """Arms that are positive controls."""
        return [arm for arm, settings in self.used.items() if settings["control"]]

    @property
    def defended(self) -> list[str]:
        """Arms with a defence whose arm without it shares a table of the study."""
        pairs = [(arm, settings["against"]) for arm, settings in self.used.items() if settings["against"]]
        return [arm for arm, other in pairs if set(self.datasets(arm)) & set(self.datasets(other))]

    @property
    def private(self) -> list[str]:
        """Arms with DP-SGD."""
        return [arm for arm, settings in self.used.items() if settings["private"]]

    @property
    def extensions(self) -> list[str]:
        """Arms that are read beside a plain one: canaries, adapters, privacy."""
        found = [arm for arm, settings in self.used.items() if settings["labels"] == "canaries" or settings["adapter"]]
        return found + self.private

    @property
    def matched(self) -> list[str]:
        """Plain arms with normal labels that have the learning rate and the number of queries of an extension."""
        keys = {self._rate_and_queries(arm) for arm in self.extensions}
        return [arm for arm in self._plain_and_normal() if self._rate_and_queries(arm) in keys]

    def example(self, dataset: str) -> str | None:
        """The arm whose single records are drawn: few queries, and the largest typical learning rate."""

        def order(arm: str) -> tuple[bool, int, float]:
            rate, queries = self._rate_and_queries(arm)
            return (rate > TYPICAL_RATE, queries, abs(rate - TYPICAL_RATE))

        return min((arm for arm in self._plain_and_normal() if dataset in self.datasets(arm)), key=order, default=None)

    def _context(self, dataset: str, arm: str) -> int:
        return self._section["arms"][arm]["context"] or self._of_table(dataset)

    def _of_table(self, dataset: str) -> int:
        return self._section["contexts"].get(dataset, self._section["context"])

    def _runs_of(self, dataset: str) -> list[tuple[str, str]]:
        return [(task, arm) for task, arm in self.runs if dataset in self.tables(task, arm)]

    def _rate_and_queries(self, arm: str) -> tuple[float, int]:
        settings = self._section["arms"][arm]
        return settings["learning_rate"], settings["queries"] or self._section["queries"]

    def _probed_often(self, arm: str) -> bool:
        return len(self.used[arm]["epochs"] or self._section["epochs"]) >= DOSES

    def _plain_and_normal(self) -> list[str]:
        return [arm for arm in self.plain if self.used[arm]["labels"] == "normal"]
