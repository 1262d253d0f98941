"""Calls of the classes of `deployed_packages`: open weights once, take a context, answer queries.

This module also runs in the environments of packages that clash with the library's: it needs numpy, pandas and torch.
Every class has the same interface: made of `Opening`; `fit(x, y)` takes a context, rows (n, d) as encoded and class
codes or numbers (n,); `predict(x)` answers queries (m, d) with arrays:

- `probabilities` (m, k) of `classes` (k,), codes;
- `logits` (m, k) of bars between `borders` (k + 1,); or
- `quantiles` (m, k) at the levels 1/(k+1) .. k/(k+1).
"""

import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from memaudit.common.arrays import Array
from memaudit.common.loaded_packages import Packages

Answer = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Opening:
    """What an adapter is made of. weights: a file or folder; columns: of the table's schema; options: all."""

    weights: str
    task: str
    version: str | None
    options: Mapping[str, Any]
    columns: list[Mapping[str, Any]]
    device: str
    threads: int

    def views(self, argument: str = "n_estimators") -> dict[str, int]:
        """The argument that says how many views there are, unless it is the package's own default."""
        return {} if self.options["n_estimators"] is None else {argument: self.options["n_estimators"]}


@dataclass(frozen=True)
class Reply:
    """Answers to each list of queries; or an error's type and text, and whether a device had too little memory.

    packages: those that the process has loaded.
    """

    answers: list[Answer] | None = None
    error: str = ""
    memory: bool = False
    packages: Packages = field(default_factory=dict)


class TabDPT:
    """`tabdpt` (Ma et al. 2024): numbers alone, so categories are given as codes; fp32 and without compilation.

    Probabilities are those that the package's `predict` chooses the class by: of 8 permutations. Its classifier has no
    `classes_` and takes the classes 0 .. k-1.
    """

    def __init__(self, given: Opening):
        from tabdpt import TabDPTClassifier, TabDPTRegressor

        kind = TabDPTClassifier if given.task == "classification" else TabDPTRegressor
        self.estimator = kind(
            model_weight_path=given.weights, device=given.device, use_flash=False, compile=False, verbose=False
        )
        self.views = given.views("n_ensembles") | {"seed": given.options["seed"]}
        self.is_classifier, self.classes = given.task == "classification", np.array([])

    def fit(self, x: Array, y: NDArray[Any]) -> None:
        # A projection of many columns is not forgotten by a fit to a table of few.
        self.estimator.projection = None
        if self.is_classifier:
            self.classes, y = np.unique(y, return_inverse=True)
        torch.manual_seed(self.views["seed"])  # of that projection
        self.estimator.fit(x, y)

    def predict(self, x: Array) -> Answer:
        if self.is_classifier:
            return {"probabilities": self.estimator.ensemble_predict_proba(x, **self.views), "classes": self.classes}
        full = self.estimator.predict(x, output_type="full", **self.views)
        return {name: full[name].double().cpu().numpy() for name in ("logits", "borders")}


class TabFM:
    """`tabfm` (Kong et al. 2026), PyTorch backend: frames as users have them; fp32."""

    def __init__(self, given: Opening):
        from tabfm import TabFMClassifier, tabfm_v1_0_0_pytorch

        model = tabfm_v1_0_0_pytorch.load(given.task, given.weights, device=given.device, dtype=None, use_cache=False)
        self.columns = given.columns
        self.estimator = TabFMClassifier(
            model=model, random_state=given.options["seed"], use_amp=False, **given.views()
        )

    def fit(self, x: Array, y: NDArray[Any]) -> None:
        self.estimator.fit(frame(x, self.columns), y)

    def predict(self, x: Array) -> Answer:
        probabilities = self.estimator.predict_proba(frame(x, self.columns))
        return {"probabilities": probabilities, "classes": self.estimator.classes_.astype(np.int64)}


class StructuredDataModel:
    """`sdm`, NVIDIA's structured-data-models: tables of typed columns, a context that is cached once, 8 views.

    The package has no default number of views; 8 is that of its README. Dates are numbers, days since 1970: its recipes
    take numbers and categories.
    """

    def __init__(self, given: Opening):
        import sdm
        from sdm.models.kumo.tabular import model as kumo
        from sdm.models.tabiclv2 import model as tabicl

        family, _, size = given.version.partition("-")
        kind, sizes = (sdm.models.KumoTabular, {"size": size}) if family == "kumo" else (sdm.models.TabICLv2, {})
        with ExitStack() as stack:
            # The package fetches its own file from the hub: here the hub's function returns the local one.
            for module in (kumo, tabicl):
                stack.enter_context(patch.object(module, "download_checkpoint", lambda *_, **__: given.weights))
            self.model = kind(task=given.task, device=given.device, **sizes)
        self.given, self.table = given, sdm.TableTensor
        self.kinds = {
            column["name"]: "categorical" if column["type"] == "categorical" else "numerical"
            for column in given.columns
        }

    def fit(self, x: Array, y: NDArray[Any]) -> None:
        kind = "categorical" if self.given.task == "classification" else "numerical"
        target = pd.DataFrame({"y": [str(code) for code in y] if kind == "categorical" else y})
        self.model.fit(
            x=self._table(x),
            y=self.table.from_pandas(target, {"y": kind}, device=self.given.device),
            num_estimators=self.given.options["n_estimators"] or 8,
            generator=torch.Generator(self.given.device).manual_seed(self.given.options["seed"]),
        )

    def predict(self, x: Array) -> Answer:
        answer = self.model.predict(self._table(x))
        names, numbers = answer.columns["numerical"], answer.numerical.double().cpu().numpy()
        if self.given.task == "regression":
            return {"quantiles": numbers}
        return {"probabilities": numbers, "classes": np.array([int(name) for name in names])}

    def _table(self, x: Array) -> Any:
        rows = frame(x, self.given.columns, dates=False)
        return self.table.from_pandas(rows, self.kinds, device=self.given.device)


class Mitra:
    """Mitra (Zhang et al. 2025) through AutoGluon's `TabularPredictor`, which prepares the table, in bf16.

    As there, a fifth of a small context is held out to validate, and is not in the context of the network; with
    `fine_tune`, the package's default, the network is trained on the rest for 50 steps. Weights are read for each
    context anew. What the package draws from global generators is seeded.
    """

    LABEL = "label of memaudit"

    def __init__(self, given: Opening):
        from autogluon.tabular import TabularPredictor
        from autogluon.tabular.models.mitra._internal.models.tab2d import Tab2D

        Tab2D.from_pretrained(given.weights, device="cpu")  # before the first context: a wrong folder is an error
        self.predictor, self.given, self.fitted = TabularPredictor, given, None

    def fit(self, x: Array, y: NDArray[Any]) -> None:
        self._seed()
        options = {"hf_model": self.given.weights, "fine_tune": self.given.options["fine_tune"]} | self.given.views()
        rows = frame(x, self.given.columns).assign(**{self.LABEL: y})
        kind = "binary" if len(np.unique(y)) == 2 else "multiclass"
        with TemporaryDirectory() as folder:
            fitted = self.predictor(label=self.LABEL, path=folder, verbosity=0, problem_type=kind)
            self.fitted = fitted.fit(
                rows,
                hyperparameters={"MITRA": options | {"seed": self.given.options["seed"]}},
                fit_weighted_ensemble=False,
                num_cpus=self.given.threads,
                num_gpus=int(self.given.device != "cpu"),
            )
            self.fitted.persist()

    def predict(self, x: Array) -> Answer:
        self._seed()
        answer = self.fitted.predict_proba(frame(x, self.given.columns))
        return {"probabilities": answer.to_numpy(), "classes": answer.columns.to_numpy().astype(np.int64)}

    def _seed(self) -> None:
        seed = self.given.options["seed"]
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 -- the package draws from it
        torch.manual_seed(seed)


ADAPTERS = {one.__name__: one for one in (TabDPT, TabFM, StructuredDataModel, Mitra)}


def frame(x: Array, columns: list[Mapping[str, Any]], dates: bool = True) -> pd.DataFrame:
    """Rows (n, d) as a user has them: categories are texts, dates are dates (or days since 1970), a gap is a gap."""
    cells = zip(columns, x.T, strict=True)
    return pd.DataFrame({column["name"]: _cells(column, numbers, dates) for column, numbers in cells})


def _cells(column: Mapping[str, Any], numbers: Array, dates: bool) -> Any:
    if column["type"] == "categorical":
        names = [None if np.isnan(code) else column["categories"][int(code)] for code in numbers]
        return pd.Series(names, dtype=object)
    if column["type"] == "date" and dates:
        return pd.to_datetime(pd.Series(numbers), unit="D")
    return numbers


def opened(adapter: str, given: Opening) -> Any:
    """The adapter of this name. Raises what the package raises for weights that it does not read."""
    path = Path(given.weights)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    return ADAPTERS[adapter](given)


def answered(adapter: Any, x: Any, y: Any, queries: list[Any]) -> list[Answer]:
    """Answers of an adapter to each list of queries about one context."""
    adapter.fit(x, y)
    return [adapter.predict(part) for part in queries]
