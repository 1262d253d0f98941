"""Public schema of a private table: bounds, lists of categories, classes, and the nominal number of records.

These facts are written by hand in config/public/<dataset>.yaml. No bound or list is read from records: a minimum, or
the list of the values that occur, would be an additional release without noise.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, StringConstraints, ValidationError

from memaudit.common.arrays import Array, Array32, Floats, Mask
from memaudit.common.errors import AuditError
from memaudit.config.field_types import Count, Section
from memaudit.config.name_checks import hint
from memaudit.data.record_encoding import encode

FORM = "give [lower, upper], two numbers, or a list of categories as texts ('yes' and '1' in quotes)"
LARGEST = float(np.finfo(np.float32).max)


def _values(given: Any) -> tuple[float, float] | tuple[str, ...]:
    """Bounds, or categories sorted as those of a schema (data.column_schema): numbers by size, else by code point."""
    if not isinstance(given, list) or not given:
        raise ValueError(FORM)
    if all(isinstance(value, str) for value in given):
        if twice := [value for value in given if given.count(value) > 1]:
            raise ValueError(f"{twice[0]!r} is listed twice; remove one")
        try:
            return tuple(sorted(given, key=lambda value: (float(value), value)))
        except ValueError:
            return tuple(sorted(given))
    if len(given) != 2 or not all(type(value) in (int, float) for value in given):
        raise ValueError(FORM)
    if not -LARGEST <= given[0] < given[1] <= LARGEST:
        raise ValueError(f"the bounds are {given}; the lower must be below the upper, both within float32")
    return float(given[0]), float(given[1])


Values = Annotated[tuple[float, float] | tuple[str, ...], PlainValidator(_values)]


class Facts(Section):
    """A file config/public/<dataset>.yaml. A column's key may be a pattern (`*`, `?`); the first match is used."""

    source: Annotated[str, StringConstraints(min_length=1)] = Field(description="where these facts were published")
    bounds_from_data: list[str] = Field(
        [], description="keys of columns (or a pattern), or target, whose bounds were chosen in view of the data"
    )
    records: Count = Field(description="nominal number of records; public, whatever the number of rows of the table")
    task: Literal["classification", "regression"] = Field(description="what is predicted")
    target: Values = Field(description="classes, or [lower, upper]")
    columns: dict[str, Values] = Field(min_length=1, description="of each column [lower, upper], or its categories")


@dataclass(frozen=True)
class Column:
    """A column: the bounds (lower, upper) of its numbers, or its categories, whose positions are their codes."""

    name: str
    values: tuple[float, float] | tuple[str, ...]

    @property
    def type(self) -> Literal["numeric", "categorical"]:
        """As in a schema."""
        return "categorical" if isinstance(self.values[0], str) else "numeric"

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest number, or code."""
        return self.values if self.type == "numeric" else (0.0, len(self.values) - 1.0)

    def interval(self, values: Floats, count: int) -> NDArray[np.int64]:
        """Index of the equal interval, of `count` between the bounds, of each number; beyond them the first or last."""
        lower, upper = self.bounds
        return np.clip((values.astype(np.float64) - lower) / (upper - lower) * count, 0, count - 1).astype(np.int64)

    def described(self) -> dict[str, Any]:
        """The column's entry in a schema."""
        facts = {"name": self.name, "source": self.name, "type": self.type}
        return facts | ({"categories": list(self.values)} if self.type == "categorical" else {})


class Encoded(NamedTuple):
    """Features (n, d) float32, targets (n,) int64 or float64, and which records of the frame they are: (record,)."""

    x: Array32
    y: NDArray[np.int64] | Array
    kept: Mask


@dataclass(frozen=True)
class Public:
    """A table's public schema. records: nominal number n; columns: the d features, in the table's order."""

    dataset: str
    source: str
    records: int
    task: Literal["classification", "regression"]
    columns: tuple[Column, ...]
    target: Column

    @property
    def numeric(self) -> Mask:
        """(d,) whether a column holds numbers, else codes of categories."""
        return np.array([column.type == "numeric" for column in self.columns])

    @property
    def bounds(self) -> Array:
        """(2, d) least and largest number or code of each column."""
        return np.array([column.bounds for column in self.columns]).T

    @property
    def category_counts(self) -> list[int]:
        """Number of categories of each categorical column."""
        return [len(column.values) for column in self.columns if column.type == "categorical"]

    def with_target(self) -> "Public":
        """A copy with the target as the last column, so that its moments can be released with the others."""
        return replace(self, columns=(*self.columns, self.target))

    def schema(self) -> dict[str, Any]:
        """As in the schema.json of a table (data.column_schema), for models and `encode`, without missing values."""
        columns = [column.described() for column in self.columns]
        facts = {"dataset": self.dataset, "task": self.task, "records": self.records}
        return facts | {"columns": columns, "target": self.target.described()}

    def encode(self, frame: pd.DataFrame) -> Encoded:
        """Records as data.record_encoding does by `schema`, numbers clipped to their bounds, a number target, too.

        Unknown categories and missing values become NaN. A record of an unknown class or without a target is left out.
        The result for a record depends on that record alone, and no value of a column raises: so adjacency holds.
        """
        if self.task == "classification":
            kept = frame["target"].isin(self.target.values).to_numpy()
        else:
            kept = frame["target"].notna().to_numpy()
        clipped = frame.loc[kept, [*(column.name for column in self.columns), "target"]]
        for column in (*self.columns, self.target):
            if column.type == "numeric":
                clipped[column.name] = clipped[column.name].astype(np.float64).clip(*column.bounds)
        return Encoded(*encode(clipped, self.schema()), kept)

    def decode(self, x: Array32, y: NDArray[np.int64] | Array) -> pd.DataFrame:
        """Table of encoded records x (n, d), y (n,): columns as in the private table, and `target`."""
        columns = zip((*self.columns, self.target), (*x.T, y), strict=True)
        return pd.DataFrame({column.name: _named(column, numbers) for column, numbers in columns})

    def scaled(self, x: Floats) -> Array:
        """Records (n, d) with numbers in [-1, 1], clipped; codes of categories and NaN stay."""
        lower, upper = self.bounds
        scaled = (x.astype(np.float64) - (lower + upper) / 2) / np.where(self.numeric, (upper - lower) / 2, 1)
        return np.where(self.numeric, np.clip(scaled, -1, 1), x)

    def unscaled(self, scaled: Floats) -> Array32:
        """The inverse of `scaled`; values outside [-1, 1] are clipped."""
        lower, upper = self.bounds
        numbers = np.clip((lower + upper) / 2 + scaled * (upper - lower) / 2, lower, upper)
        return np.where(self.numeric, numbers, scaled).astype(np.float32)


def read_public(path: str | Path, types: Mapping[str, str]) -> Public:
    """The public schema in a file, for a table with columns of these types, by name (numeric, categorical).

    Names and types are public; the rest of a table's own schema.json is not. Raises AuditError, naming every fault
    with its key, for a file that is missing or invalid, a column without entry or of another type, an entry without
    column, and a date or free text.
    """
    facts = read_facts(path)
    entries = {name: _entry(facts.columns, name) for name in types}
    if faults := list(_faults(facts, types, entries)):
        raise AuditError(f"{path}: " + "; ".join(faults))
    columns = tuple(Column(name, facts.columns[entry]) for name, entry in entries.items())
    dataset = Path(path).stem
    return Public(dataset, facts.source, facts.records, facts.task, columns, Column("target", facts.target))


def read_facts(path: str | Path) -> Facts:
    """The public facts of a file. Raises AuditError, naming every fault with its key, for an invalid one."""
    try:
        facts = Facts.model_validate(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise AuditError(f"{path}: does not exist; private releases need these facts, written by hand") from None
    except OSError as error:
        raise AuditError(f"{path}: cannot be read ({error.strerror}); name the file of facts") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise AuditError(f"{path}: no readable YAML ({' '.join(str(error).split())})") from None
    except ValidationError as error:
        raise AuditError(f"{path}: " + "; ".join(map(_explain, error.errors()))) from None
    if (facts.task == "classification") != isinstance(facts.target[0], str) or len(facts.target) < 2:
        raise AuditError(f"{path}: target: classification needs two classes or more, regression [lower, upper]")
    known = ["target", *facts.columns]
    for name in facts.bounds_from_data:
        if not any(fnmatchcase(key, name) for key in known):
            raise AuditError(f"{path}: bounds_from_data: {name} is no key of columns{hint(name, known)}")
    return facts


def _explain(fault: Mapping[str, Any]) -> str:
    where = "/".join(map(str, fault["loc"])) or "file"
    if fault["type"] == "extra_forbidden":
        return f"{where}: unknown key{hint(fault['loc'][-1], list(Facts.model_fields))}"
    if fault["type"] == "missing":
        return f"{where}: missing; see the other files there"
    message = fault["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    return f"{where}: {message[0].lower()}{message[1:]}"


def _entry(entries: Mapping[str, Any], name: str) -> str | None:
    """Key of the entry of a column: its own name, else the first pattern that matches."""
    return name if name in entries else next((entry for entry in entries if fnmatchcase(name, entry)), None)


def _faults(facts: Facts, types: Mapping[str, str], entries: Mapping[str, str | None]) -> Iterator[str]:
    for name, kind in types.items():
        entry = entries[name]
        if kind not in ("numeric", "categorical"):
            yield f"columns/{name}: the table holds it as {kind}, which has no bounds or categories; `drop` it"
        elif entry is None:
            yield f"columns/{name}: missing; {FORM}"
        elif Column(name, facts.columns[entry]).type != kind:
            yield f"columns/{entry}: the table holds {name!r} as {kind}; {FORM}"
    for entry in facts.columns:
        if entry not in entries.values():
            yield f"columns/{entry}: the table has no column of this name{hint(entry, list(types))}"


def _named(column: Column, numbers: NDArray[np.floating | np.integer]) -> pd.Series:
    if column.type == "numeric":
        return pd.Series(numbers.astype(np.float64))
    codes = np.where(np.isnan(numbers), -1, numbers).astype(np.int64)
    return pd.Series(pd.Categorical.from_codes(codes, column.values)).astype("str")
