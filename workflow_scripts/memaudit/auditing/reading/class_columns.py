"""Probability columns of a file of predictions: which they are, the class of each, and whether their numbers fit."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from memaudit.common.arrays import Array, Codes
from memaudit.common.errors import AuditError

PREFIXES = ("probability_", "p_", "")
ROUNDED = 0.005  # how far a probability of two decimals may be off
MOST_ROUNDED = 0.05
ALLOWED = "[0, 1]; give probabilities, or percent with the sign % in all cells"
WHOLE = re.compile(r"[+-]?\d+\.0+")


class ClassColumns(NamedTuple):
    """Names of the probability columns and the class of each, in the order of the file."""

    columns: list[str]
    classes: list[str]


def class_name(text: str) -> str:
    """A class as it is compared with the name of a column: without outer blanks, 1.0 as 1."""
    text = str(text).strip()
    return text.partition(".")[0] if WHOLE.fullmatch(text) else text


def class_columns(columns: Sequence[str], targets: Sequence[str]) -> ClassColumns:
    """Probability columns among `columns`: `probability_<class>`, `p_<class>` or named by the class.

    targets: the classes that occur. The naming that has a column for most of them is taken; with a prefix all columns
    that have it are probabilities. Raises AuditError for fewer than two columns.
    """
    found = max((_named(prefix, columns, targets) for prefix in PREFIXES), key=lambda one: one[0])[1]
    if len(found.columns) < 2:
        raise AuditError(
            "there are no columns of probabilities: one for each class is needed, named by the class, p_<class> or "
            "probability_<class>; predicted numbers (regression) or labels alone are not audited from files"
        )
    if len(set(found.classes)) < len(found.classes):
        twice = next(name for place, name in enumerate(found.classes) if name in found.classes[:place])
        raise AuditError(f"two columns hold the probability of one class, {twice!r}; remove one")
    return found


def _named(prefix: str, columns: Sequence[str], targets: Sequence[str]) -> tuple[int, ClassColumns]:
    """Number of the targets that have a column of this prefix, and these columns."""
    wanted = {class_name(target) for target in targets}
    chosen = [name for name in columns if name.startswith(prefix) and name != prefix]
    if not prefix:
        chosen = [name for name in chosen if class_name(name) in wanted]
    classes = [class_name(name.removeprefix(prefix)) for name in chosen]
    return len(wanted & set(classes)), ClassColumns(chosen, classes)


def probabilities(frame: pd.DataFrame, found: ClassColumns, where: str, percent: Collection[str] = ()) -> Array:
    """Probabilities (row, class) of a file. Raises AuditError that names file, column and data row.

    percent: columns whose cells had a percent sign.
    """
    values = np.empty((len(frame), len(found.columns)))
    for place, name in enumerate(found.columns):
        numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(np.float64, na_value=np.nan)
        numbers = numbers / 100 if name in percent else numbers
        _refuse(np.isnan(numbers), f"{where}, column {name!r}", "holds no number; a probability is needed")
        outside = (numbers < 0) | (numbers > 1)
        _refuse(outside, f"{where}, column {name!r}", f"holds a number outside {ALLOWED}")
        values[:, place] = numbers
    allowed = min(ROUNDED * values.shape[1], MOST_ROUNDED)
    off = np.abs(values.sum(1) - 1) > allowed + 1e-9
    remedy = f"sum to 1 within {allowed:g}; give the probabilities of all classes, one column each"
    _refuse(off, where, f"has {values.shape[1]} probabilities that do not {remedy}")
    return values


def labels(targets: pd.Series, found: ClassColumns, where: str) -> Codes:
    """Place (row,) of each row's class among the probability columns. Raises AuditError for a row without one."""
    _refuse(targets.isna().to_numpy(), where, "has no target; remove the row, or correct --missing")
    places = {name: place for place, name in enumerate(found.classes)}
    codes = targets.map(lambda text: places.get(class_name(text), -1)).to_numpy(np.int64)
    _refuse(codes < 0, where, "has a target that is none of the classes of the probability columns; add its column")
    return codes


def _refuse(wrong: Array, where: str, fault: str) -> None:
    if wrong.any():
        raise AuditError(f"{where}: data row {int(np.argmax(wrong)) + 1} {fault}")
