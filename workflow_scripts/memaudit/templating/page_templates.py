"""The template layer of all pages: the report of a run, the page of an audit, and the generated pages of docs/."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parent / "templates"
HEX = 12
# Control characters apart from tab and line feed, and those that reorder text: a name from data may hold them.
INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FILTERS = {"thousands": "{:,}".format, "short": lambda sha: sha[:HEX]}


def render(name: str, context: Mapping[str, Any], *folders: Path, filters: Mapping[str, Any] | None = None) -> str:
    """The page that a template makes of its context. Raises UndefinedError for a name that the context lacks.

    folders: where the template lies, if not beside the parts that all HTML pages share (head, style sheet, macros);
    filters: of the page itself, beside FILTERS. Values are escaped in HTML pages and stand as they are in Markdown. In
    HTML control characters are shown as escape sequences.
    """
    html = name.endswith(".html")
    page = environment(*folders, html=html, filters=filters).get_template(name).render(context)
    return INVISIBLE.sub(lambda sign: ascii(sign[0])[1:-1], page) if html else page


def environment(*folders: Path, html: bool = True, filters: Mapping[str, Any] | None = None) -> Environment:
    """A Jinja environment that looks into these folders first, then among the shared parts."""
    made = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not html,
    )
    made.filters |= FILTERS | dict(filters or {})
    return made
