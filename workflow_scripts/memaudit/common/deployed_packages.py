"""The packages of tabular models besides TabICL and TabPFN that are used as deployed, and what each takes.

A row says where a package is installed, how its weights look, what it takes and what it answers. The calls of its
own classes stand in `package_adapters`, which also runs in the environments of packages that clash with this one. The
config's check reads the rows, too: standard library only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

VIEWS = {"seed": 0, "n_estimators": None}  # None: the package's own default
BOTH = ("classification", "regression")


@dataclass(frozen=True)
class Package:
    """How a package is found, opened and queried.

    distribution, version: as pip knows it; the version is the one of the lock, and no other is used. environment: the
    virtual environment that has it where it clashes with requirements.lock, None: it does not. adapter: its class in
    `package_adapters`. folder: weights are a folder (config.json and model.safetensors) instead of a file. limits: see
    Limits of model_protocol. versions: networks of the package, of which a card has to name one. alone: no query can
    change another one's answer, so that there is no option `queries`. options: with the value that each has by default.
    """

    distribution: str
    version: str
    adapter: str
    tasks: tuple[str, ...]
    limits: Mapping[str, int] = field(default_factory=dict)
    environment: str | None = None
    folder: bool = False
    versions: tuple[str, ...] = ()
    alone: bool = True
    options: Mapping[str, Any] = field(default_factory=lambda: VIEWS)


PACKAGES = {
    "tabdpt": Package("tabdpt", "1.3.1", "TabDPT", BOTH, environment=".venv-deployed"),
    "mitra": Package(
        "autogluon.tabular",
        "1.6.3",
        "Mitra",
        # The head of its regressor gives a number without a distribution.
        tasks=("classification",),
        limits={"rows": 10_000, "features": 500, "classes": 10},
        environment=".venv-deployed",
        folder=True,
        alone=False,
        options=VIEWS | {"fine_tune": True, "queries": "together"},
    ),
    "sdm": Package(
        "structured-data-models",
        "0.2.1",
        "StructuredDataModel",
        BOTH,
        versions=("tabicl-v2", "kumo-small", "kumo-medium", "kumo-large"),
    ),
    "tabfm": Package(
        "tabfm",
        "1.0.1",
        "TabFM",
        tasks=("classification",),  # as Mitra
        limits={"classes": 10},
        folder=True,
    ),
}
LEAST = {"seed": 0, "n_estimators": 1}
QUERIES = ("together", "alone")


def has_folder(family: str) -> bool:
    """Whether the weights of a family of these packages are a folder, and not a file."""
    return family in PACKAGES and PACKAGES[family].folder


def faults(family: str, task: str, version: str | None, options: Mapping[str, Any]) -> Iterator[str]:
    """What a package does not have that an entry of the catalogue names: its key and a remedy."""
    package = PACKAGES[family]
    if task not in package.tasks:
        yield f"task: {package.distribution} predicts no distribution of numbers; take tabdpt, sdm, tabicl or tabpfn"
    if version is None and package.versions:
        yield f"version: name the network, one of {', '.join(package.versions)}"
    for name, value in options.items():
        if name not in package.options:
            yield f"options/{name}: {package.distribution} has {', '.join(package.options)}"
        elif name in LEAST and not (type(value) is int and value >= LEAST[name]):
            yield f"options/{name}: {value!r}; set a whole number from {LEAST[name]} on"
        elif name == "queries" and value not in QUERIES:
            yield f"options/{name}: {value!r}; set one of {', '.join(QUERIES)}"
        elif name == "fine_tune" and not isinstance(value, bool):
            yield f"options/{name}: {value!r}; set true or false"
