"""The template layer of all pages: the report of a run, the page of an audit, and the generated pages of docs/."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parent / "templates"
HEX = 12
FILTERS = {"thousands": "{:,}".format, "short": lambda sha: sha[:HEX]}


def render(name: str, context: Mapping[str, Any], *folders: Path, filters: Mapping[str, Any] | None = None) -> str:
    """The page that a template makes of its context. Raises UndefinedError for a name that the context lacks.

    folders: where the template lies, if not beside the parts that all HTML pages share (head, style sheet, macros);
    filters: of the page itself, beside FILTERS. Values are escaped in HTML pages and stand as they are in Markdown.
    """
    return environment(*folders, html=name.endswith(".html"), filters=filters).get_template(name).render(context)


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
