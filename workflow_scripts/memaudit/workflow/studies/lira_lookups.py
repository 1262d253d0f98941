"""Look-ups of rules/lira.smk: shadow grids, their shards and results, and how large the jobs are."""

from typing import Any

from memaudit.workflow.job_costs import Size, size
from memaudit.workflow.run_config import RunConfig, shards
from memaudit.workflow.study import Sizes, Study

# Halves of fewer models leave some record without enough models on one side.
LEAST_FOR_HALVES = 64


class Lira(Study):
    """How far a LiRA evaluation can be trusted: one large grid a table, and small ones of finite populations."""

    name = "lira"
    made_together = (
        frozenset({"strategies", "calibration", "sample_fpr"}),
        frozenset({"attacks", "roc"}),
        frozenset({"reliability", "variances"}),
    )

    def __init__(self, run: RunConfig):
        super().__init__(run)
        self.present = bool(self.config["datasets"])
        check = self.config["population_check"]
        self.supersets = [f"superset{i}" for i in range(check["supersets"])]
        # An evaluation holds up to 19 float64 copies of its grid: at the paper's 8,192 x 10,000 some 0.7 GB each.
        self.memory = 2000 + 2 * self.config["models"]
        self.minutes = 30 + self.config["models"] // 10
        self.grids = [
            *(f"{dataset}/efficient" for dataset in self.config["datasets"]),
            *(f"{dataset}/{grid}" for dataset in check["datasets"] for grid in ("population", *self.supersets)),
        ]

    @property
    def results(self) -> dict[str, list[str]]:
        attacked, check = self.config["datasets"], self.config["population_check"]["datasets"]
        kinds = ("strategies", "calibration", "sample_fpr", "attacks", "roc", "scores", "reliability", "variances")
        return {
            **{kind: [f"<results>/scores/lira/{name}/{kind}.parquet" for name in attacked] for kind in kinds},
            "population": [f"<results>/scores/lira/{name}/population.parquet" for name in check],
            **{
                kind: [f"<results>/scores/lira/{kind}.parquet"]
                for kind in ("simulation", "simulation_records", "audit")
            },
        }

    @property
    def names(self) -> dict[str, Any]:
        # The paper's Figure 2 draws half of the population, its Figure A3 other fractions.
        simulation = self.config["simulation"]
        half = simulation["population"] / 2
        sizes = sorted(simulation["sizes"], key=lambda drawn: abs(drawn - half))
        return {
            "models": self.run.model_rows([self.config["model"]]),
            "half_sizes": sizes[:1],
            "other_sizes": sizes[1:],
            "oracle_models": f"the first {first:,}" if (first := self.config["oracle_models"]) else "all shadow models",
            "whole": self._whole(),
            "population_checked": self.config["population_check"]["datasets"],
        }

    def grid(self, wildcards) -> dict[str, Any]:
        """How the contexts of a grid are drawn."""
        return self._grid(wildcards.grid)

    def split(self, wildcards) -> str | list[str]:
        """An input function: members and non-members of a table; none of one whose records are all members."""
        if wildcards.dataset in self.config["whole"]:
            return []
        return f"<results>/data/{wildcards.dataset}/splits/{self.config['split']}.parquet"

    def shard(self, wildcards) -> int:
        """Shadow models of one job."""
        return self._shard(wildcards.grid)

    def shard_files(self, wildcards) -> list[str]:
        """All shards of a grid."""
        folder = f"<results>/signals/lira/{wildcards.dataset}/{wildcards.grid}"
        return [f"{folder}/{shard}.nc" for shard in self._shards(wildcards.grid)]

    def sizes_of_halves(self) -> list[int]:
        """Numbers of shadow models of which two halves are compared."""
        return [count for count in self.config["sizes"] if count >= LEAST_FOR_HALVES]

    def sizes(self) -> Sizes:
        if not self.present:
            return {}
        config, datasets = self.config, self.config["datasets"]
        grids = {name: name.split("/") for name in self.grids}
        strategies = sum(config["sizes"]) * config["replicates"]
        permuted = config["models"] * (config["permutations"] + 1)
        return {
            **self._data_sizes(),
            **self.fetch_sizes([config["model"]]),
            "lira_draw_designs": {name: self._design_size(*grid) for name, grid in grids.items()},
            "lira_query_shadows": {
                f"{name}/{shard}": self._shard_size(*grid, shard)
                for name, grid in grids.items()
                for shard in self._shards(grid[1])
            },
            "lira_gather_grid": {name: self._grid_size(*grid) for name, grid in grids.items()},
            "lira_evaluate_strategies": {name: self._passes_size(name, strategies) for name in datasets},
            "lira_compare_attacks": {name: self._passes_size(name, permuted) for name in datasets},
            "lira_compare_scores": {name: self._passes_size(name, strategies) for name in datasets},
            "lira_rank_records": {name: self._passes_size(name, strategies) for name in datasets},
            "lira_predict_population": {
                name: self._population_size(name) for name in config["population_check"]["datasets"]
            },
            "lira_simulate_population": {"": self._simulation_size()},
            "lira_audit_privacy": {"": self._audit_size()},
        }

    def model_uses(self) -> dict[str, list[dict[str, Any]]]:
        if not self.present:
            return {}
        grids = [name.split("/") for name in self.grids]
        uses = [
            {
                "where": f"lira, data set {name}",
                "rows": self._shape(name, grid)[1],
                "features": self.features(name),
                **self.known_classes(name),
            }
            for name, grid in grids
        ]
        return {self.config["model"]: uses}

    def shadows(self) -> dict[str, Any] | None:
        if not self.present:
            return None
        records = {dataset: self._members(dataset) for dataset in self.config["datasets"]}
        return {"models": self.config["models"], "fpr": self.config["fpr"], "records": records}

    def _grid(self, grid: str) -> dict[str, Any]:
        if grid == "efficient":
            return {"draw": self.config["design"], "models": self.config["models"], "block": self.config["sizes"][0]}
        check = self.config["population_check"]
        models = check["population_models"] if grid == "population" else check["models"]
        shared = {key: check[key] for key in ("context", "supersets", "targets")}
        return shared | {"draw": "fixed_size", "models": models}

    def _shard(self, grid: str) -> int:
        return self.config["shard"] if grid == "efficient" else self.config["population_check"]["shard"]

    def _shards(self, grid: str) -> range:
        return shards(self._grid(grid)["models"], self._shard(grid))

    def _whole(self) -> str:
        """A sentence about tables of which no record is held back; empty if there are none."""
        tables = ", ".join(name for name in self.config["datasets"] if name in self.config["whole"])
        if not tables:
            return ""
        return f"All records of {tables} are in contexts: no RMIA, combined score or negative control there. "

    def _data_sizes(self) -> Sizes:
        """Jobs of the tables, with a split of those that have one."""
        divided = [name for name in self.config["datasets"] if name not in self.config["whole"]]
        splits = self.data_sizes(divided, [self.config["split"]])["data_split_records"]
        return self.data_sizes(self.config["datasets"]) | {"data_split_records": splits}

    def _sides(self, dataset: str) -> tuple[int, int]:
        """Numbers of members and non-members."""
        if dataset in self.config["whole"]:
            return self.run.table_size(dataset)["rows"], 0
        members, nonmembers = self.run.side_sizes(dataset, self.config["split"])
        return members, nonmembers

    def _members(self, dataset: str) -> int:
        return self._sides(dataset)[0]

    def _shape(self, dataset: str, grid: str) -> tuple[int, int, int, int]:
        """Models of a grid, records of a context, queried records, records of the membership matrix."""
        members, nonmembers = self._sides(dataset)
        drawn = self._grid(grid)
        if grid == "efficient":
            return drawn["models"], members // 2, members + nonmembers, members + nonmembers
        queried = drawn["targets"] * (drawn["supersets"] if grid == "population" else 1)
        return drawn["models"], drawn["context"], queried, members + nonmembers

    def _design_size(self, dataset: str, grid: str) -> Size:
        models, _, _, records = self._shape(dataset, grid)
        return size(models * records)

    def _grid_size(self, dataset: str, grid: str) -> Size:
        models, _, queried, _ = self._shape(dataset, grid)
        return size(models * queried)

    def _shard_size(self, dataset: str, grid: str, shard: int) -> Size:
        models, context, queried, _ = self._shape(dataset, grid)
        here = min(self._shard(grid), models - shard * self._shard(grid))
        shape = (context, queried, self.run.table_size(dataset)["columns"])
        model = self.run.passes(self.config["model"])
        load = model.load(here, *shape)
        return size(load.operations, here * queried, 0, model.memory_bytes(*shape), load.seconds)

    def _passes_size(self, dataset: str, passes: int) -> Size:
        """A job that goes over one model's scores of all members `passes` times, and holds those of all models."""
        members = self._members(dataset)
        return size(passes * members, members, self.config["models"] * members)

    def _population_size(self, dataset: str) -> Size:
        return size(sum(self._grid_size(dataset, grid).work for grid in ("population", *self.supersets)))

    def _simulation_size(self) -> Size:
        study = self.config["simulation"]
        populations = study["repeats"] * len(study["sizes"]) * len(study["draws"])
        grid = study["models"] * study["population"]
        return size(populations * grid * study["dimensions"], study["population"], grid)

    def _audit_size(self) -> Size:
        audit = self.config["audit"]
        grids = [self.config["models"] * self._members(dataset) for dataset in self.config["datasets"]]
        toys = [audit["toy_models"] * audit["toy_records"]] * len(audit["toy_epsilons"])
        return size(sum(grids + toys) * len(self.config["fpr"]), len(grids + toys), max(grids + toys))
