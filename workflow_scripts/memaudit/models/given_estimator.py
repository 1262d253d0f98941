"""An estimator of the user's own, given to `memaudit.audit` as an object, fitted on frames like the user's.

A pipeline, a class of a notebook or parameters that are no plain values cannot be named in a config. The audit from
Python pickles such an estimator into its private folder; its jobs read that file alone, by its checksum.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pickle import PicklingError
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from memaudit.common.arrays import Array
from memaudit.common.checksums import sha256 as checksum
from memaudit.common.errors import AuditError
from memaudit.common.io import replacing


@dataclass(frozen=True)
class Given:
    """What is pickled: the estimator and the form of the user's data.

    columns: the user's names by those of the schema; values: by the schema's name, the values behind the texts of the
    categories; kinds: the type of each column in the user's frame; labels: the classes behind their texts.
    """

    estimator: Any
    columns: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Any]]
    kinds: Mapping[str, Any]
    labels: Mapping[str, Any]


def given(estimator: Any, table: pd.DataFrame, target: pd.Series, columns: Mapping[str, Any], seed: int = 0) -> Given:
    """An estimator without its fit, for frames like `table`.

    columns: the table's names by those of the schema. Parameters `random_state` that are None become the seed, at any
    depth, so that the same context gives the same answers.
    """
    unfitted = clone(estimator)
    states = {
        name: seed
        for name, value in unfitted.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    unfitted.set_params(**states)
    return Given(
        estimator=unfitted,
        columns=dict(columns),
        values={stored: _texts(table[name]) for stored, name in columns.items() if not _is_number(table[name].dtype)},
        kinds={stored: table[name].dtype for stored, name in columns.items()},
        labels=_texts(target),
    )


def write(held: Given, path: Path) -> str:
    """Write the file that `GivenEstimator` reads, and return its checksum.

    Classes and functions of a notebook or of the program that runs go by value, others by their module, which is looked
    for where Python finds modules now. Raises AuditError for what cannot be pickled.
    """
    try:
        content = cloudpickle.dumps(held)
    except (TypeError, AttributeError, PicklingError) as error:
        raise AuditError(
            f"model {type(held.estimator).__name__}: cannot be pickled ({error}); give an estimator without open files,"
            " locks or connections"
        ) from error
    with replacing(path) as temporary:
        temporary.write_bytes(cloudpickle.dumps((sys.path, content)))
    return checksum(path)


class GivenEstimator(BaseEstimator):
    """The estimator behind a file of `Given`; features are the codes of a schema, see `record_encoding.encode`.

    A category becomes the user's value again, a number has the user's type, a missing value is NaN, and the columns
    have the user's names. Columns that the audit leaves out are missing from the frame. Raises AuditError for another
    file than the one that the audit has written.
    """

    def __init__(self, path: str = "", sha256: str = "", schema: Mapping[str, Any] | None = None):
        self.path, self.sha256, self.schema = path, sha256, schema

    def fit(self, X: Array, y: NDArray[Any]) -> "GivenEstimator":
        """Fit a new copy of the estimator."""
        held = self._held()
        self.model_ = clone(held.estimator)
        if (classes := self._classes(held)) is None:
            self.model_.fit(self._frame(X, held), y)
            return self
        self.model_.fit(self._frame(X, held), _as_series([classes[int(code)] for code in y]))
        places = {label: code for code, label in enumerate(classes)}
        self.classes_ = np.array([places[label] for label in self.model_.classes_.tolist()])
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Numbers, or codes of classes."""
        held = self._held()
        answers = self.model_.predict(self._frame(X, held))
        if (classes := self._classes(held)) is None:
            return answers
        places = {label: code for code, label in enumerate(classes)}
        return np.array([places[label] for label in np.asarray(answers).tolist()])

    @available_if(lambda self: hasattr(self._held().estimator, "predict_proba"))
    def predict_proba(self, X: Array) -> Array:
        """Probabilities of `classes_`."""
        return self.model_.predict_proba(self._frame(X, self._held()))

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._held().estimator)

    def _held(self) -> Given:
        return _read(self.path, self.sha256)

    def _classes(self, held: Given) -> list[Any] | None:
        """The user's classes in the order of their codes; None for numbers, or without a schema."""
        texts = (self.schema or {}).get("target", {}).get("categories")
        return None if texts is None else [_value(held.labels, text, "the target") for text in texts]

    def _frame(self, X: Array, held: Given) -> pd.DataFrame:
        columns = (self.schema or {"columns": []})["columns"]
        parts = {
            held.columns[one["name"]]: _restored(np.asarray(X)[:, place], one, held)
            for place, one in enumerate(columns)
        }
        return pd.DataFrame(parts)


@cache
def _read(path: str, sha256: str) -> Given:
    """The content of a file that `write` has made. Raises AuditError for another one."""
    if not Path(path).is_file() or checksum(path) != sha256:
        raise AuditError(f"{path}: not the estimator that this audit was given; call memaudit.audit again")
    folders, content = cloudpickle.loads(Path(path).read_bytes())
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    try:
        return cloudpickle.loads(content)
    except (ImportError, AttributeError) as error:
        raise AuditError(
            f"the estimator cannot be opened in another process ({error}); install what it imports"
        ) from error


def _is_number(kind: Any) -> bool:
    return pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)


def _texts(values: pd.Series) -> dict[str, Any]:
    """Each value behind the texts that the intake may make of it."""
    found: dict[str, Any] = {}
    for value in values.dropna().unique():
        texts = {str(value).strip()}
        if isinstance(value, bool | np.bool_):
            texts = {str(value).lower()}
        elif isinstance(value, float) and value.is_integer():
            texts.add(str(int(value)))
        found |= dict.fromkeys(texts, value)
    return found


def _value(values: Mapping[str, Any], text: str, where: str) -> Any:
    if text not in values:
        raise AuditError(f"{where}: a category is read as another text than str() gives; give the column as texts")
    return values[text]


def _restored(codes: Array, column: Mapping[str, Any], held: Given) -> pd.Series:
    """A column of codes in the form that it has in the user's frame."""
    stored, kind = column["name"], held.kinds[column["name"]]
    if column["type"] == "date":
        days = pd.to_datetime(pd.Series(codes), unit="D", origin="unix")
        return days.astype(kind) if pd.api.types.is_datetime64_dtype(kind) else days
    if column["type"] == "categorical":
        known = held.values.get(stored, {})
        values = [_value(known, text, repr(held.columns[stored])) for text in column["categories"]]
        restored = _as_series([np.nan if np.isnan(code) else values[int(code)] for code in codes])
        return restored.astype(kind) if isinstance(kind, pd.CategoricalDtype) or not restored.hasnans else restored
    numbers = pd.Series(codes, dtype=np.float64)
    whole = pd.api.types.is_integer_dtype(kind) and np.isfinite(numbers).all() and (numbers == numbers.round()).all()
    # Noisy copies of whole numbers, and missing ones, are no integers.
    return numbers.astype(kind) if whole or pd.api.types.is_float_dtype(kind) else numbers


def _as_series(values: Sequence[Any]) -> pd.Series:
    """A series of the values as they are; texts, numbers and booleans have the type that pandas infers."""
    return pd.Series(list(values), dtype=object).infer_objects()
