"""The packages of tabular models besides TabICL and TabPFN that are used as deployed, and what each takes.

A row says where a package is installed, how its weights look, what it is given and what it answers. The calls of its
own classes stand in `package_adapters`, which also runs in the environments of packages that clash with this one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memaudit.models.model_protocol import Limits

ANY = Limits(rows=None, features=None, classes=None)
VIEWS = {"seed": 0, "n_estimators": None}  # None: the package's own default
BOTH = ("classification", "regression")


@dataclass(frozen=True)
class Package:
    """How a package is found, opened and queried.

    distribution, version: as pip knows it; the version is the one of the lock, and no other is used. environment: the
    virtual environment that has it where it clashes with requirements.lock, None: it does not. adapter: its class in
    `package_adapters`. folder: weights are a folder (config.json and model.safetensors) instead of a file. versions:
    networks of the package, which a card has to choose from. alone: no query can change another one's answer, so that
    there is no option `queries`. options: with the value that stands for no option.
    """

    distribution: str
    version: str
    adapter: str
    tasks: tuple[str, ...]
    limits: Limits = ANY
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
        limits=Limits(rows=10_000, features=500, classes=10),
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
        limits=Limits(rows=None, features=None, classes=10),
        folder=True,
    ),
}
