"""Look-ups of rules/ltmia/: combinations of models and corpora, targets by job, and files."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from memaudit.common import transfer_setting
from memaudit.common.errors import AuditError
from memaudit.workflow.job_costs import asked_mb
from memaudit.workflow.run_config import RunConfig, shards
from memaudit.workflow.studies.ltmia_sizes import SENSITIVITY, LtmiaSizes
from memaudit.workflow.study import Sizes, Study

# A target: base model, corpus, tuning.
Combination = list[str]
# What of a corpus's entry in the catalogue says where it comes from and what of it is read.
SOURCE = (
    "source", "package", "content", "path", "name", "subset", "split", "text_columns", "characters",
    "document_start", "document_characters", "sha256",
)  # fmt: skip
MEMORY = 8000  # MB of a job beside its model
PUBLISHED_RATES = ("tpr@0.01", "tpr@0.001")


class Ltmia(Study):
    """Whether a classifier trained on models with known members transfers to other models and corpora."""

    name = "ltmia"
    beside = MEMORY
    made_together = (frozenset({"results", "roc"}),)

    def __init__(self, run: RunConfig):
        super().__init__(run)
        config = self.config
        self.present = bool(config["training"])
        self.training = self._combinations(config["training"])
        self.held_out = self._combinations(config["held_out"])
        # Controls that this run has.
        controls = {name: self._combinations([group]) for name, group in config["controls"].items()}
        self.controls = {name: combinations for name, combinations in controls.items() if combinations}
        self.targets = [*self.training, *self.held_out, *(one for group in self.controls.values() for one in group)]
        self.models = list(dict.fromkeys(model for model, _, _ in self.targets))
        named = {corpus for _, corpus, _ in self.targets}
        self.shifted = {name: parts for name, parts in config["shifted"].items() if name in named}
        sources = (
            self.shifted[corpus].values() if corpus in self.shifted else [corpus] for _, corpus, _ in self.targets
        )
        self.corpora = list(dict.fromkeys(corpus for group in sources for corpus in group))
        # The first classifier is the attack.
        self.attack = next(iter(config["classifiers"]))
        self.families = {name: run.config["language_models"][name]["family"] for name in self.models}
        # A TPR at an FPR below 1 / non-members is not resolved, and left out.
        resolved = 1 / config["texts"]["parts"]["nonmember"]
        self.fprs = sorted({fpr for fpr in config["fpr"] if fpr >= resolved}, reverse=True)
        self.job_sizes = LtmiaSizes(self)

    @property
    def results(self) -> dict[str, list[str]]:
        kinds = ("results", "roc", "corpora", *SENSITIVITY)
        return {kind: [f"<results>/scores/ltmia/{kind}.parquet"] for kind in kinds}

    @property
    def names(self) -> dict[str, Any]:
        rates = [f"tpr@{fpr:.3g}" for fpr in self.fprs]
        return {
            "combinations": self._combination_rows(),
            "rates": rates,
            "ratios": [f"{rate} ratio" for rate in rates],
            # The paper's rates stand beside ours although ours may be others: the header says which.
            "other_published_rates": [name for name in PUBLISHED_RATES if name not in rates],
            "metric_differences": [f"{name} difference" for name in ("auc", *rates)],
            "classifiers": list(self.config["classifiers"]),
            "samples": self.config["diversity"]["samples"],
        }

    def corpus_file(self, wildcards) -> str | list[str]:
        """A local file or folder of texts; nothing for a corpus from elsewhere."""
        entry = self.run.config["datasets"][wildcards.dataset]
        if entry["source"] != "file":
            return []
        path = self.run.named(entry["path"])
        return _there(path, f"datasets/{wildcards.dataset}/path", "texts")

    def source(self, wildcards) -> dict[str, Any]:
        """Where a corpus comes from, and what of it is read."""
        return self.run.dataset_keys(*SOURCE)(wildcards)

    def hub(self, wildcards) -> dict[str, Any]:
        """Where on the hub a base model lies."""
        return self.entry(wildcards.model)["hub"]

    def made_here(self, file: str) -> Callable[[Any], str | list[str]]:
        """A file that base models are made from; nothing for a model that is there."""

        def of(wildcards) -> str | list[str]:
            return file if self.entry(wildcards.model)["model_type"] is not None else []

        return of

    def fetched(self, wildcards) -> str | list[str]:
        """The folder of a base model of the hub; nothing for others."""
        hub = self.entry(wildcards.model)["hub"]
        return f"<results>/models/ltmia/{wildcards.model}/fetched" if hub else []

    def model_entry(self, wildcards) -> dict[str, Any]:
        """What makes a base model; its family is for readers alone."""
        entry = self.entry(wildcards.model)
        path = entry["path"] and self.run.named(entry["path"])
        return {key: entry[key] for key in ("model_type", "config", "hub")} | {"path": path}

    def texts(self) -> dict[str, Any]:
        """How texts are cut; their length in tokens is the models'."""
        return {key: value for key, value in self.config["texts"].items() if key != "length"}

    def targets_of_shard(self, wildcards) -> list[list[str]]:
        """Corpus and tuning of the targets of one job."""
        return self.shard_targets(wildcards.model, int(wildcards.shard))

    def judged_of_shard(self, wildcards) -> list[list[str]]:
        """Targets of one job on which attacks are judged, and which have all baselines."""
        own = self.targets_of_shard(wildcards) if self.config["baselines"]["names"] else []
        return [target for target in own if [wildcards.model, *target] not in self.training]

    def files(self, kind: str, combinations: Iterable[Combination] | None = None) -> list[str]:
        """Files of the jobs that make these targets, or all."""
        per_job = self.config["targets_per_job"]
        places = dict.fromkeys(
            (model, self._targets(model).index([corpus, tuning]) // per_job)
            for model, corpus, tuning in (self.targets if combinations is None else combinations)
        )
        return [f"<results>/signals/ltmia/{model}/{shard}.{kind}" for model, shard in places]

    def other_files(self, kind: str) -> list[str]:
        """Files of the jobs that make targets that no classifier learns from."""
        return self.files(kind, [target for target in self.targets if target not in self.training])

    def fitting(self) -> dict[str, Any]:
        """Params that every training of a classifier has."""
        shared = {key: self.config[key] for key in ("validation", "test")}
        return {"seed": self.run.config["seed"], "training": self.training} | shared

    def arm(self, wildcards) -> str:
        """What a classifier reads of the features."""
        return self.config["classifiers"][wildcards.classifier]["arm"]

    def architecture(self, wildcards) -> dict[str, Any]:
        """Size of a classifier."""
        return self.config["classifiers"][wildcards.classifier]["architecture"]

    def classifier_training(self, wildcards) -> dict[str, Any]:
        """How a classifier is trained."""
        return self.config["classifiers"][wildcards.classifier]["training"]

    def choice(self, wildcards) -> dict[str, Any]:
        """Values of a classifier's settings to choose from, and by how many folds."""
        return {"folds": self.config["folds"]} | self.config["classifiers"][wildcards.classifier]["choice"]

    def shuffles(self, wildcards) -> int:
        """Classifiers of shuffled labels: a null of the attack alone."""
        return self.config["shuffles"] if wildcards.classifier == self.attack else 0

    def diverse(self) -> dict[str, Any]:
        """The attack's settings, and what training on few texts changes of them."""
        own, changed = self.config["classifiers"][self.attack], self.config["diversity"]["training"]
        training = own["training"] | {key: value for key, value in changed.items() if value is not None}
        return {"arm": own["arm"], "architecture": own["architecture"], "fitting": training}

    def null_memory(self, wildcards) -> int:
        """MB of the texts of a classifier of shuffled labels, which are copied, of one at a time."""
        return asked_mb(self.job_sizes.classifier(wildcards.classifier), 0)

    def corpora_memory(self, wildcards) -> int:
        """MB of all corpora together, which are searched for duplicates as one."""
        return asked_mb(self.job_sizes.corpora(), 0)

    def judging_memory(self, wildcards) -> int:
        """MB of the scores of all targets' texts and of what is resampled of them."""
        return asked_mb(self.job_sizes.judging(), 0)

    def sensitivity_memory(self, wildcards) -> int:
        """MB of the scores of held-out texts by each classifier of few combinations, or for each permutation."""
        return asked_mb(self.job_sizes.sensitivity(wildcards.part), 0)

    def setting(self) -> dict[str, int]:
        """How large the run is, for a comparison with the paper's."""
        return transfer_setting.numbers(self.config)

    def contents(self) -> dict[str, str]:
        """What each corpus holds, text or code."""
        return {name: self.run.config["datasets"][name]["content"] for name in self.corpora}

    def ways(self) -> dict[str, str]:
        """Kind of each tuning: untrained, other texts or other members (nulls), private, lora or full."""
        return {name: _way(tuning) for name, tuning in self.config["tunings"].items()}

    def own(self, key: str, file: str = "") -> Callable[[Any], str | list[str]]:
        """A file of the user's own (ltmia/attack), or this file of the user's folder; nothing where none is named."""

        def of(wildcards) -> str | list[str]:
            if self.config["attack"][key] is None:
                return []
            path = self.run.named(self.config["attack"][key])
            path = os.path.join(path, file) if file and os.path.isdir(path) else path
            return _there(path, f"ltmia/attack/{key}", key)

        return of

    def own_params(self) -> dict[str, Any]:
        """Columns of the user's own texts, and the false discovery rate of detections."""
        own = self.config["attack"] or {}
        return {"columns": own.get("columns"), "rate": own.get("false_discovery_rate")}

    def verdicts(self, wildcards) -> str:
        """What `snakemake ltmia_attack` makes."""
        if self.config["attack"] is None:
            raise AuditError("ltmia/attack: target, base and texts are missing; see docs/attack-texts.md")
        return "<results>/ltmia_attack/verdicts.csv"

    def sizes(self) -> Sizes:
        return self.job_sizes.of_rules() if self.targets else {}

    def entry(self, model: str) -> dict[str, Any]:
        """A base model of the catalogue."""
        return self.run.config["language_models"][model]

    def _combinations(self, groups: Iterable[Mapping[str, Any]]) -> list[Combination]:
        """Targets of these groups; none where nothing is learnt from."""
        if not self.config["training"]:
            return []
        return [
            [model, corpus, group["tuning"]]
            for group in groups
            for model in group["models"]
            for corpus in group["corpora"]
        ]

    def _combination_rows(self) -> list[list[str]]:
        """Models and corpora of this run, by the part that they play."""
        parts = [("training", self.config["training"]), ("held out", self.config["held_out"])]
        parts += [(name, [self.config["controls"][name]]) for name in self.controls]
        return [
            [
                part,
                ", ".join(group["models"]),
                ", ".join(dict.fromkeys(self.families[name] for name in group["models"])),
                ", ".join(group["corpora"]),
                group["tuning"],
            ]
            for part, groups in parts
            for group in groups
            if self.training
        ]

    def base_memory(self, wildcards: Any) -> int:
        """MB of the base model of a job that copies or trains it, without what is `beside`."""
        return asked_mb(self.job_sizes.base(wildcards.model), 0)

    def target_memory(self, wildcards: Any) -> int:
        """MB of the models of a job that tunes and queries targets, without what is `beside`."""
        return asked_mb(self.job_sizes.targets(wildcards.model, int(wildcards.shard)), 0)

    def _targets(self, model: str) -> list[list[str]]:
        """Corpus and tuning of every target of a base model."""
        return [[corpus, tuning] for name, corpus, tuning in self.targets if name == model]

    def shard_targets(self, model: str, shard: int) -> list[list[str]]:
        """Corpus and tuning of the targets of one job."""
        per_job = self.config["targets_per_job"]
        return self._targets(model)[shard * per_job : (shard + 1) * per_job]

    def shards(self, model: str) -> range:
        """Numbers of the jobs that make the targets of a base model."""
        return shards(len(self._targets(model)), self.config["targets_per_job"])


def _way(tuning: Mapping[str, Any]) -> str:
    if not tuning["epochs"]:
        return "untrained"
    if tuning["trains_on"] != "members":
        return tuning["trains_on"]
    return next((way for way, key in (("private", "privacy"), ("lora", "lora")) if tuning[key]), "full")


def _there(path: str, where: str, what: str) -> str:
    """The path. Raises AuditError if nothing stands there."""
    if not os.path.exists(path):
        raise AuditError(f"{where}: there is nothing at {path}; give the path of the {what}")
    return path
