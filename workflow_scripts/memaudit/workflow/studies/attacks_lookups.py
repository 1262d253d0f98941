"""Look-ups of rules/attacks/: arms of the config, and their grids and results."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from memaudit.workflow.job_costs import size
from memaudit.workflow.run_config import RunConfig, shards
from memaudit.workflow.studies.attacks_sizes import AttackSizes
from memaudit.workflow.study import Sizes, Study

# Arms that the comparison of mitigations needs.
MAIN = "main"
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
        self._size = AttackSizes(self)
        self.present = bool(self.config["datasets"])
        self.datasets = self.config["datasets"]
        used = [arm["model"] for arm in self.config["arms"].values()]
        used += [self.seen_inside] if self.attended else []
        self.models = list(dict.fromkeys(used))
        self.compared = [name for name in self.config["families"]["datasets"] if name in self.datasets]
        # Tables that have the arms of which mitigations are compared.
        self.defended = [name for name in self.datasets if {*self.arms(name)} >= NEEDED_FOR_MITIGATIONS]

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
        return {
            "models": self.run.model_rows(self.models + self.fitted),
            "datasets": self.datasets,
            "families": self.compared,
            "metrics": ["auc", *(f"tpr@{fpr:g}" for fpr in self.config["fpr"])],
        }

    def arm(self, key: str) -> Callable:
        """A params function: this key of an arm's entry."""
        return lambda wildcards: self.config["arms"][wildcards.arm][key]

    def arms(self, dataset: str, among: Iterable[str] | None = None) -> list[str]:
        """Arms that a table has, of all arms or among these."""
        entries = self.config["arms"]
        return [arm for arm in among or entries if dataset in (entries[arm]["datasets"] or self.datasets)]

    def drawn_by(self, dataset: str, arm: str) -> str:
        """The arm whose drawn contexts an arm takes: its own, or the first with the same variants and as many sets.

        Random streams are named after population and size, not after the arm, and fewer contexts are the first of more.
        """
        entries = self.config["arms"]
        if arm == "main" or arm not in self.arms(dataset):
            return arm
        wanted = entries[arm]
        return next(
            name
            for name in self.arms(dataset)
            if entries[name]["variants"] == wanted["variants"] and entries[name]["sets"] >= wanted["sets"]
        )

    def design(self, wildcards) -> str:
        """An input function: the drawn contexts that an arm takes."""
        drawn = self.drawn_by(wildcards.dataset, wildcards.arm)
        return f"<results>/signals/attacks/{wildcards.dataset}/designs/{drawn}.nc"

    def poisoned_arms(self, dataset: str) -> list[str]:
        """Arms of a table whose contexts are poisoned; none of a table that `active/datasets` leaves out."""
        active = self.config["active"]
        return self.arms(dataset, active["arms"]) if dataset in (active["datasets"] or self.datasets) else []

    def attacked_arms(self, wildcards) -> dict[str, dict[str, Any]]:
        """Model and mode of `main`, whose attacks are compared, and of each arm of a table that is poisoned."""
        poisoned = self.poisoned_arms(wildcards.dataset)
        entries = self._arm_models(poisoned or [MAIN])
        return entries if poisoned else {MAIN: entries[MAIN] | {"poisoned": False}}

    def arm_models(self, among: Iterable[str]) -> Callable:
        """A params function: model and mode of those of these arms that a table has."""
        return lambda wildcards: self._arm_models(self.arms(wildcards.dataset, among))

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
        return lambda wildcards: f"<results>/models/{self._seen_inside(wildcards.arm)}/{file}"

    def ranks(self, wildcards) -> str | list[str]:
        """Ranks of the most vulnerable records, for arms that protect these records."""
        return f"<results>/scores/attacks/{wildcards.dataset}/ranks.parquet" if self._layered(wildcards.arm) else []

    def layer(self, wildcards) -> int | None:
        """Number of the most vulnerable records that such an arm protects."""
        return self.config["layer"] if self._layered(wildcards.arm) else None

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
        return self._shard_files(arm, arm, self.contexts_of(arm), self.config["shard"])

    def grids(self, arms: Iterable[str]) -> dict[str, Callable]:
        """Input functions: shards of the grid of each of these arms."""
        return {arm: self.grid(arm) for arm in arms}

    def poisoned(self, arm: str) -> Callable:
        """An input function: shards of an arm's poisoned grid; [] for a table where it is not poisoned."""
        files = self._shard_files(arm, f"poisoned/{arm}", self.poisoned_sets(arm), self.config["active"]["shard"])
        return lambda wildcards: files(wildcards) if arm in self.poisoned_arms(wildcards.dataset) else []

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

    @property
    def attended(self) -> list[str]:
        """Tables whose attention is read."""
        return [name for name in self.config["attention"]["datasets"] if name in self.datasets]

    @property
    def seen_inside(self) -> str:
        """The model whose attention is read."""
        return self.config["attention"]["model"] or self.config["arms"]["main"]["model"]

    def attention(self, arm: str) -> Callable:
        """An input function: shards of the attention on an arm's contexts; [] for a table without it."""
        return lambda wildcards: [
            f"<results>/signals/attacks/{wildcards.dataset}/attention/{arm}/{shard}.nc"
            for shard in self._attention_shards(arm)
            if arm in self._arms_seen_inside(wildcards.dataset)
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
                for arm in dict.fromkeys(self.drawn_by(name, arm) for arm in self.arms(name))
            },
            "attacks_query_contexts": {
                f"{name}/{arm}/{shard}": self._size.queried(name, arm, shard)
                for name in self.datasets
                for arm in self.arms(name)
                for shard in shards(self.contexts_of(arm), self.config["shard"])
            },
            "attacks_query_perturbed": {
                f"{name}/{shard}": self._size.perturbed(name)
                for name in filter(self.is_perturbed, self.datasets)
                for shard in self._perturbed_shards()
            },
            "attacks_query_attention": {
                f"{name}/{arm}/{shard}": self._size.attention(name, arm)
                for name in self.attended
                for arm in self._arms_seen_inside(name)
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
                for arm in self.poisoned_arms(name)
                for shard in shards(self.poisoned_sets(arm), self.config["active"]["shard"])
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
        return self.asked_memory(self._size.queried(name, arm, 0) for name in self.datasets for arm in self.arms(name))

    def model_uses(self) -> dict[str, list[dict[str, Any]]]:
        if not self.present:
            return {}
        uses: dict[str, list[dict[str, Any]]] = {model: [] for model in self.models}
        for arm, entry in self.config["arms"].items():
            uses[entry["model"]] += [self._use(name, arm) for name in self.datasets if arm in self.arms(name)]
        if self.attended and self.config["attention"]["model"]:
            uses[self.seen_inside] += [self._use(name, MAIN) for name in self.attended]
        return uses

    def faults(self) -> Iterator[str]:
        """Contexts of fixed size are drawn from twice as many members (studies/attacks/context_draws.py)."""
        for dataset in self.datasets:
            if (records := self.run.most_records(dataset)) is None:
                continue
            members = min(records, self.sides(dataset)[0])
            for arm in self.arms(dataset):
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
            if arm in self.arms(wildcards.dataset)
        ]

    def _perturbed_shards(self) -> range:
        return shards(self.config["perturbation"]["sets"], self.config["perturbation"]["shard"])

    def _arms_seen_inside(self, dataset: str) -> list[str]:
        """Arms whose attention is read: `main`, and those with a variant that changes keys."""
        if dataset not in self.attended:
            return []
        return [arm for arm in self.arms(dataset) if arm == MAIN or self._changed_keys(arm)]

    def _seen_inside(self, arm: str) -> str:
        return self.seen_inside if arm == MAIN else self.config["arms"][arm]["model"]

    def _changed_keys(self, arm: str) -> int:
        """Number of an arm's variants that change keys."""
        return sum(variant["keys"] is not None for variant in self.config["arms"][arm]["variants"])

    def attention_sets(self, arm: str) -> int:
        """Contexts of an arm whose attention is read."""
        return min(self.config["attention"]["sets"], self.config["arms"][arm]["sets"]) * (1 + self._changed_keys(arm))

    def _attention_shards(self, arm: str) -> range:
        return shards(self.attention_sets(arm), self.config["attention"]["shard"])

    def _attribute_shards(self) -> range:
        return shards(self.config["inference"]["sets"], self.config["shard"])

    def _layered(self, arm: str) -> bool:
        """Whether a variant of an arm protects a layer: the most vulnerable records."""
        return any(variant["layer"] for variant in self.config["arms"][arm]["variants"])

    def contexts_of(self, arm: str) -> int:
        """Contexts of an arm: one for each shadow context and variant."""
        return self.config["arms"][arm]["sets"] * len(self.config["arms"][arm]["variants"])

    def poisoned_sets(self, arm: str) -> int:
        """Shadow contexts of an arm that are poisoned: all of them, if it has fewer."""
        return min(self.config["active"]["sets"], self.config["arms"][arm]["sets"])

    def sides(self, dataset: str) -> list[int]:
        return self.run.side_sizes(dataset, self.config["split"])

    def _use(self, dataset: str, arm: str) -> dict[str, Any]:
        """The largest context that an arm asks its model about, with the most poisons."""
        contexts, active = list(self._size.contexts(dataset, arm)), self.config["active"]
        poisons = max(active["most"], *active["budgets"]) if arm in self.poisoned_arms(dataset) else 0
        known = self.run.table_size(dataset)["known"]
        # A TabICL is asked about many classes as a hierarchy (memaudit/models/class_hierarchy.py).
        hierarchy = self.run.config["models"][self.config["arms"][arm]["model"]]["family"] == "tabicl"
        return {
            "where": f"attacks/arms/{arm}, data set {dataset}",
            "rows": max(context.rows for context in contexts) + poisons,
            "features": max(context.columns for context in contexts) if known else None,
            **({} if hierarchy else self.known_classes(dataset)),
        }
