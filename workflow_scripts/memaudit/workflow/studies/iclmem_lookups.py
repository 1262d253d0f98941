"""Look-ups of rules/iclmem.smk: files of tables, models, shards and results, and how large the jobs are."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from memaudit.config.iclmem_section import PLANTED
from memaudit.workflow.job_costs import Size, asked_mb, size
from memaudit.workflow.run_config import shards
from memaudit.workflow.studies.iclmem_arms import Arms
from memaudit.workflow.studies.iclmem_shadows import GroundTruth
from memaudit.workflow.study import Sizes, Study

# A context of a probe shows every candidate label at least once: of a class or of three numbers it has about so many
# rows, of more numbers correspondingly more.
PROBE_CONTEXT, OF_CANDIDATES = 7, 3
PERMUTED = 200  # bytes that each run takes for each permutation: all signals, and copies of them in double precision
TESTED, LEVEL = (
    4,
    0.05,
)  # signals, and the q-value of a detection: tests / LEVEL joint permutations are drawn of each test
JOINT = 8  # bytes that each test takes for each joint permutation: its place among them, and decisions
FURTHER = ("copies", "label_smoothing", "planted", "control", "against")  # settings that few arms have


class Iclmem(Study):
    """Whether in-context models that were fine-tuned on records remember them."""

    name = "iclmem"

    @property
    def present(self) -> bool:
        """False for a run without tables."""
        return bool(self.config["datasets"])

    @cached_property
    def arms(self) -> Arms:
        """Fine-tuning conditions: their tables, numbers of records and settings."""
        return Arms(self.config, self.run.config["datasets"])

    @cached_property
    def ground_truth(self) -> GroundTruth:
        """Shadow models: their conditions, shards and sizes."""
        return GroundTruth(self.run, self.config, self.arms, self.probe_work)

    @property
    def results(self) -> dict[str, list[str]]:
        return {
            "results": [f"<results>/scores/iclmem/{task}/results.parquet" for task in self.arms.all_tasks],
            "outcomes": ["<results>/scores/iclmem/outcomes.parquet"],
            "checks": [f"<results>/signals/iclmem/{name}/splits.checks.parquet" for name in self.config["datasets"]],
            "ground_truth": self.ground_truth.results,
        }

    @property
    def names(self) -> dict[str, Any]:
        config, arms = self.config, self.arms
        rules, examples = config["rules"], {arms.example(name) for name in config["datasets"]}
        published = next(iter(rules))
        conditions = dict.fromkeys(settings["labels"] for settings in arms.used.values())
        categories = dict.fromkeys(one["category"] for one in config["manipulations"] if one["steps"])
        return {
            "arm_rows": [self._arm_row(arm) for arm in arms.used],
            "table_rows": [self._table_row(name) for name in self.run.config["datasets"] if name in config["datasets"]],
            "manipulation_rows": [_manipulation_row(one) for one in config["manipulations"]],
            "manipulations": len(config["manipulations"]),
            "categories": list(categories),
            "rules": list(rules),
            # Of the published rules the first is the study's.
            "published_rule": published,
            "collapse_ratio": rules[published]["loss_ratio"],
            "flag_rate": rules[published]["flag"],
            "no_threshold": ["" for _ in rules],
            **{
                f"{key}_thresholds": [f"{rule[key]:g}" for rule in rules.values()]
                for key in ("loss_ratio", "auc", "mu_gap", "sigma_gap", "flag")
            },
            "datasets": config["datasets"],
            "models": list(config["models"].values()),
            "tprs": (tprs := [f"tpr@{fpr:g}" for fpr in config["fpr"]]),
            "detectable_tprs": [f"smallest detectable {tpr}" for tpr in tprs],
            "probe_rows": self._probe_rows(),
            "aucs_by_labels": [f"auc {labels}" for labels in conditions],
            "last_epochs": sorted({arms.settings(task, arm)["epochs"][-1] for task, arm in arms.runs}),
            "plain_arms": arms.plain,
            "dose_axes": arms.dose_axes,
            "any_doses": [*arms.doses, *arms.dose_axes],
            "drawn_dose_arms": arms.drawn_doses,
            "any_drawn_doses": [*arms.drawn_doses, *arms.dose_axes],
            "positive_arms": arms.positive,
            "defended_arms": arms.defended,
            "private_arms": arms.private,
            "planted_arms": [arm for arm, one in arms.used.items() if one["labels"] in PLANTED],
            "shadowed_arms": list(self.ground_truth.arms),
            "extension_arms": arms.extensions,
            "matched_arms": arms.matched,
            "example_arms": sorted(examples - {None}),
        }

    @property
    def probe(self) -> dict[str, Any]:
        """Settings that probes of base models and of fine-tuned ones have in common, as params."""
        return {
            "seed": self.run.config["seed"],
            "splits": self.config["splits"],
            "context": self.config["targets"]["context"],
            "candidates": self.config["candidates"],
            "replicates": self.config["copies"],
            "free_text": self.config["free_text"],
            "manipulations": self.config["manipulations"],
        }

    @property
    def checkpoints(self) -> list[str]:
        """The file of a shard's fine-tuned weights, if they are kept."""
        return ["<results>/models/iclmem/{task}/{arm}/{shard}.zip"] if self.config["keep_checkpoints"] else []

    def table_files(self, pattern: str) -> Callable:
        """An input function: this file of each table that a model is fine-tuned on."""
        return lambda wildcards: [pattern.format(dataset=dataset) for dataset in self._tables(wildcards)]

    def model_file(self, file: str) -> Callable:
        """An input function: a file of the base model of a table, or of a fine-tuned model's tables."""

        def path(wildcards) -> str:
            dataset = getattr(wildcards, "dataset", None) or self._tables(wildcards)[0]
            return f"<results>/models/{self.arms.model(dataset)}/{file}"

        return path

    def canaries(self, wildcards) -> list[str]:
        """Answers of the base models that have chosen the labels of canaries; none for arms without canaries."""
        if self.config["arms"][wildcards.arm]["labels"] != "canaries":
            return []
        return [_reference(dataset, "canaries") for dataset in self._tables(wildcards)]

    def shards_by_arm(self, wildcards) -> dict[str, list[str]]:
        """Answers of all fine-tuned models of a task, by arm."""
        return {
            arm: [f"<results>/signals/iclmem/{wildcards.task}/{arm}/{shard}.nc" for shard in self._shards(arm)]
            for arm in self.arms.arms_of(wildcards.task)
        }

    def references(self, wildcards) -> list[str]:
        """Answers of the base models for the tables of a task, under each label condition of its arms."""
        conditions = [
            (dataset, self.config["arms"][arm]["labels"])
            for arm in self.arms.arms_of(wildcards.task)
            for dataset in self.arms.tables(wildcards.task, arm)
        ]
        return [_reference(dataset, labels) for dataset, labels in dict.fromkeys(conditions)]

    def settings_by_arm(self, wildcards) -> dict[str, dict[str, Any]]:
        """Settings of all arms of a task."""
        return {arm: self.arms.settings(wildcards.task, arm) for arm in self.arms.arms_of(wildcards.task)}

    def decision_memory(self, wildcards: Any) -> int:
        """MB of the permutations of all runs, which one job decides about."""
        return asked_mb(self._decide_size(), 0)

    def sizes(self) -> Sizes:
        datasets, tasks, runs = self.config["datasets"], self.arms.all_tasks, self.arms.runs
        references = [(name, labels) for name in datasets for labels in self.arms.label_conditions(name)]
        return {
            **self.data_sizes(datasets),
            **self.fetch_sizes(list(self.model_uses())),
            "iclmem_draw_splits": {name: self.table_cells(name) for name in datasets},
            "iclmem_probe_reference": {f"{name}/{labels}": self._reference_size(name) for name, labels in references},
            "iclmem_probe_tuned": {
                f"{task}/{arm}/{shard}": self._tuned_size(task, arm, shard)
                for task, arm in runs
                for shard in self._shards(arm)
            },
            "iclmem_judge_runs": {task: self._judge_size(task) for task in tasks},
            "iclmem_decide_outcomes": {"": self._decide_size()} if tasks else {},
            **self.ground_truth.sizes(),
        }

    def model_uses(self) -> dict[str, list[dict[str, Any]]]:
        uses: dict[str, list[dict[str, Any]]] = {}
        for name in self.config["datasets"]:
            rows = max(self.arms.context_counts(name))
            use = {"where": f"iclmem, data set {name}", "rows": rows, "features": self.features(name)}
            use |= self.known_classes(name)
            uses.setdefault(self.arms.model(name), []).append(use)
        return uses

    def _tables(self, wildcards) -> list[str]:
        return self.arms.tables(wildcards.task, wildcards.arm)

    def splits_per_job(self, wildcards) -> int:
        """A params function: splits that a job fine-tunes on."""
        return self.arms.splits_per_job(wildcards.arm)

    def _shards(self, arm: str) -> range:
        return shards(self.config["splits"], self.arms.splits_per_job(arm))

    def _arm_row(self, arm: str) -> list[Any]:
        """A line of the paper's Table 2: how an arm fine-tunes."""
        settings, tables = self.config["arms"][arm], self.arms.datasets(arm)
        by_task = [self.arms.settings(task, arm) for task in self.arms.tasks(arm)]
        contexts = sorted({one["context"] for one in by_task})
        return [
            arm,
            "all" if tables == self.config["datasets"] else ", ".join(tables),
            settings["learning_rate"],
            by_task[0]["queries"],
            ", ".join(map(str, contexts)),
            settings["labels"],
            ", ".join(map(str, by_task[0]["epochs"])),
            settings["pairs"],
            "one for all" if settings["joint"] else "one a table",
            _as_text(settings["adapter"]) if settings["adapter"] else "all weights",
            _as_text(settings["private"]) if settings["private"] else "none",
            ", ".join(
                f"{name.replace('_', ' ')} {settings[name]}".removesuffix(" True") for name in FURTHER if settings[name]
            ),
        ]

    def _probe_rows(self) -> list[list[str]]:
        """Lines of the paper's Table 2 that all arms share."""
        config, labels = self.config, dict.fromkeys(settings["labels"] for settings in self.arms.used.values())
        fprs = " and ".join(f"{100 * fpr:g} %" for fpr in config["fpr"])
        many = f"a row for each class, or {config['candidates']} numbers, times a manipulation's factors"
        return [
            ["fine-tuning", "labels of context rows", "uniform over classes, or over bins of numbers"],
            ["fine-tuning", "labels of queries", "as in the source"],
            ["fine-tuning", "randomization of labels", ", ".join(labels)],
            ["probing", "reference model", "the base model"],
            ["probing", "context size", many],
            ["probing", "query", f"one row, {config['copies']} times"],
            ["probing", "manipulations", f"{len(config['manipulations'])}"],
            ["probing", "signals of an answer", "cross-entropy loss, entropy, confidence"],
            ["probing", "metrics", f"AUC and TPR at {fprs} FPR of dS, accuracy or R2"],
        ]

    def _table_row(self, dataset: str) -> list[str]:
        entry = self.run.config["datasets"][dataset]
        return [dataset, entry["target"] or "as in its source", entry["task"], self.arms.model(dataset)]

    def _targets(self, queries: int) -> int:
        """Records of a split that are probed: query members, as many non-members, and context rows."""
        return 2 * queries + self.config["targets"]["context"]

    def probe_work(self, dataset: str, queries: int) -> float:
        """Operations of one probe of a split's targets; manipulations that repeat others are few."""
        contexts = self._targets(queries) * len(self.config["manipulations"]) * self.config["copies"]
        model, rows = self.run.passes(self.arms.model(dataset)), PROBE_CONTEXT
        if self.run.config["datasets"][dataset]["task"] == "regression":
            rows = max(rows, rows * self.config["candidates"] // OF_CANDIDATES)
        return contexts * model.operations(rows, 1, self.run.table_size(dataset)["columns"])

    def _reference_size(self, dataset: str) -> Size:
        queries, splits = self.arms.probed_count(dataset), self.config["splits"]
        answers = splits * self._targets(queries) * len(self.config["manipulations"])
        return size(splits * self.probe_work(dataset, queries), answers, 0)

    def _tuned_size(self, task: str, arm: str, shard: int) -> Size:
        """Steps, each a forward pass and twice as much backward, and the probes."""
        settings, work, forward, answers = self.arms.settings(task, arm), 0, 0, 0
        model, probes = self.run.passes(settings["model"]), len(settings["epochs"])
        probed = self.arms.probed(settings["queries"])
        for dataset in self.arms.tables(task, arm):
            rows = settings["queries"] + ((settings["copies"] or 1) - 1) * probed
            shape = (settings["context"], rows, self.run.table_size(dataset)["columns"])
            work += 3 * settings["epochs"][-1] * model.operations(*shape)
            work += probes * self.probe_work(dataset, probed)
            forward = max(forward, model.memory_bytes(*shape))
            answers += probes * self._targets(probed) * len(self.config["manipulations"])
        each = self.arms.splits_per_job(arm)
        here = min(each, self.config["splits"] - shard * each)
        # A step keeps what the backward pass needs of every block.
        return size(here * work, here * answers, 0, 2 * forward)

    def _judge_size(self, task: str) -> Size:
        """Runs of a task, each with its permutations and replicates over the targets."""
        by_arm = {arm: self.arms.settings(task, arm) for arm in self.arms.arms_of(task)}
        runs = sum(len(one["epochs"]) * len(self.arms.tables(task, arm)) for arm, one in by_arm.items())
        runs *= self.config["splits"]
        return size(runs * (self.config["permutations"] + self.config["replicates"]), runs, 0)

    def _decide_size(self) -> Size:
        sizes = [self._judge_size(task) for task in self.arms.all_tasks]
        runs = sum(one.written for one in sizes)
        tests, permutations = TESTED * runs / self.config["splits"], self.config["permutations"]
        memory = PERMUTED * runs * permutations + JOINT * tests * max(permutations, tests / LEVEL)
        return size(sum(one.work for one in sizes), runs, 0, memory)


def _reference(dataset: str, labels: str) -> str:
    return f"<results>/signals/iclmem/{dataset}/reference_{labels}.nc"


def _manipulation_row(manipulation: dict[str, Any]) -> list[str]:
    steps = ", ".join(map(_as_text, manipulation["steps"]))
    return [manipulation["name"], manipulation["category"].replace("_", " "), steps]


def _as_text(settings: Any) -> str:
    """Settings of the config as a text: {"labels": 2, "factor": 3} is "labels 2 factor 3"."""
    if not isinstance(settings, dict):
        return str(settings)
    return " ".join(f"{key} {_as_text(value)}" for key, value in settings.items())
