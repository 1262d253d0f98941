"""`as_deployed` mode of TabICL and TabPFN: the packages' own estimators with their defaults."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.models.context_scaling import target_scale
from memaudit.models.model_files import reason, the_file
from memaudit.models.model_protocol import Limits, Mode
from memaudit.models.predictive_distributions import Binned
from memaudit.models.tabicl import TabICLBranch

LEAST = {"seed": 0, "n_estimators": 1}
QUERIES = ("together", "alone")
Task = Literal["classification", "regression"]
Rows = Array | pd.DataFrame


class Deployed:
    """The packages' estimators with their defaults: an ensemble of views, shuffles, fingerprints. A `TabularModel`.

    An estimator is fitted to every context, one after another, in fp32, with the `seed` of its card (0 without one), so
    a question has one answer. By default (`queries: together`, as users call it) other queries can change an answer:
    TabPFN up to v2.6 scales columns over context and queries together. With `queries: alone` each query is a call of
    its own. Answers have no gradient. Categorical columns of the schema are passed as such; dates are days since 1970.
    """

    mode: Mode = "as_deployed"
    reads_text = False

    def __init__(
        self,
        estimator: Any,
        task: Task,
        limits: Limits,
        classes: int,
        read: Callable[[Any, Rows, Tensor], Binned],
        alone: bool = False,
        schema: Mapping[str, Any] | None = None,
    ):
        """classes: least width of `logits`; read: distributions of queries, in float64, from the fitted estimator."""
        self.estimator = estimator
        self.task = task
        self.limits = limits
        self.classes = classes
        self.read = read
        self.alone = alone
        self.schema = schema

    @classmethod
    def load(
        cls, weights: Path, card: Mapping[str, Any], device: str, schema: Mapping[str, Any] | None = None
    ) -> "Deployed":
        """See TabularModel. The file is checked against its card first: the packages would download a missing one.

        Options: `seed`, `n_estimators` (the package's default without it) and `queries` (together or alone).
        """
        options = card["options"]
        _check(options)
        arguments = {"random_state": options.get("seed", 0), "device": device}
        arguments |= {"n_estimators": options["n_estimators"]} if "n_estimators" in options else {}
        family = {"tabicl": _tabicl, "tabpfn": _tabpfn}[card["family"]]
        estimator, limits, classes, read = family(Path(weights), card, arguments)
        if schema is not None and card["task"] == "classification":
            classes = max(classes, len(schema["target"]["categories"]))
        return cls(estimator, card["task"], limits, classes, read, options.get("queries") == "alone", schema)

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel. Logarithms of the estimator's probabilities, so -inf where one is 0, too."""
        most = max(self.classes, int(context_y.max()) + 1)
        logits = torch.full((*query_x.shape[:2], most), -torch.inf)
        for table, (x, y, query) in enumerate(zip(context_x, context_y, query_x, strict=True)):
            fitted = self._fitted(x, y)
            probability = np.concatenate([fitted.predict_proba(part) for part in self._inputs(query)])
            logits[table][:, torch.from_numpy(fitted.classes_)] = torch.from_numpy(probability).log().float()
        return logits

    def distribution(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Binned:
        """See TabularModel."""
        tables = []
        for x, y, query in zip(context_x, context_y.cpu().double(), query_x, strict=True):
            fitted = self._fitted(x, y)
            parts = [self.read(fitted, part, y) for part in self._inputs(query)]
            tables.append(Binned.joined(torch.cat, parts))
        return Binned.joined(torch.stack, tables)

    def _fitted(self, x: Tensor, y: Tensor) -> Any:
        """The estimator, fitted to a context. Raises AuditError where the package refuses it, as for one row."""
        try:
            return _in_fixed_order(self.estimator.fit(self._as_input(x), y.cpu().numpy()))
        except ValueError as error:
            name = type(self.estimator).__name__
            raise AuditError(f"{name} refuses a context ({reason(error)}); take more rows, or mode raw") from error

    def _inputs(self, query: Tensor) -> list[Rows]:
        """The inputs of the calls for queries (m, d)."""
        return [self._as_input(part) for part in (query.split(1) if self.alone else (query,))]

    def _as_input(self, x: Tensor) -> Rows:
        """Rows (n, d) as a user passes them: numbers, or a frame with categorical columns."""
        values = x.detach().cpu().double().numpy()
        if self.schema is None:
            return values
        columns = zip(self.schema["columns"], values.T, strict=True)
        return pd.DataFrame({column["name"]: _column(column, numbers) for column, numbers in columns})


def _in_fixed_order(fitted: Any) -> Any:
    """Return a fitted estimator with its views in a fixed order.

    TabICL 2.2 groups them by a set of texts, whose order differs between processes: the last bits of their mean, and so
    ties between scores, would differ between runs.
    """
    views = vars(getattr(fitted, "ensemble_generator_", SimpleNamespace()))
    for name, by_method in views.items():
        if isinstance(by_method, OrderedDict):
            views[name] = OrderedDict(sorted(by_method.items()))
    return fitted


def _check(options: Mapping[str, Any]) -> None:
    """Raise AuditError for unknown options and for invalid values."""
    if unknown := set(options) - {*LEAST, "queries"}:
        raise AuditError(
            f"options: as_deployed has no {', '.join(sorted(unknown))}; it has {', '.join(LEAST)}, queries"
        )
    if options.get("queries", "together") not in QUERIES:
        raise AuditError(f"options: queries is {options['queries']!r}; set one of {', '.join(QUERIES)}")
    for name, least in LEAST.items():
        value = options.get(name, least)
        if not isinstance(value, int) or value < least:
            raise AuditError(f"options: {name} is {value!r}; set a whole number from {least} on")


def _column(column: Mapping[str, Any], numbers: Array) -> pd.Categorical | Array:
    if column["type"] != "categorical":
        return numbers
    codes = np.where(np.isnan(numbers), -1, numbers).astype(int)
    return pd.Categorical.from_codes(codes, column["categories"])


def _tabicl(weights: Path, card: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[Any, Limits, int, Callable]:
    """Estimator, limits, classes of the head, and reader. The number of classes is unlimited: they form a hierarchy."""
    from tabicl import TabICLClassifier, TabICLRegressor

    raw = TabICLBranch.load(weights, {**card, "options": {}}, "cpu")
    own = {"model_path": the_file(weights), "allow_auto_download": False, "use_amp": False, "use_fa3": False}
    if raw.task == "classification":
        limits = Limits(rows=None, features=None, classes=None)
        return TabICLClassifier(**own, **arguments), limits, raw.limits.classes, _quantiles
    return TabICLRegressor(**own, **arguments), raw.limits, 0, _quantiles


def _quantiles(fitted: Any, queries: Rows, y: Tensor) -> Binned:
    """TabICL's quantiles, mean over its views. y: (n,), the context's targets."""
    mean, deviation = (part.double() for part in target_scale(y[None]))
    quantiles = torch.from_numpy(fitted.predict(queries, output_type="raw_quantiles")).double()
    return Binned.from_quantiles((quantiles - mean) / deviation).scaled(deviation, mean)


def _tabpfn(weights: Path, card: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[Any, Limits, int, Callable]:
    """Estimator, limits, classes of the head, and reader."""
    from tabpfn import TabPFNClassifier, TabPFNRegressor
    from tabpfn.inference_config import cpu_sample_limit
    from tabpfn.model_loading import resolve_model_version

    from memaudit.models.tabpfn_checkpoint import open_checkpoint

    file, limits = the_file(weights), open_checkpoint(weights, card["task"], card["version"]).limits
    if arguments["device"] == "cpu":
        limits = replace(limits, rows=min(limits.rows, cpu_sample_limit(resolve_model_version(file))))
    kind = TabPFNClassifier if card["task"] == "classification" else TabPFNRegressor
    estimator = kind(model_path=file, inference_precision=torch.float32, **arguments)
    return estimator, limits, limits.classes, _bars


def _bars(fitted: Any, queries: Rows, y: Tensor) -> Binned:
    """TabPFN's bars, mean over its views. y: (n,), the context's targets; equal targets have no distribution."""
    if (y == y[0]).all():
        raise AuditError("a context whose targets are all equal: TabPFN has no distribution for it; take more rows")
    full = fitted.predict(queries, output_type="full")
    return Binned.from_bars(full["logits"].double().cpu(), full["criterion"].borders.double().cpu())
