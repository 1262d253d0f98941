"""Estimators with scikit-learn's interface, fitted again on each context: the baseline of foundation models.

The config names the class by its import path; it is trusted like any code of the user. What `memaudit.audit` was given
as an object is a `GivenEstimator`; no other pickle is read.
"""

import inspect
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits
from torch import Tensor

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.models.context_scaling import target_scale
from memaudit.models.given_estimator import GivenEstimator
from memaudit.models.model_files import reason
from memaudit.models.model_options import options_of
from memaudit.models.model_protocol import Limits
from memaudit.models.predictive_distributions import LEAST, Binned

OPTIONS = {"scale": False, "seed": 0}
METHODS = ("fit", "predict", "get_params")
FOLDS = 5
# Errors of estimators for data or parameters that they do not accept; others are faults of the class and are raised.
REFUSALS = (ValueError, TypeError, ArithmeticError, RuntimeError)
KINDS = {"classification": "classifier", "regression": "regressor"}


class EstimatorBranch:
    """An estimator with preprocessing: no weights, no gradient; `raw` and `as_deployed` are the same.

    Missing numbers become the context's median, categories of the schema one-hot columns (a missing value is a
    category, one that the context lacks has no column). Options: `scale` standardises numbers; `seed` is the random
    state of every context, unless `params` has one.
    """

    limits = Limits(rows=None, features=None, classes=None)
    reads_text, alone = False, True
    module = None

    def __init__(self, model: Pipeline, card: Mapping[str, Any], seed: int = 0, classes: int = 0, jobs: int = 1):
        """classes: least width of the logits; jobs: processes over the contexts, without effect on answers."""
        self._model, self._seed, self._classes, self._jobs = model, seed, classes, jobs
        self.task, self.mode = card["task"], card["mode"]

    @classmethod
    def load(
        cls, weights: Path, card: Mapping[str, Any], device: str, schema: Mapping[str, Any] | None
    ) -> "EstimatorBranch":
        """See TabularModel. `weights` holds estimator.json: {"class": import path, "params": {...}}; CPU alone.

        Without a schema all columns are numbers. It uses as many processes as torch has threads.
        """
        options = options_of(card, OPTIONS)
        entry = read_json(weights / "estimator.json")
        estimator = _estimator(entry["class"], entry["params"], options["seed"])
        kind = _kind(estimator)
        if kind != KINDS[card["task"]]:
            raise AuditError(
                f"{entry['class']}: a {kind}, but the task is {card['task']}; name a {KINDS[card['task']]}"
            )
        if kind == "classifier" and not hasattr(estimator, "predict_proba"):
            raise AuditError(f"{entry['class']}: it gives no probabilities; name a classifier with predict_proba")
        target = schema["target"] if schema else {}
        model = make_pipeline(*_steps(schema, options["scale"], estimator))
        classes = len(target.get("categories") or [])
        return cls(model, card, options["seed"], classes, torch.get_num_threads())

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel. Logarithms of probabilities; a class of the context has at least float32's smallest number.

        A context of one class is not fitted: its class has the probability 1. Raises AuditError where a fit fails.
        """
        width = max(self._classes, int(context_y.max()) + 1)
        return torch.stack(self._each(_classify, (context_x, context_y, query_x), width)).float()

    def distribution(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Binned:
        """See TabularModel. A normal distribution around `predict`, with the estimator's own deviation if it has one.

        Otherwise the deviation is the same for all queries, so that only the mean reveals members: the root mean square
        error of five-fold cross-validation within the context. No deviation is less than LEAST of the context's
        targets'. Raises AuditError where a fit fails.
        """
        answers = self._each(_regress, (context_x, context_y.double(), query_x), self._seed)
        mean, deviation = (torch.stack(part).double() for part in zip(*answers, strict=True))
        return Binned.from_normal(mean, torch.maximum(deviation, LEAST * target_scale(context_y.cpu())[1]))

    @property
    def points_alone(self) -> bool:
        """Whether it predicts numbers without a deviation of its own."""
        return self.task == "regression" and not _has_deviation(self._model)

    def points(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Predicted numbers of every query (B, m) float64. Regressors only. Raises AuditError where a fit fails."""
        return torch.stack(self._each(_predict, (context_x, context_y.double(), query_x))).double()

    def _each(self, task: Any, tables: tuple[Tensor, ...], *arguments: Any) -> list[Any]:
        """Apply a task to each context (x, y, queries), as arrays."""
        x, y, queries = (table.detach().cpu() for table in tables)
        arrays = x.double().numpy(), y.numpy(), queries.double().numpy()
        jobs = min(self._jobs, len(x))
        return Parallel(n_jobs=jobs)(
            delayed(_attempt)(place, task, self._model, *table, *arguments)
            for place, table in enumerate(zip(*arrays, strict=True))
        )


def _attempt(place: int, task: Any, model: Pipeline, *arguments: Any) -> Any:
    """Run a task with a new model, on one thread so that sums have one order; errors name the context."""
    # What a user's own class raises is not known before.
    refusals = Exception if isinstance(model[-1], GivenEstimator) else REFUSALS
    try:
        with threadpool_limits(1):
            return task(clone(model), *arguments)
    except refusals as error:
        raise AuditError(
            f"context {place} of the batch: the estimator fails ({reason(error)}); change its parameters, or its class"
        ) from error


def _classify(model: Pipeline, x: Array, y: NDArray[np.int64], queries: Array, width: int) -> Tensor:
    """Logits (m, width) of one context."""
    logits = torch.full((len(queries), width), -torch.inf, dtype=torch.float64)
    if (y == y[0]).all():
        logits[:, y[0]] = 0
        return logits
    model.fit(x, y)
    # -inf is for classes that the context lacks; a forest gives 0 for others too.
    probabilities = torch.as_tensor(model.predict_proba(queries)).clamp(min=torch.finfo(torch.float32).tiny)
    logits[:, model.classes_] = probabilities.double().log()
    return logits


def _regress(model: Pipeline, x: Array, y: Array, queries: Array, seed: int) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (m,) of one context."""
    model.fit(x, y)
    if _has_deviation(model):
        mean, deviation = model.predict(queries, return_std=True)
        return torch.as_tensor(mean), torch.as_tensor(deviation)
    mean = torch.as_tensor(model.predict(queries))
    folds = KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed)
    error = y - cross_val_predict(model, x, y, cv=folds)
    return mean, torch.full_like(mean, float(np.sqrt(np.mean(error**2))))


def _predict(model: Pipeline, x: Array, y: Array, queries: Array) -> Tensor:
    """Predicted numbers (m,) of one context."""
    return torch.as_tensor(model.fit(x, y).predict(queries))


def _has_deviation(model: Pipeline) -> bool:
    """Whether it predicts a deviation; that of DummyRegressor is 0 for all."""
    return "return_std" in inspect.signature(model[-1].predict).parameters and not isinstance(model[-1], DummyRegressor)


def _steps(schema: Mapping[str, Any] | None, scale: bool, estimator: Any) -> tuple[Any, ...]:
    """Preprocessing and the estimator; one that was given as an object makes the user's frame of the codes itself."""
    if isinstance(estimator, GivenEstimator):
        return (estimator.set_params(schema=schema),)
    return _preprocessing(schema, scale), estimator


def _preprocessing(schema: Mapping[str, Any] | None, scale: bool) -> ColumnTransformer:
    columns = schema["columns"] if schema else []
    categorical = [i for i, column in enumerate(columns) if column["type"] == "categorical"]
    median = SimpleImputer(strategy="median", keep_empty_features=True)
    return ColumnTransformer(
        [("categories", OneHotEncoder(handle_unknown="ignore", sparse_output=False), categorical)],
        remainder=make_pipeline(median, StandardScaler()) if scale else median,
    )


def _estimator(path: str, params: Mapping[str, Any], seed: int) -> Any:
    """Make an instance of the class of an import path. Raises AuditError if it cannot be imported or made."""
    module, _, name = path.rpartition(".")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise AuditError(
            f"{path}: cannot be imported ({error}); give `package.module.Class`, and put the folder of a file of your "
            "own on PYTHONPATH"
        ) from error
    if not (isinstance(kind, type) and all(hasattr(kind, method) for method in METHODS)):
        raise AuditError(
            f"{path}: not an estimator; name a class with {', '.join(METHODS)}, as sklearn.base.BaseEstimator"
        )
    signature = inspect.signature(kind)
    if "random_state" in signature.parameters:
        params = {"random_state": seed} | params
    try:
        signature.bind(**params)
        return kind(**params)
    except (TypeError, ValueError) as error:
        raise AuditError(f"{path}: params: {error}; see the class's documentation") from error


def _kind(estimator: Any) -> str:
    """Return the type that scikit-learn's tags give (classifier, regressor, ...), else the one its methods imply."""
    return get_tags(estimator).estimator_type or ("classifier" if hasattr(estimator, "predict_proba") else "regressor")
