"""Methods of the study tabpate: those of the config, ablations of one of them, and the releases that each table has."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

# What each method makes: contexts for a student, answers of its own, or records of another environment's synthesizer.
MAKES = {
    "contexts": ("tabpate", "tabpate-tuned", "class-moments", "prompt-pate", "dp-tabicl"),
    "answers": ("query-time", "dp-sgd", "dp-linear"),
    "synthetic": ("aim", "mst"),
}
# Those whose labels a budget pays for one by one, or all at once.
LABELLED = ("tabpate", "tabpate-tuned", "class-moments", "prompt-pate")
# Table 11 of the paper: a method's name, whether it needs public data, and what it releases.
DEFENCES = {
    "tabpate": ("TabPATE", "no", "a context"),
    "tabpate-tuned": ("TabPATE, its alpha chosen at a price", "no", "a context"),
    "class-moments": ("class-moments (no teacher is queried; not in the paper)", "no", "a context"),
    "prompt-pate": ("PromptPATE", "unlabelled records of the same distribution", "a context"),
    "query-time": ("Query-Time", "no", "answers only"),
    "dp-tabicl": ("DP-TabICL", "no", "a context"),
    "dp-sgd": ("DP-SGD (RealMLP)", "no", "a network"),
    "dp-linear": ("DP logistic or linear regression", "no", "a model"),
    "mst": ("DP-Synthetic (MST)", "no", "a context"),
    "aim": ("DP-Synthetic (AIM)", "no", "a context"),
}
# What the budget of each method is spent on; TabPATE's depends on its settings.
SPENT_ON = {
    "tabpate-tuned": "moments and labels of every candidate and the choice",
    "class-moments": "moments of each class",
    "prompt-pate": "labels",
    "query-time": "every answer",
    "dp-tabicl": "means of records",
    "dp-sgd": "steps of training",
    "dp-linear": "steps of training",
    "mst": "marginals",
    "aim": "marginals",
}
LABELS_SPEND = {"votes": ["labels"], "group": [], "learned": ["a classifier"]}
Method = Mapping[str, Any]


class Methods:
    """The methods of a run, by name.

    section: the config's `tabpate`; tasks: of its tables; tuned: `arms` of a file of tuned settings, by arm, task and
    epsilon.
    """

    def __init__(
        self, section: Mapping[str, Any], tasks: Mapping[str, str] | None = None, tuned: Mapping[str, Any] | None = None
    ):
        self._section, self._tasks, self._tuned = section, tasks or {}, tuned or {}
        self.compared: dict[str, Method] = section["arms"]

    @cached_property
    def varied(self) -> dict[str, Method]:
        """Methods of the ablations: the base with one setting changed, called by both."""
        ablations = self._section["ablations"]
        base = self.compared[ablations["base"]]
        shared = {key: ablations[key] for key in ("datasets", "epsilons")}
        varied = {}
        for key, values in ablations["vary"].items():
            for value in values:
                changed = {key: value} | ({"prior": "moments"} if key == "alpha" else {})
                settings = {"settings": base["settings"] | changed, "changed": changed}
                varied[f"{ablations['base']} {key} {value}"] = base | shared | settings
        return varied

    @cached_property
    def all(self) -> dict[str, Method]:
        """Methods of the comparison and of the ablations."""
        return self.compared | self.varied

    @property
    def labelled(self) -> list[str]:
        """Methods of the comparison that release labels."""
        return [name for name, one in self.compared.items() if one["method"] in LABELLED]

    @property
    def by_queries(self) -> list[str]:
        """Methods that are compared by where their queries come from."""
        own = {*self.compared, *(name for name in self.varied if name.split()[1] in ("prior", "alpha"))}
        return [
            name
            for name, one in self.all.items()
            if one["method"] in ("tabpate", "class-moments") and not one["held_out"] and name in own
        ]

    @property
    def overview(self) -> list[list[str]]:
        """For each method of the comparison: what it is, needs, releases and pays for, and its settings."""
        return [
            [name, *DEFENCES[one["method"]], _spent_on(one), self._settings_text(one)]
            for name, one in self.compared.items()
        ]

    def entry(self, name: str, dataset: str = "") -> dict[str, Any]:
        """What scripts need of a method on a table; `by_epsilon`: tuned settings, where it has some.

        Of two values of a setting, that of an ablation counts, then that of the table, then the tuned one.
        """
        one = self.all[name]
        own = dict(one.get("by_dataset", {}).get(dataset, {})) | one.get("changed", {})
        entry = {"method": one["method"], "held_out": one["held_out"], "settings": one["settings"] | own}
        tuned = self._tuned.get(one.get("tuned"), {}).get(self._tasks.get(dataset), {})
        at = {epsilon: found["settings"] | own for epsilon, found in tuned.items()}
        return entry | ({"by_epsilon": at} if at else {})

    def settings(self, name: str, dataset: str, epsilon: float) -> dict[str, Any]:
        """Settings of a method on a table at an epsilon."""
        entry = self.entry(name, dataset)
        return {**entry["settings"], **entry.get("by_epsilon", {}).get(f"{epsilon:g}", {})}

    def making(self, kind: str, dataset: str = "") -> dict[str, dict[str, Any]]:
        """Entries of the methods that make `contexts`, `answers` or `synthetic` records on a table, by name."""
        return {name: self.entry(name, dataset) for name, one in self.all.items() if one["method"] in MAKES[kind]}

    def releases(self, dataset: str, kind: str) -> list[list[Any]]:
        """Method, epsilon and repeat of every release of a table."""
        return [[*pair, repeat] for pair in self._pairs(dataset, kind) for repeat in range(self._section["repeats"])]

    def synthetic(self, dataset: str) -> list[tuple[str, float]]:
        """Method and epsilon of every synthesis of a table, which serves all repeats."""
        return list(dict.fromkeys(self._pairs(dataset, "synthetic")))

    def _settings_text(self, method: Method) -> str:
        """Settings of a method in words; tuned ones by task and epsilon."""
        tuned = self._tuned.get(method.get("tuned"), {})
        parts = [
            f"{task}, epsilon {epsilon}: {_text(method['settings'] | found['settings'])}"
            for task in dict.fromkeys(self._tasks.values())
            for epsilon, found in tuned.get(task, {}).items()
        ]
        return "; ".join(parts) or _text(method["settings"])

    def _pairs(self, dataset: str, kind: str) -> Iterator[tuple[str, float]]:
        for name in self.making(kind):
            one = self.all[name]
            if (one["datasets"] is None or dataset in one["datasets"]) and dataset not in one.get("chosen_on", ()):
                yield from ((name, epsilon) for epsilon in one["epsilons"] or self._section["epsilons"])


def _spent_on(method: Method) -> str:
    if method["method"] != "tabpate":
        return SPENT_ON[method["method"]]
    spent = ["moments"] if method["settings"]["alpha"] else []
    return " and ".join(spent + LABELS_SPEND[method["settings"]["labels"]])


def _text(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in settings.items() if value not in (None, False))
