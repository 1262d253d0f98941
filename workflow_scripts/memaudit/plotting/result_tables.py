"""A table as CSV (full precision, for machines), Markdown and LaTeX (three significant digits, for readers)."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from memaudit.io import replacing

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
MARKDOWN = str.maketrans({"|": r"\|", "<": "&lt;", ">": "&gt;", "\n": " "})


def write(table: pd.DataFrame, path: str | Path, layout: Mapping[str, Any] | None = None) -> None:
    """Write `path`.csv, `path`.md and `path`.tex. Names from data are escaped; what is missing is empty, or a dash.

    A layout (see `arrange`) says which lines the table has, and how readers see them; the CSV has them one by one.
    """
    table = chosen(table, (layout or {}).get("where"))
    shown = arrange(table, **layout) if layout else table
    cells = [[cell(value) for value in row] for row in shown.itertuples(index=False)]
    head = [str(name) for name in shown.columns]
    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in shown.dtypes]
    for suffix, text in (
        (".csv", table.to_csv(index=False, lineterminator="\n")),
        (".md", markdown(head, cells, numeric)),
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
    """Expanded tidy results as a table for readers: "estimate [low, high]" in each cell, and "(null)" where asked for.

    rows, columns: keys that name the lines and the columns; where: values that other keys must have (a list: one of
    them). Raises ValueError where two results fall into one cell: the layout then forgets a key.
    """
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
    for key, wanted in (where or {}).items():
        results = results[results[key].isin(wanted if isinstance(wanted, list) else [wanted])]
    return results


def _with_interval(result: Mapping[str, Any], null: bool) -> str:
    low, high, chance = (cell(result[name]) for name in ("low", "high", "null"))
    interval = "" if low == high == MISSING else f" [{low}, {high}]"
    return cell(result["estimate"]) + interval + (f" ({chance})" if null and chance != MISSING else "")


def cell(value: Any) -> str:
    """A value for readers: three significant digits, a dash where it is missing."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def markdown(head: list[str], cells: list[list[str]], numeric: list[bool]) -> str:
    """A Markdown table, names from data escaped; numeric: which columns stand to the right."""
    rule = ["--:" if number else ":--" for number in numeric]
    rows = [[text.translate(MARKDOWN) for text in row] for row in [head, *cells]]
    return "".join(f"| {' | '.join(row)} |\n" for row in [rows[0], rule, *rows[1:]])


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
