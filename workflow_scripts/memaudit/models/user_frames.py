"""The form of a user's table in memory: from the codes that models read back to frames like the user's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from memaudit.common.arrays import Array
from memaudit.common.errors import AuditError


@dataclass(frozen=True)
class UserFrame:
    """Names, types and values of a user's features and classes.

    columns: the user's names by those of the schema; values: by the schema's name, the values behind the texts of its
    categories; kinds: the type of each column; labels: the classes behind their texts; array: whether the user gave
    an array, and not a frame.
    """

    columns: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Any]]
    kinds: Mapping[str, Any]
    labels: Mapping[str, Any]
    array: bool

    @classmethod
    def of(cls, features: pd.DataFrame, target: pd.Series, stored: Sequence[str], array: bool = False) -> "UserFrame":
        """The form of a table; stored: (column,) names of its features in the schema."""
        columns = [features.iloc[:, place] for place in range(features.shape[1])]
        return cls(
            columns=dict(zip(stored, features.columns, strict=True)),
            values={name: texts(one) for name, one in zip(stored, columns, strict=True) if not _is_number(one.dtype)},
            kinds={name: one.dtype for name, one in zip(stored, columns, strict=True)},
            labels=texts(target),
            array=array,
        )

    def classes(self, schema: Mapping[str, Any] | None) -> list[Any] | None:
        """The user's classes in the order of their codes; None for a target of numbers, or without a schema."""
        categories = (schema or {}).get("target", {}).get("categories")
        return None if categories is None else [_value(self.labels, text, "the target") for text in categories]

    def restored(self, codes: Array, schema: Mapping[str, Any] | None) -> Any:
        """A frame, or an array, in the user's form. codes: (record, column), as of `record_encoding.encode`.

        A category becomes the user's value again, a number has the user's type (it went through float32), a missing
        value is missing. Raises AuditError if the schema lacks a column of the user's.
        """
        columns = (schema or {"columns": []})["columns"]
        if missing := self.columns.keys() - {column["name"] for column in columns}:
            names = ", ".join(sorted(repr(self.columns[name]) for name in missing))
            raise AuditError(f"the audit leaves columns out that the estimator may read: {names}; give X without them")
        parts = {column["name"]: self._column(one, column) for column, one in zip(columns, codes.T, strict=True)}
        frame = pd.DataFrame({name: parts[name] for name in self.columns})
        frame.columns = pd.Index(list(self.columns.values()))
        return frame.to_numpy() if self.array else frame

    def _column(self, codes: Array, column: Mapping[str, Any]) -> pd.Series:
        name, numbers = column["name"], pd.Series(codes, dtype=np.float64)
        kind = self.kinds[name]
        if column["type"] == "date":
            days = pd.to_datetime(numbers, unit="D", origin="unix")
            zone = getattr(kind, "tz", None)
            return (days.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else days).astype(kind)
        if column["type"] == "categorical":
            values = [
                _value(self.values.get(name, {}), text, repr(self.columns[name])) for text in column["categories"]
            ]
            restored = _as_series([np.nan if np.isnan(code) else values[int(code)] for code in numbers])
            return (
                restored.astype(kind)
                if types.is_extension_array_dtype(kind) or types.is_object_dtype(kind)
                else restored
            )
        whole = types.is_integer_dtype(kind)
        nullable = types.is_extension_array_dtype(kind)
        # Noisy copies of whole numbers, and missing ones where the type has none, are no integers.
        if whole and not ((nullable or numbers.notna().all()) and (numbers.dropna() % 1 == 0).all()):
            return numbers
        return numbers.astype(kind)


def texts(values: pd.Series) -> dict[str, Any]:
    """Each value behind the texts that the intake may make of it. Raises AuditError for values that are no cells."""
    found: dict[str, Any] = {}
    try:
        distinct = values.dropna().unique()
    except TypeError as error:
        raise AuditError(f"column {values.name!r}: holds {error}; give texts, numbers, booleans or dates") from error
    for value in distinct:
        forms = {str(value).strip()}
        if isinstance(
            value, bool | np.bool_
        ):  # a column of them is stored as true and false, categories as str() has them
            forms.add(str(value).lower())
        elif isinstance(value, float) and value.is_integer():
            forms.add(str(int(value)))
        found |= dict.fromkeys(forms, value)
    return found


def labels_of(codes: NDArray[Any], classes: Sequence[Any]) -> pd.Series:
    """The user's classes behind codes."""
    return _as_series([classes[int(code)] for code in codes])


def places_of(labels: Any, classes: Sequence[Any]) -> NDArray[np.int64]:
    """Codes of the user's classes."""
    places = {label: code for code, label in enumerate(classes)}
    return np.array([places[label] for label in np.asarray(labels).tolist()], dtype=np.int64)


def _is_number(kind: Any) -> bool:
    return types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind)


def _value(values: Mapping[str, Any], text: str, where: str) -> Any:
    if text not in values:
        raise AuditError(f"{where}: a category is read as another text than str() gives; give the column as texts")
    return values[text]


def _as_series(values: Sequence[Any]) -> pd.Series:
    """A series of the values as they are; texts, numbers and booleans have the type that pandas infers."""
    return pd.Series(list(values), dtype=object).infer_objects()
