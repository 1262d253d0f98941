"""Look-ups of rules/attacks/: arms of the config, and their grids and results."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from memaudit.workflow.job_costs import size
from memaudit.workflow.run_config import RunConfig, shards
from memaudit.workflow.studies.attacks_arms import MAIN, Arms
from memaudit.workflow.studies.attacks_sizes import AttackSizes
from memaudit.workflow.study import Sizes, Study

# Arms that the comparison of mitigations needs.
NEEDED_FOR_MITIGATIONS = {"settings", "defended"}


class Attacks(Study):
    """Attacks on in-context learning: one grid of shadow contexts for each arm and table."""

    name = "attacks"
    made_together = (
        frozenset({"attacks", "roc", "ablations"}),
        frozenset({"risk", "map"}),
        frozenset({"inference", "inference_roc"}),
    )

    def __init__(self, run: RunConfig):
        super().__init__(run)
        self.arms = Arms(self.config)
        self._size = AttackSizes(self)
        self.present = bool(self.config["datasets"])
        self.datasets = self.config["datasets"]
        used = [arm["model"] for arm in self.config["arms"].values()]
        used += [self.arms.attended_model()] if self.arms.attended else []
        self.models = list(dict.fromkeys(used))
        self.compared = [name for name in self.config["families"]["datasets"] if name in self.datasets]
        # Tables that have the arms of which mitigations are compared.
        self.defended = [name for name in self.datasets if {*self.arms.of_table(name)} >= NEEDED_FOR_MITIGATIONS]

    @property
    def results(self) -> dict[str, list[str]]:
        kinds = ("attacks", "roc", "ablations", "settings", "risk", "map", "inference", "inference_roc")
        return {
            **{kind: [f"<results>/scores/attacks/{name}/{kind}.parquet" for name in self.datasets] for kind in kinds},
            "mitigations": [f"<results>/scores/attacks/{name}/mitigations.parquet" for name in self.defended],
            "families": [f"<results>/scores/attacks/{name}/families.parquet" for name in self.compared],
            "family_means": list(self.family_means.values()),
            "average": ["<results>/scores/attacks/average.parquet"],
        }

    @property
    def names(self) -> dict[str, Any]:
        variants = self.config["arms"]["settings"]["variants"]
        return {
            "models": self.run.model_rows(self.models + self.fitted),
            "datasets": self.datasets,
            "families": self.compared,
            "resized": [one for one in variants if one["context"] or one["copies"] > 1],
            "metrics": ["auc", *(f"tpr@{fpr:g}" for fpr in self.config["fpr"])],
        }

    def arm(self, key: str) -> Callable:
        """A params function: this key of an arm's entry."""
        return lambda wildcards: self.config["arms"][wildcards.arm][key]

    def design(self, wildcards) -> str:
        """An input function: the drawn contexts that an arm takes."""
        drawn = self.arms.drawn_by(wildcards.dataset, wildcards.arm)
        return f"<results>/signals/attacks/{wildcards.dataset}/designs/{drawn}.nc"

    def attacked_arms(self, wildcards) -> dict[str, dict[str, Any]]:
        """Model and mode of `main`, whose attacks are compared, and of each arm of a table that is poisoned."""
        poisoned = self.arms.poisoned(wildcards.dataset)
        entries = self._arm_models(poisoned or [MAIN])
        return entries if poisoned else {MAIN: entries[MAIN] | {"poisoned": False}}

    def arm_models(self, among: Iterable[str]) -> Callable:
        """A params function: model and mode of those of these arms that a table has."""
        return lambda wildcards: self._arm_models(self.arms.of_table(wildcards.dataset, among))

    def _arm_models(self, arms: Iterable[str]) -> dict[str, dict[str, Any]]:
        models = {arm: self.config["arms"][arm]["model"] for arm in arms}
        return {arm: {"model": name, "mode": self.run.config["models"][name]["mode"]} for arm, name in models.items()}

    def model_file(self, arm: str, file: str) -> str:
        """A file of the model of an arm."""
        return f"<results>/models/{self.config['arms'][arm]['model']}/{file}"

    def model(self, file: str) -> Callable:
        """An input function: this file of the model of an arm."""
        return lambda wildcards: self.model_file(wildcards.arm, file)

    def model_inside(self, file: str) -> Callable:
        """An input function: this file of the model whose attention is read in the contexts of an arm."""
        return lambda wildcards: f"<results>/models/{self.arms.attended_model(wildcards.arm)}/{file}"

    def ranks(self, wildcards) -> str | list[str]:
        """Ranks of the most vulnerable records, for arms that protect these records."""
        protects = self.arms.protects(wildcards.arm)
        return f"<results>/scores/attacks/{wildcards.dataset}/ranks.parquet" if protects else []

    def layer(self, wildcards) -> int | None:
        """Number of the most vulnerable records that such an arm protects."""
        return self.config["layer"] if self.arms.protects(wildcards.arm) else None

    def sensitive(self, wildcards) -> Any:
        """The sensitive column of a table."""
        return self.config["inference"]["sensitive"][wildcards.dataset]

    def poisoning(self) -> dict[str, Any]:
        """How contexts are poisoned."""
        return {key: value for key, value in self.config["active"].items() if key not in ("arms", "datasets")}

    def attribute_inference(self) -> dict[str, Any]:
        """How values of a sensitive column are queried."""
        return {key: self.config["inference"][key] for key in ("sensitive", "levels", "sets")}

    def grid(self, arm: str) -> Callable:
        """An input function: shards of an arm's grid; [] for a table without this arm."""
        return self._shard_files(arm, arm, self.arms.contexts(arm), self.config["shard"])

    def grids(self, arms: Iterable[str]) -> dict[str, Callable]:
        """Input functions: shards of the grid of each of these arms."""
        return {arm: self.grid(arm) for arm in arms}

    def poisoned(self, arm: str) -> Callable:
        """An input function: shards of an arm's poisoned grid; [] for a table where it is not poisoned."""
        files = self._shard_files(arm, f"poisoned/{arm}", self.arms.poisoned_sets(arm), self.config["active"]["shard"])
        return lambda wildcards: files(wildcards) if arm in self.arms.poisoned(wildcards.dataset) else []

    def poisoned_grids(self) -> dict[str, Callable]:
        """Input functions: shards of the poisoned grid of each arm that has one."""
        return {f"poisoned_{arm}": self.poisoned(arm) for arm in self.config["active"]["arms"]}

    def keys(self, *keys: str) -> dict[str, Any]:
        """These keys of the study's section, as params; without the tables of noisy copies, which change no other's."""
        return super().keys(*keys) | ({"perturbation": self.perturbing()} if "perturbation" in keys else {})

    def perturbing(self) -> dict[str, Any]:
        """How targets are perturbed."""
        return {key: value for key, value in self.config["perturbation"].items() if key != "datasets"}

    def is_perturbed(self, dataset: str) -> bool:
        """False where the target is a number, which has no labels, and where `perturbation/datasets` leaves it out."""
        chosen = self.config["perturbation"]["datasets"] or self.datasets
        return dataset in chosen and self.run.config["datasets"][dataset]["task"] != "regression"

    def perturbed(self, wildcards) -> list[str]:
        """Shards of the answers for perturbed targets; [] for a table without them."""
        if not self.is_perturbed(wildcards.dataset):
            return []
        folder = f"<results>/signals/attacks/{wildcards.dataset}/perturbed"
        return [f"{folder}/{shard}.nc" for shard in self._perturbed_shards()]

    def attention(self, arm: str) -> Callable:
        """An input function: shards of the attention on an arm's contexts; [] for a table without it."""
        return lambda wildcards: [
            f"<results>/signals/attacks/{wildcards.dataset}/attention/{arm}/{shard}.nc"
            for shard in self._attention_shards(arm)
            if arm in self.arms.attended_by(wildcards.dataset)
        ]

    def attribute(self, wildcards) -> list[str]:
        """Shards of the answers for values of the sensitive column."""
        folder = f"<results>/signals/attacks/{wildcards.dataset}/attribute"
        return [f"{folder}/{shard}.nc" for shard in self._attribute_shards()]

    @property
    def family_means(self) -> dict[str, str]:
        """The file of the means of families over tables, by the name of the output; {} where none are compared."""
        return {"families": "<results>/scores/attacks/families.parquet"} if self.compared else {}

    @property
    def fitted(self) -> list[str]:
        """Estimators that are fitted on the contexts of `main`, to be compared with its model."""
        return self.config["families"]["models"] if self.compared else []

    def fits(self, wildcards) -> list[str]:
        """Answers of these estimators on a table; [] where only arms are compared."""
        return [f"<results>/signals/attacks/{wildcards.dataset}/families.nc"] if self.fitted else []

    def estimators(self) -> dict[str, dict[str, Any]]:
        """Entries of these estimators in the catalogue."""
        return {name: self.run.model_entry(name) for name in self.fitted}

    def family_grids(self) -> dict[str, Callable]:
        """Input functions: shards of the grid of each arm that is compared as a family."""
        return self.grids([MAIN, *(self.config["families"]["arms"] if self.compared else [])])

    def sizes(self) -> Sizes:
        if not self.present:
            return {}
        evaluated = ("compare_attacks", "compare_settings", "rank_records", "evaluate_inference")
        return {
            **self.data_sizes(self.datasets, [self.config["split"]]),
            **self.fetch_sizes(self.models),
            "attacks_draw_contexts": {
                f"{name}/{arm}": self._size.drawn(name, arm)
                for name in self.datasets
                for arm in dict.fromkeys(self.arms.drawn_by(name, arm) for arm in self.arms.of_table(name))
            },
            "attacks_query_contexts": {
                f"{name}/{arm}/{shard}": self._size.queried(name, arm, shard)
                for name in self.datasets
                for arm in self.arms.of_table(name)
                for shard in shards(self.arms.contexts(arm), self.config["shard"])
            },
            "attacks_query_perturbed": {
                f"{name}/{shard}": self._size.perturbed(name)
                for name in filter(self.is_perturbed, self.datasets)
                for shard in self._perturbed_shards()
            },
            "attacks_query_attention": {
                f"{name}/{arm}/{shard}": self._size.attention(name, arm)
                for name in self.arms.attended
                for arm in self.arms.attended_by(name)
                for shard in self._attention_shards(arm)
            },
            "attacks_query_attribute": {
                f"{name}/{shard}": self._size.attribute(name)
                for name in self.datasets
                for shard in self._attribute_shards()
            },
            "attacks_query_poisoned": {
                f"{name}/{arm}/{shard}": self._size.poisoned(name, arm)
                for name in self.datasets
                for arm in self.arms.poisoned(name)
                for shard in shards(self.arms.poisoned_sets(arm), self.config["active"]["shard"])
            },
            **{f"attacks_{rule}": {name: self._size.scored(name) for name in self.datasets} for rule in evaluated},
            "attacks_compare_mitigations": {name: self._size.scored(name) for name in self.defended},
            "attacks_fit_families": {name: self._size.fitted(name) for name in self.compared if self.fitted},
            "attacks_compare_families": {name: self._size.compared(name) for name in self.compared},
            "attacks_average_datasets": {"": size(0)},
        }

    @cached_property
    def memory(self) -> int:
        """MB of a job that queries contexts."""
        arms = [(name, arm) for name in self.datasets for arm in self.arms.of_table(name)]
        return self.asked_memory(self._size.queried(name, arm, 0) for name, arm in arms)

    def model_uses(self) -> dict[str, list[dict[str, Any]]]:
        if not self.present:
            return {}
        uses: dict[str, list[dict[str, Any]]] = {model: [] for model in self.models}
        for arm, entry in self.config["arms"].items():
            uses[entry["model"]] += [self._use(name, arm) for name in self.datasets if arm in self.arms.of_table(name)]
        if self.arms.attended and self.config["attention"]["model"]:
            uses[self.arms.attended_model()] += [self._use(name, MAIN) for name in self.arms.attended]
        return uses

    def faults(self) -> Iterator[str]:
        """Contexts of fixed size are drawn from twice as many members (studies/attacks/context_draws.py)."""
        for dataset in self.datasets:
            if (records := self.run.most_records(dataset)) is None:
                continue
            members = min(records, self.sides(dataset)[0])
            for arm in self.arms.of_table(dataset):
                most = max(2 * (variant["context"] or 0) for variant in self.config["arms"][arm]["variants"])
                if most > members:
                    yield (
                        f"attacks/arms/{arm}/variants: contexts are drawn from {most} members, {dataset} has at most "
                        f"{members}; take smaller ones, or leave it out of attacks/arms/{arm}/datasets"
                    )

    def shadows(self) -> dict[str, Any] | None:
        if not self.present:
            return None
        records = {name: self.sides(name)[0] for name in self.datasets}
        return {"models": self.config["sets"], "fpr": self.config["fpr"], "records": records}

    def _shard_files(self, arm: str, folder: str, contexts: int, shard: int) -> Callable:
        return lambda wildcards: [
            f"<results>/signals/attacks/{wildcards.dataset}/{folder}/{number}.nc"
            for number in shards(contexts, shard)
            if arm in self.arms.of_table(wildcards.dataset)
        ]

    def _perturbed_shards(self) -> range:
        return shards(self.config["perturbation"]["sets"], self.config["perturbation"]["shard"])

    def _attention_shards(self, arm: str) -> range:
        return shards(self.arms.attended_sets(arm), self.config["attention"]["shard"])

    def _attribute_shards(self) -> range:
        return shards(self.config["inference"]["sets"], self.config["shard"])

    def sides(self, dataset: str) -> list[int]:
        return self.run.side_sizes(dataset, self.config["split"])

    def _use(self, dataset: str, arm: str) -> dict[str, Any]:
        """The largest context that an arm asks its model about, with the most poisons."""
        contexts, active = list(self._size.contexts(dataset, arm)), self.config["active"]
        poisons = max(active["most"], *active["budgets"]) if arm in self.arms.poisoned(dataset) else 0
        known = self.run.table_size(dataset)["known"]
        # A TabICL is asked about many classes as a hierarchy (memaudit/models/class_hierarchy.py).
        hierarchy = self.run.config["models"][self.config["arms"][arm]["model"]]["family"] == "tabicl"
        return {
            "where": f"attacks/arms/{arm}, data set {dataset}",
            "rows": max(context.rows for context in contexts) + poisons,
            "features": max(context.columns for context in contexts) if known else None,
            **({} if hierarchy else self.known_classes(dataset)),
        }
