"""How large the jobs of the study tabpate are: teachers that are asked, students of releases, shadow contexts."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memaudit.workflow.job_costs import Size, size
from memaudit.workflow.model_passes import Load, Passes
from memaudit.workflow.run_config import shards
from memaudit.workflow.studies.tabpate_methods import MAKES
from memaudit.workflow.study import Sizes

if TYPE_CHECKING:
    from memaudit.workflow.studies.tabpate_lookups import Tabpate

# Records of a released context and of a query batch, for the plan.
STUDENT_ROWS = 300


class TabpateSizes:
    """Sizes of the jobs of a study, by table."""

    def __init__(self, study: "Tabpate"):
        self.study, self.config, self.methods = study, study.config, study.methods

    def of_rules(self) -> Sizes:
        """Sizes of all jobs but those that fetch data and models."""
        datasets, attacked = self.config["datasets"], self.study.attacked
        synthetic = [(name, *pair) for name in datasets for pair in self.methods.synthetic(name)]
        return {
            "tabpate_release_contexts": self._by_shard("contexts", self.releases),
            "tabpate_query_students": {name: self.students(name) for name in datasets},
            "tabpate_code_records": {f"{name}/{one}": size(0) for name, one, _ in synthetic},
            "tabpate_synthesize_records": {f"{name}/{one}/{epsilon}": size(0) for name, one, epsilon in synthetic},
            "tabpate_answer_queries": self._by_shard("answers", lambda name, here: self.students(name, len(here))),
            "tabpate_release_shadows": self._by_shadow_shard(self.config["shadows"]["sets"], self.shadows),
            "tabpate_poison_shadows": self._by_shadow_shard(self.config["shadows"]["poisoned"]["sets"], self.poisoned),
            "tabpate_measure_utility": {name: self._measured(name) for name in datasets},
            "tabpate_average_datasets": {"": size(0)},
            "tabpate_attack_students": {name: self._measured(name) for name in attacked},
            "tabpate_audit_mechanism": {"": size(0)},
            "tabpate_refit_synthesizers": dict.fromkeys(self.study.refitted, self._refits()),
            "tabpate_audit_synthesizers": {"": size(0)} if self.study.refitted else {},
        }

    def releases(self, dataset: str, here: list[list[Any]]) -> Size:
        """Forward passes of the PATE teachers of the releases of a shard."""
        columns, model, all_rows = self._columns(dataset), self._passes(dataset), self.study.rows(dataset)
        load, most = Load(), 0.0
        for name, epsilon, _ in here:
            settings = self.methods.settings(name, dataset, epsilon)
            if not settings.get("teachers"):
                continue
            rows, queries = max(2, all_rows // settings["teachers"]), self.asked(settings, dataset, epsilon)
            candidates = len(settings.get("candidates", [None]))
            load += model.load(candidates * settings["teachers"], rows, queries, columns)
            if candidates > 1:  # The student of each is queried about every private record, alone.
                load += model.load(candidates * all_rows, queries, 1, columns)
            most = max(most, self._bytes(rows, queries, columns, model))
        return size(load.operations, 0, 0, most, load.seconds)

    def asked(self, settings: Mapping[str, Any], dataset: str, epsilon: float) -> int:
        """Queries that teachers answer, roughly: no more than the budget pays for (`Plan.most_queries`)."""
        candidates = len(settings.get("candidates", [None]))
        if settings.get("threshold") is None and (candidates == 1 or settings.get("sigma2") is None):
            return settings["queries"]  # noise is such that all of them can be answered
        rho = _rho(epsilon, self.config["delta"]) * (1 - (settings.get("alpha") or 0))
        if self.study.run.config["datasets"][dataset]["task"] == "regression":
            cost = 1 / (2 * settings["sigma2"] ** 2)
        elif settings.get("threshold") is None:
            cost = 1 / settings["sigma2"] ** 2
        else:
            cost = 1 / (2 * settings["sigma1"] ** 2)
        return min(settings["queries"], int(rho * (1 - settings.get("share", 0)) / candidates / cost) + 1)

    def students(self, dataset: str, releases: int | None = None) -> Size:
        """Students of so many releases, by default of all, and the model that has the private records in context."""
        columns, model, rows = self._columns(dataset), self._passes(dataset), self.study.rows(dataset)
        releases = self._all_releases(dataset) if releases is None else releases
        tested = round(rows * self.config["roles"]["test"])
        load = model.load(releases, STUDENT_ROWS, tested, columns) + model.load(releases, rows, STUDENT_ROWS, columns)
        return size(load.operations, releases * tested, 0, self._bytes(rows, tested, columns, model), load.seconds)

    def shadows(self, dataset: str, sets: int) -> Size:
        """Teachers and students of shadow contexts, each with half of the private records."""
        columns, rows, model, load = self._columns(dataset), self._rows(dataset), self._passes(dataset), Load()
        for name, epsilon in self.study.attacked_pairs():
            settings = self._settings(name, dataset, epsilon)
            teachers = settings.get("teachers") or 1
            queries = self.asked(settings, dataset, epsilon) if settings.get("queries") else rows
            load += model.load(sets * teachers, max(2, rows // (2 * teachers)), queries, columns)
            load += model.load(sets, STUDENT_ROWS, rows, columns)
        return size(load.operations, sets * rows, 0, 0, load.seconds)

    def poisoned(self, dataset: str, sets: int) -> Size:
        """As `shadows`, with a release for each target and number of poisons, whose student has one query."""
        columns, rows, model, load = self._columns(dataset), self._rows(dataset), self._passes(dataset), Load()
        section = self.config["shadows"]["poisoned"]
        releases = section["targets"] * (1 + len(section["budgets"]))
        for name, epsilon in self.study.poisoned_pairs():
            settings = self._settings(name, dataset, epsilon)
            teachers = settings.get("teachers") or 0
            if teachers:
                # Poisons change their own shards alone; queries from noisy moments are others in each release.
                changed = section["targets"] * sum(min(budget, teachers) for budget in section["budgets"])
                contexts = releases * teachers if settings.get("prior") == "moments" else teachers + changed
                queries = self.asked(settings, dataset, epsilon)
                load += model.load(sets * contexts, max(2, rows // (2 * teachers)), queries, columns)
            load += model.load(sets * releases, STUDENT_ROWS if settings else rows // 2, 1, columns)
        return size(load.operations, sets * releases, 0, 0, load.seconds)

    def _by_shard(self, kind: str, of: Any) -> dict[str, Size]:
        """Sizes of all shards of all tables, each by its own releases."""
        step, found = self.config["shard"], {}
        for name in self.config["datasets"]:
            releases = self.methods.releases(name, kind)
            for shard in self.study.shards(name, kind):
                found[f"{name}/{shard}"] = of(name, releases[shard * step : (shard + 1) * step])
        return found

    def _by_shadow_shard(self, sets: int, of: Any) -> dict[str, Size]:
        step = self.config["shadows"]["shard"]
        return {
            f"{name}/{shard}": of(name, min(step, sets)) for name in self.study.attacked for shard in shards(sets, step)
        }

    def _settings(self, name: str, dataset: str, epsilon: float | None) -> dict[str, Any]:
        return self.methods.settings(name, dataset, epsilon) if name in self.methods.compared else {}

    def _columns(self, dataset: str) -> int:
        return self.study.run.table_size(dataset)["columns"]

    def _rows(self, dataset: str) -> int:
        return self.study.run.table_size(dataset)["rows"]

    def _passes(self, dataset: str) -> Passes:
        return self.study.run.passes(self.study.model(dataset))

    def _bytes(self, rows: int, queries: int, columns: int, model: Passes) -> float:
        """Memory of a forward pass: as configured, but at least what a quarter as many queries as rows need."""
        needed = model.memory_bytes(rows, queries, columns)
        least = model.memory_bytes(rows, max(1, rows // 4), columns)
        return min(needed, max(self.study.run.config["memory_mb"] * 2**20, least))

    def _all_releases(self, dataset: str) -> int:
        return sum(len(self.methods.releases(dataset, kind)) for kind in MAKES)

    def _refits(self) -> Size:
        """Iterations of all refits: with and without the canary, at each epsilon and with the noise off."""
        section = self.config["synthesizers"]
        return size(2 * section["refits"] * (len(section["epsilons"]) + 1) * section["iterations"])

    def _measured(self, dataset: str) -> Size:
        return size(0, self._all_releases(dataset) * self.study.rows(dataset))


def _rho(epsilon: float, delta: float) -> float:
    """rho of zCDP within a budget, by the best of some Renyi orders: `rho_within` takes packages that a plan lacks."""
    orders = (1 + 1.1**power for power in range(-10, 80))
    found = (
        (epsilon - math.log1p(-1 / order) + (math.log(delta) + math.log(order)) / (order - 1)) / order
        for order in orders
    )
    return max(0.0, *found)
