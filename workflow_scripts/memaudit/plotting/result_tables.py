"""A table as CSV (full precision, for machines), Markdown and LaTeX (three significant digits, for readers)."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from memaudit.common.constant_students import rests_on_constant
from memaudit.common.io import replacing

LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)
MISSING = "-"
# Column of results of constant students (common/constant_students.py), and the mark of their cells.
MARK = "constant student"
STAR = "*"
DECISION = "yes or no"  # unit of results that are 0 or 1
CELL = re.compile(r"\S+ \[\S+, \S+\].*")
TOO_FEW = "too few"  # how the method of a result without a value begins, where its data resolve none
MARKDOWN = str.maketrans({"|": r"\|", "\n": " "})
# What Markdown reads as the start of HTML or of a link; in texts without one, < and > are comparisons, and stay.
TAG = re.compile(r"<[A-Za-z/!?]")
TEXT = str.maketrans({"<": "&lt;", ">": "&gt;"})


def write(
    table: pd.DataFrame,
    path: str | Path,
    layout: Mapping[str, Any] | None = None,
    readable: Mapping[str, Callable[[str], str]] | None = None,
) -> None:
    """Write `path`.csv, `path`.md and `path`.tex. Names from data are escaped; missing values: empty or a dash.

    A layout (see `arrange`) selects results and arranges them in Markdown and LaTeX, with values of the keys `readable`
    in words for readers; the CSV has one result per row, and the keys as they are.
    """
    table = chosen(_marked(table) if layout else table, (layout or {}).get("where"))
    arranged = arrange(table, **layout) if layout else table
    for key in [key for key in readable or {} if layout and key in layout["rows"] and key in arranged]:
        arranged[key] = arranged[key].map(readable[key])
    cells = [[cell(value) for value in row] for row in arranged.itertuples(index=False)]
    head = [str(name) for name in arranged.columns]
    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in arranged.dtypes]
    for suffix, text in (
        (".csv", table.to_csv(index=False, lineterminator="\n")),
        (".md", markdown(head, cells, numeric) + (_legend(table, cells, layout) if layout else "")),
        (".tex", _latex(head, cells, numeric)),
    ):
        with replacing(f"{path}{suffix}") as temporary:
            temporary.write_text(text, encoding="utf-8")


def arrange(
    results: pd.DataFrame,
    rows: list[str],
    columns: list[str],
    where: Mapping[str, Any] | None = None,
    null: bool = False,
) -> pd.DataFrame:
    """Expanded tidy results as a table for readers: "estimate [low, high]" in each cell, with " (null)" if requested.

    rows, columns: keys whose values name the rows and the columns, of rows those that some result has; where: values
    that other keys must have (a list: one of them). Raises ValueError if two results fall into one cell: a key is
    missing in the layout.
    """
    rows = [name for name in rows if name in results]
    results = (
        chosen(results, where)
        .dropna(subset=columns)
        .astype(dict.fromkeys(rows, object))
        .fillna(dict.fromkeys(rows, ""))
    )
    lines = dict.fromkeys(results[rows].itertuples(index=False, name=None))
    heads = dict.fromkeys(results[columns].itertuples(index=False, name=None))
    cells: dict[tuple, str] = {}
    for result in results.to_dict("records"):
        key = tuple(result[name] for name in rows), tuple(result[name] for name in columns)
        if key in cells:
            raise ValueError(f"{key}: two results for one cell")
        cells[key] = _with_interval(result, null)
    body = [[*line, *(cells.get((line, head), "") for head in heads)] for line in lines]
    return pd.DataFrame(body, columns=[*rows, *(" ".join(map(str, head)) for head in heads)])


def chosen(results: pd.DataFrame, where: Mapping[str, Any] | None) -> pd.DataFrame:
    """The results whose keys have these values (a list: one of them)."""
    for key, value in (where or {}).items():
        results = results[results[key].isin(value if isinstance(value, list) else [value])]
    return results


def _marked(table: pd.DataFrame) -> pd.DataFrame:
    """Results with a column `MARK` where some of them are of constant students."""
    constant = rests_on_constant(table) if "metric" in table else pd.Series(False, index=table.index)
    if "source" in table:  # what a paper prints is about its own students
        constant &= table["source"] != "paper"
    return table.assign(**{MARK: constant}) if constant.any() else table


def _with_interval(result: Mapping[str, Any], null: bool) -> str:
    if str(result.get("method")).startswith(TOO_FEW):
        return TOO_FEW
    low, high, chance = (cell(result[name]) for name in ("low", "high", "null"))
    interval = "" if low == high == MISSING else f" [{low}, {high}]"
    text = cell(result["estimate"]) + interval + (f" ({chance})" if null and chance != MISSING else "")
    return text + (STAR if result.get(MARK) is True else "")


def cell(value: Any) -> str:
    """A value as text: three significant digits, a dash if it is missing."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def markdown(head: list[str], cells: list[list[str]], numeric: list[bool]) -> str:
    """A Markdown table, names from data escaped; numeric: whether each column is aligned to the right."""
    rule = ["--:" if number else ":--" for number in numeric]
    rows = [[_plain(text) for text in row] for row in [head, *cells]]
    return "".join(f"| {' | '.join(row)} |\n" for row in [rows[0], rule, *rows[1:]])


def _plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    text = text.translate(MARKDOWN)
    return text.translate(TEXT) if TAG.search(text) else text


def _legend(table: pd.DataFrame, cells: list[list[str]], layout: Mapping[str, Any]) -> str:
    """What brackets, parentheses, stars, 0 and 1 of a Markdown table mean, as a paragraph below it."""
    texts = [text for row in cells for text in row]
    meanings = {
        "In brackets: 95 % interval.": any(CELL.fullmatch(text) for text in texts),
        "In parentheses: the value by chance.": layout.get("null") and any(text.endswith(")") for text in texts),
        f"With a star: a student is constant in at least one repeat, and attacks on it prove nothing ({STAR}).": any(
            text.endswith(STAR) for text in texts
        ),
        "Where a result is yes or no, 1 is yes and 0 is no.": (table.get("unit") == DECISION).any(),
    }
    found = " ".join(meaning for meaning, there in meanings.items() if there)
    return f"\n{found}\n" if found else ""


def texts_table(head: list[str], lines: Iterable[Iterable[str]]) -> str:
    """A Markdown table of texts without a final newline; columns of numbers are aligned to the right."""
    cells = [list(line) for line in lines]
    numeric = [all(text[:1].isdigit() and " " not in text for text in column) for column in zip(*cells, strict=True)]
    return markdown(head, cells, numeric).rstrip("\n")


def _latex(head: list[str], cells: list[list[str]], numeric: list[bool]) -> str:
    rows = [" & ".join(text.translate(LATEX) for text in row) + r" \\" for row in [head, *cells]]
    columns = "".join("r" if number else "l" for number in numeric)
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        rows[0],
        r"\midrule",
        *rows[1:],
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"
