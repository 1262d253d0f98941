"""Look-ups of rules/tabpate/: files of releases, attacked students, and how large the jobs are."""

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from memaudit.common.io import read_json
from memaudit.workflow.run_config import RunConfig, read_yaml, shards
from memaudit.workflow.studies.tabpate_methods import Methods
from memaudit.workflow.studies.tabpate_sizes import TabpateSizes
from memaudit.workflow.study import Sizes, Study

NOT_PRIVATE = ("non_private", "non_private_shared", "majority", "mean")


class Tabpate(Study):
    """What private contexts cost and whether they protect: releases of every method, and attacks on their students."""

    name = "tabpate"

    def __init__(self, run: RunConfig):
        super().__init__(run)
        self.present = bool(self.config["datasets"])
        self.shadow = self.config["shadows"]
        self.attacked = [name for name in self.config["datasets"] if name in self.shadow["datasets"]]
        self.refitted = self.config["synthesizers"]["arms"] if self.present else []
        self.methods = Methods(self.config, self._tasks(), self._tuned())

    @property
    def results(self) -> dict[str, list[str]]:
        folder = "<results>/scores/tabpate"
        return {
            "utility": [f"{folder}/{name}/utility.parquet" for name in self.config["datasets"]],
            "average": [f"{folder}/average.parquet"],
            "audit": [f"{folder}/audit.parquet"],
            "synthesizers": [f"{folder}/synthesizers.parquet"] if self.refitted else [],
            "attack": [f"{folder}/{name}/attack.parquet" for name in self.attacked],
            "roc": [f"{folder}/{name}/roc.parquet" for name in self.attacked],
        }

    @property
    def names(self) -> dict[str, Any]:
        ablations, classified = self.config["ablations"], self._tables("classification")
        return {
            "defences": self.methods.overview,
            "public_facts": [[name, facts["source"], ", ".join(seen)] for name, facts, seen in self._facts()],
            "bounds_from_data": ", ".join(name for name, _, seen in self._facts() if seen) or "no table",
            "arms": list(self.methods.compared),
            "not_private": list(NOT_PRIVATE),
            "arms_with_labels": self.methods.labelled,
            "arms_by_queries": self.methods.by_queries,
            "ablated_arm": ablations["base"],
            "varied_arms": list(self.methods.varied),
            "ablated_tables": ablations["datasets"],
            "ablated_epsilons": ablations["epsilons"],
            "classified": classified,
            # Table 14 of the paper has Wilt.
            "classified_and_wilt": list(dict.fromkeys([*classified, "wilt"])),
            "regressed": self._tables("regression"),
            "attacked": self.attacked,
            "audited_keys": [
                *(["dataset"] if self.attacked else []),
                *(["arm", "epsilon", "attack", "fpr"] if self.attacked or self.refitted else []),
            ],
            "refitted_epsilons": self.config["synthesizers"]["epsilons"] if self.refitted else [],
            "rates": [f"tpr@{fpr:g}" for fpr in self.shadow["fpr"]],
            "epsilons": self.config["epsilons"],
            "attacked_epsilons": self.shadow["epsilons"],
        }

    @cached_property
    def table(self) -> dict[str, Any]:
        """Inputs of every rule that queries a model about a table."""
        return {
            "records": "<results>/data/{dataset}/records.parquet",
            "schema": "<results>/data/{dataset}/schema.json",
            "key": "<results>/data/id.key",
            "public": self.public,
            "model": lambda wildcards: f"{self._model_folder(wildcards.dataset)}/model.json",
            "weights": lambda wildcards: f"{self._model_folder(wildcards.dataset)}/weights",
            "noted": self.noted,
        }

    def noted(self, wildcards) -> list[str]:
        """The line that a ledger has about a private table; an audit writes its own, from the user's file."""
        private = self.run.config["datasets"][wildcards.dataset]["licence"] == "private"
        known = self.run.config["audit"] is not None
        return [f"<results>/signals/tabpate/{wildcards.dataset}/noted.json"] if private and not known else []

    def ledger(self, wildcards) -> str | None:
        """The folder of the ledger, as in a release of this config; None: that of the user."""
        own = (self.run.config["release"] or {}).get("ledger")
        return own and os.path.expanduser(own)

    def public(self, wildcards) -> str:
        """A table's public facts."""
        own = self.run.config["datasets"][wildcards.dataset]["public"]
        return self.run.named(own) if own else self.run.in_project(f"config/public/{wildcards.dataset}.yaml")

    def files(self, kind: str) -> Callable[[Any], list[str]]:
        """Shards of a table's contexts or answers."""

        def of(wildcards) -> list[str]:
            folder = f"<results>/signals/tabpate/{wildcards.dataset}/{kind}"
            return [f"{folder}/{shard}.nc" for shard in self.shards(wildcards.dataset, kind)]

        return of

    def answers(self, wildcards) -> list[str]:
        """All predictions of a table's test records."""
        return [f"<results>/signals/tabpate/{wildcards.dataset}/students.nc", *self.files("answers")(wildcards)]

    def synthetic_files(self, wildcards) -> list[str]:
        """Synthetic records of a table."""
        folder = f"<results>/signals/tabpate/{wildcards.dataset}/synthetic"
        return [f"{folder}/{name}/{epsilon}.parquet" for name, epsilon in self.methods.synthetic(wildcards.dataset)]

    def synthetic_bins(self, wildcards) -> list[str]:
        """Bins of these files, in their order."""
        folder = f"<results>/signals/tabpate/{wildcards.dataset}/codes"
        return [f"{folder}/{name}.json" for name, _ in self.methods.synthetic(wildcards.dataset)]

    def synthesized_epsilons(self, wildcards) -> list[float]:
        """Epsilons at which a table's records are synthesized."""
        pairs = self.methods.synthetic(wildcards.dataset)
        return [epsilon for name, epsilon in pairs if name == wildcards.synthesizer]

    def synthetic_settings(self, wildcards) -> list[list[Any]]:
        """Method, epsilon and settings of these files."""
        pairs = self.methods.synthetic(wildcards.dataset)
        return [[*pair, self.methods.settings(pair[0], wildcards.dataset, pair[1])] for pair in pairs]

    def synthesizer(self, wildcards) -> dict[str, Any]:
        """A synthesizer's entry on a table."""
        return self.methods.entry(wildcards.synthesizer, wildcards.dataset)

    def synthesizer_method(self, wildcards) -> str:
        """AIM or MST."""
        return self.methods.all[wildcards.synthesizer]["method"]

    def synthesizer_setting(self, key: str) -> Callable[[Any], Any]:
        """A params function: one of a synthesizer's settings on a table at an epsilon."""
        return lambda wildcards: self.methods.settings(
            wildcards.synthesizer, wildcards.dataset, float(wildcards.epsilon)
        )[key]

    def refit_params(self) -> dict[str, Any]:
        """Params of the refits of a synthesizer, which are of no table: rounds are those of its arm, not tuned ones."""
        shared = {key: self.config["synthesizers"][key] for key in ("epsilons", "refits", "iterations")}
        return shared | {
            "delta": self.config["delta"],
            "method": self.synthesizer_method,
            "rounds": lambda wildcards: self.methods.all[wildcards.synthesizer]["settings"]["rounds"],
        }

    @property
    def refit_files(self) -> list[str]:
        """Refits of the audited synthesizers, in the order of their arms."""
        return [f"<results>/signals/tabpate/refits/{name}.parquet" for name in self.refitted]

    def release_params(self, kind: str) -> dict[str, Any]:
        """Params that make all releases of one kind."""
        shared = {key: self.config[key] for key in ("shard", "delta", "roles")}
        releases = lambda wildcards: self.methods.releases(wildcards.dataset, kind)  # noqa: E731
        arms = lambda wildcards: self.methods.making(kind, wildcards.dataset)  # noqa: E731
        return shared | {"arms": arms, "releases": releases}

    def shadow_params(self) -> dict[str, Any]:
        """Params that every rule of attacked students has."""
        arms = lambda wildcards: {name: self.methods.entry(name, wildcards.dataset) for name in self.shadow["arms"]}  # noqa: E731
        shared = {key: self.config[key] for key in ("delta", "roles")}
        return shared | {"arms": arms, "shard": self.shadow["shard"]}

    def shadow_files(self, folder: str, sets: int) -> Callable[[Any], list[str]]:
        """Shards of a table's attacked students."""

        def of(wildcards) -> list[str]:
            path = f"<results>/signals/tabpate/{wildcards.dataset}/{folder}"
            return [f"{path}/{shard}.nc" for shard in shards(sets, self.shadow["shard"])]

        return of

    def attacked_pairs(self) -> list[list[Any]]:
        """Method and epsilon of the attacked students; without privacy there is no epsilon."""
        return self._pairs(self.shadow["arms"], self.shadow["epsilons"])

    def poisoned_pairs(self) -> list[list[Any]]:
        """As `attacked_pairs`, for Brainwash: methods that release a context, at epsilons of its own.

        The whole mechanism runs anew for every number of mislabelled copies.
        """
        contexts = [name for name in self.shadow["arms"] if name not in self.methods.making("answers")]
        return self._pairs(contexts, self.shadow["poisoned"]["epsilons"])

    def method_names(self) -> dict[str, dict[str, str]]:
        """Method of every entry."""
        return {name: {"method": one["method"]} for name, one in self.methods.all.items()}

    def sizes(self) -> Sizes:
        if not self.present:
            return {}
        fetched = [self.config["models"][task] for task in self.config["models"] if self._tables(task)]
        shared = self.data_sizes(self.config["datasets"]) | self.fetch_sizes(fetched)
        return shared | TabpateSizes(self).of_rules()

    @cached_property
    def memory(self) -> int:
        """MB of a job that queries a model with the private records in its context."""
        return self.asked_memory(map(TabpateSizes(self).students, self.config["datasets"]))

    def faults(self) -> Iterator[str]:
        for name in self.config["datasets"] if self.present else ():
            if not os.path.exists(path := self.public(SimpleNamespace(dataset=name))):
                yield (
                    f"tabpate/datasets: {name} has no public facts, there is no {path}; write them (docs/release.md), "
                    "or take it from tabpate/datasets"
                )

    def model_uses(self) -> dict[str, list[dict[str, Any]]]:
        """The private records themselves are the largest context."""
        return {
            model: [
                {
                    "where": f"tabpate, data set {name}",
                    "rows": self.rows(name),
                    "features": self.features(name),
                    **self.known_classes(name),
                }
                for name in self._tables(task)
            ]
            for task, model in self.config["models"].items()
            if self._tables(task)
        }

    def rows(self, dataset: str) -> int:
        """Records of a table that take part."""
        return min(filter(None, (self.run.table_size(dataset)["rows"], self.config["roles"]["max_records"])))

    def model(self, dataset: str) -> str:
        """Name of the model that is queried about a table."""
        return self.config["models"][self.run.config["datasets"][dataset]["task"]]

    def shards(self, dataset: str, kind: str) -> range:
        """Numbers of the shards of a table's releases."""
        return shards(len(self.methods.releases(dataset, kind)), self.config["shard"])

    def _pairs(self, methods: list[str], epsilons: list[float]) -> list[list[Any]]:
        return [["non_private", None], *([name, epsilon] for name in methods for epsilon in epsilons)]

    def _facts(self) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
        """Public facts of each table that has some, and the columns whose bounds were chosen in view of the data."""
        for name in self.config["datasets"]:
            path = Path(self.public(SimpleNamespace(dataset=name)))
            facts = read_yaml(path) if path.is_file() else None
            if isinstance(facts, dict) and "source" in facts:  # else its jobs say what is wrong
                yield name, facts, facts.get("bounds_from_data", [])

    def _tasks(self) -> dict[str, str]:
        return {name: self.run.config["datasets"][name]["task"] for name in self.config["datasets"]}

    def _tuned(self) -> dict[str, Any]:
        path = self.config["tuned"]
        return read_json(self.run.named(path))["arms"] if self.present and path else {}

    def _tables(self, task: str) -> list[str]:
        return [name for name in self.config["datasets"] if self.run.config["datasets"][name]["task"] == task]

    def _model_folder(self, dataset: str) -> str:
        return f"<results>/models/{self.model(dataset)}"
