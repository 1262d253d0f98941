"""Tables that a narrow screen shows as lists: every cell carries the name of its column (templates/pictures.css)."""

import html
import re

from markupsafe import Markup, escape

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
HEAD = re.compile(r'<th\s+scope="col"[^>]*>(.*?)</th>', re.DOTALL)
ROW = re.compile(r"(<tr[^>]*>)(.*?)(?=</tr>)", re.DOTALL)
CELL = re.compile(r"<(th|td)(?=[\s>])")
HIDDEN = re.compile(r'<span\s+aria-hidden="true">.*?</span>', re.DOTALL)  # of an axis: a drawing needs no such name


def labelled(page: str) -> str:
    """The page with `data-label` on each `td` of its tables of more than two columns, from the column's header."""
    return TABLE.sub(lambda table: _labelled(table[0]), page)


def _labelled(table: str) -> str:
    head, body = table[: (start := table.index("<tbody>"))], table[start:]
    names = [_plain(name) for name in HEAD.findall(head)]
    if len(names) < 3:
        return table  # the row's name says what its one value is

    def of_row(row: re.Match[str]) -> str:
        places = iter(names)

        def of_cell(cell: re.Match[str]) -> str:
            name = next(places)
            return cell[0] if cell[1] == "th" else f'<td data-label="{escape(name)}"'

        return row[1] + CELL.sub(of_cell, row[2])

    return head + ROW.sub(of_row, body)


def _plain(markup: str) -> str:
    """The text of a header on one line."""
    return html.unescape(" ".join(Markup(HIDDEN.sub("", markup)).striptags().split()))
