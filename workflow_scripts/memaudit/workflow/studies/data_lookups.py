"""Look-ups of rules/data.smk: where a table comes from, how it is read and split."""

import os
from collections.abc import Iterator
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.workflow.study import Sizes, Study


class Data(Study):
    """Tables of the run, each with all splits of the config."""

    name = "data"

    @property
    def results(self) -> dict[str, list[str]]:
        datasets, splits = self.config["datasets"], self.config["splits"]
        return {
            "dedup": [f"<results>/data/{dataset}/dedup.parquet" for dataset in datasets],
            "checks": [
                f"<results>/data/{dataset}/splits/{split}.checks.parquet" for dataset in datasets for split in splits
            ],
        }

    @property
    def names(self) -> dict[str, Any]:
        return {"data_sets": [self._facts(dataset) for dataset in self.config["datasets"]]}

    def sizes(self) -> Sizes:
        return self.data_sizes(self.config["datasets"], list(self.config["splits"]))

    def faults(self) -> Iterator[str]:
        for dataset in self.config["datasets"]:
            records = self.run.most_records(dataset)
            for name, sides in self.config["splits"].items() if records else ():
                # Shares of all records are never more than these (config/check_config.py).
                counted = not (isinstance(sides["members"], float) and isinstance(sides["nonmembers"], float))
                if counted and (needed := sum(self.run.side_sizes(dataset, name))) > records:
                    yield (
                        f"data/splits/{name}: {needed} members and non-members are drawn, and {dataset} has at most "
                        f"{records} records; draw fewer, or take the data set from data/datasets"
                    )

    def file(self, wildcards) -> str | list[str]:
        """The file of a user's own table, so that a changed path is fetched again; [] for other sources."""
        entry = self.run.config["datasets"][wildcards.dataset]
        if entry["source"] != "file":
            return []
        path = os.path.expanduser(entry["path"])
        if not os.path.exists(path):
            raise AuditError(f"datasets/{wildcards.dataset}/path: there is no file {path}; give the path of the table")
        return path

    def policy(self, wildcards) -> dict[str, Any]:
        """How a table is read, and what happens to its duplicates."""
        keys = ("task", "target", "types", "drop", "missing", "missing_target", "group", "decimal", "dates")
        reading = self.run.dataset_keys(*keys)
        return reading(wildcards) | {key: self.config[key] for key in ("duplicates", "conflicts")}

    def policy_of_all_rows(self, wildcards) -> dict[str, Any]:
        """The same with all duplicates kept and without groups: records then stand in the order of the table's rows."""
        policy = self.policy(wildcards)
        drop = [*policy["drop"], *filter(None, [policy["group"]])]
        return policy | {"duplicates": "keep", "conflicts": "keep", "group": None, "drop": drop}

    def split(self, wildcards) -> dict[str, Any]:
        """How many records a split takes of a table, and how they are divided."""
        sample = self.run.dataset_keys("max_records", "balance")
        return sample(wildcards) | self.config["splits"][wildcards.split]

    def _facts(self, dataset: str) -> list[Any]:
        entry = self.run.config["datasets"][dataset]
        care = [
            "licence unknown" if entry["licence"] == "unknown" else None,
            entry["limits"]["reason"] and f"wider limits: {entry['limits']['reason']}",
            entry["note"],
        ]
        return [dataset, entry["task"], entry["source"], entry["rows"], entry["licence"], "; ".join(filter(None, care))]
