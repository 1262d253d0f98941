"""Synthetic tables of the shapes that the catalogue's tables have: columns, types, categories, classes, missing cells.

Nothing is read from the real tables. Columns, bounds and categories come from config/public/<name>.yaml, else from
config/rehearsal.yaml; a target depends on the first columns, so that models have something to learn.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from xml.sax.saxutils import escape

import arff
import numpy as np
import pandas as pd

from memaudit.common.errors import AuditError

Values = tuple[float, float] | tuple[str, ...] | None  # bounds, categories, or None: free text
NOISE = 0.5  # of a target, in deviations of what it depends on
UNUSED = (0, 1000)  # values of columns that are left out, of which nothing is stated
DEPENDS = 3  # columns that a target depends on
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "jetty", "knoll", "lemon")


@dataclass(frozen=True)
class Shape:
    """A table's shape: values of each column, of the target, and the columns that have missing cells."""

    columns: Mapping[str, Values]
    target: str
    values: Values
    missing: Sequence[str] = ()


def shape_of(name: str, entry: Mapping[str, Any], public: Mapping[str, Any] | None, stated: Mapping[str, Any]) -> Shape:
    """Return the shape of a data set by its name and entry in the catalogue.

    public: contents of its file in config/public, None if there is none; stated: what config/rehearsal.yaml says of it:
    names (of columns that the public file has as patterns), columns, target, missing. Raises AuditError where nothing
    says which columns it has, or a name fits no pattern.
    """
    if public is None and "columns" not in stated:
        raise AuditError(f"{name}: no file in config/public; state its columns in config/rehearsal.yaml")
    facts = {"columns": {}, "target": stated.get("target")} if public is None else public
    patterns = {**stated.get("columns", {}), **facts["columns"]}
    names = stated.get("names") or _names(patterns, entry.get("columns"))
    columns = {name: _values(_first(patterns, name)) for name in names if name != entry["target"]}
    columns |= {name: UNUSED for name in entry.get("drop") or [] if name not in columns}
    return Shape(columns, entry["target"], _values(facts["target"]), stated.get("missing", ()))


def _names(patterns: Mapping[str, Any], count: int | None) -> list[str]:
    """Names of columns, one of each pattern; a pattern alone (V*) stands for all of them."""
    if len(patterns) == 1 and count and "*" in (only := next(iter(patterns))):
        return [only.replace("*", str(number)) for number in range(1, count + 1)]
    return [name.replace("?", "_").replace("*", "1") for name in patterns]


def _first(patterns: Mapping[str, Any], name: str) -> Any:
    for pattern, values in patterns.items():
        if fnmatchcase(name, pattern):
            return values
    raise AuditError(f"{name}: fits none of {', '.join(patterns)}; correct the name in config/rehearsal.yaml")


def _values(given: Any) -> Values:
    return None if given is None or given == "text" else tuple(given)


def synthetic(shape: Shape, rows: int, rng: np.random.Generator, missing: float = 0.1) -> pd.DataFrame:
    """Return a table of a shape: every category and class occurs where there are rows enough, no two rows are equal.

    missing: share of the cells of `shape.missing` that are empty.
    """
    drawn = {name: _column(values, rows, rng) for name, values in shape.columns.items()}
    codes = [_numbers(values) for values in list(drawn.values())[:DEPENDS]]
    score = sum(codes) / len(codes) ** 0.5 + NOISE * rng.standard_normal(rows)
    place = np.argsort(np.argsort(score)) / rows  # in [0, 1)
    frame = pd.DataFrame({**drawn, shape.target: _target(shape.values, place)})
    for name in shape.missing:
        frame[name] = frame[name].mask(rng.random(rows) < missing)
    return frame


def _column(values: Values, rows: int, rng: np.random.Generator) -> np.ndarray:
    if values is None:
        return np.array([" ".join(rng.choice(WORDS, 4)) + f" {row}" for row in range(rows)], dtype=object)
    if isinstance(values[0], str):
        return np.array(values, dtype=object)[rng.permutation(np.arange(rows) % len(values))]
    low, high = values
    numbers = low + (high - low) * rng.random(rows)
    return np.round(numbers) if high - low >= 50 and float(low).is_integer() else np.round(numbers, 4)


def _numbers(values: np.ndarray) -> np.ndarray:
    """A column as standardised numbers: categories by their order of appearance."""
    numbers = values.astype(float) if values.dtype != object else pd.factorize(values)[0].astype(float)
    return (numbers - numbers.mean()) / (numbers.std() or 1.0)


def _target(values: Values, place: np.ndarray) -> np.ndarray:
    if values and isinstance(values[0], str):
        return np.array(values, dtype=object)[(place * len(values)).astype(int)]
    low, high = values or (0.0, 1.0)
    return np.round(low + (high - low) * (0.1 + 0.8 * place), 4)


def arff_of(frame: pd.DataFrame, shape: Shape) -> str:
    """Return a table as an ARFF file, with the categories of the shape."""
    kinds = {**shape.columns, shape.target: shape.values}
    attributes = [(name, list(kinds[name]) if isinstance(kinds[name][0], str) else "NUMERIC") for name in frame]
    cells = frame.astype(object).where(frame.notna(), None).values.tolist()
    return arff.dumps({"relation": "stand-in", "attributes": attributes, "data": cells})


def openml_description(entry: Mapping[str, Any], name: str, content: str, url: str) -> str:
    """Return the description (XML) that OpenML's server gives of a data set whose ARFF file lies at `url`."""
    fields = {
        "id": entry["id"],
        "name": name,
        "version": entry.get("version") or 1,
        "description": "a stand-in",
        "format": "ARFF",
        "licence": "Public",
        "url": url,
        "file_id": entry["id"],
        "default_target_attribute": entry["target"],
        "status": "active",
        "md5_checksum": hashlib.md5(content.encode()).hexdigest(),
    }
    lines = [f"<oml:{key}>{escape(str(value))}</oml:{key}>" for key, value in fields.items()]
    opening = '<oml:data_set_description xmlns:oml="http://openml.org/openml">'
    return "\n".join([opening, *lines, "</oml:data_set_description>"])
