"""Result tables prepared for the report page, and the list of nulls that results are compared with."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import pandas as pd
from markupsafe import Markup

from memaudit.common.tidy import COLUMNS
from memaudit.plotting.result_tables import arrange, cell

ROWS, LONG = 60, 32
NUMBER = r"-?(?:[\d.]+(?:e[+-]?\d+)?|inf)"
# "0.6 [0.5, 0.7] (0.5)": an estimate, its interval, its null.
ESTIMATE = re.compile(rf"({NUMBER})(?: (\[[^\]]+\]))?(?: \(({NUMBER})\))?")
VALUE = re.compile(rf"({NUMBER}) (\[[^\]]+\])")


@dataclass(frozen=True)
class PageTable:
    """The first ROWS rows of a table as texts; total: number of all rows; kinds: CSS class of each column.

    Kinds are number, text (long texts), or empty.
    """

    name: str
    title: str
    caption: str
    head: list[str]
    rows: list[list[str]]
    kinds: list[str]
    total: int


def of_results(name: str, entry: Mapping[str, Any], table: pd.DataFrame) -> PageTable:
    """A table of expanded tidy results in the layout of its entry; without a layout, one row for each result."""
    layout = entry["layout"]
    if layout is None:
        keys = [column for column in table if column not in COLUMNS and table[column].notna().any()]
        table = table.assign(result="estimate [interval] (chance)")
        layout = {"rows": [*keys, "metric"], "columns": ["result"], "null": True}
    shown = arrange(table, **layout)
    return of_rows(name, entry, [str(column) for column in shown], shown.itertuples(index=False, name=None))


def of_rows(name: str, entry: Mapping[str, Any], head: list[str], rows: Any) -> PageTable:
    """A table of arbitrary values; entry: its title and caption."""
    texts = [["" if value in ("", None) else cell(value) for value in row] for row in rows]
    kinds = [_kind(column) for column in zip(*texts, strict=True)] or [""] * len(head)
    return PageTable(name, entry["title"], entry["caption"], head, texts[:ROWS], kinds, len(texts))


def nulls(tables: Mapping[str, pd.DataFrame]) -> list[list[str]]:
    """Rows of table, metric, null and method of all results that have a null."""
    rows = []
    for name, table in tables.items():
        if "null" in table and "metric" in table:
            compared = table[table["null"].notna()]
            for metric, results in compared.groupby("metric", sort=False):
                rows.append([name, metric, _span(results["null"]), "; ".join(results["method"].dropna().unique())])
    return rows


def highlighted(sentence: str) -> Markup:
    """A sentence as markup in which every value, such as "0.6 [0.5, 0.7]", is highlighted and never broken."""
    parts = VALUE.split(sentence)
    markup = Markup('<span class="value"><strong>{}</strong> {}</span>')
    values = [markup.format(*value) for value in zip(parts[1::3], parts[2::3], strict=True)]
    return Markup("").join(chain.from_iterable(zip_longest(parts[::3], values, fillvalue="")))


def marked(text: str) -> Markup | str:
    """A table cell as markup, with interval and null in small print; other texts are returned unchanged."""
    found = ESTIMATE.fullmatch(text)
    if not found or not (found[2] or found[3]):
        return text
    small = [Markup("<small>{}</small>").format(part) for part in (found[2], found[3] and f"chance {found[3]}") if part]
    return Markup("{} {}").format(found[1], Markup("").join(small))


def _kind(column: tuple[str, ...]) -> str:
    if all(not text or re.fullmatch(NUMBER, text) for text in column):
        return "number"
    return "text" if max(map(len, column)) > LONG and not any(map(ESTIMATE.fullmatch, column)) else ""


def _span(values: pd.Series) -> str:
    distinct = sorted(set(map(cell, values)), key=float)
    return ", ".join(distinct) if len(distinct) <= 4 else f"{distinct[0]} to {distinct[-1]}"
