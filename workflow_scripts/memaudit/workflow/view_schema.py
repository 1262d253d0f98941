"""What a file in config/views/ may hold: the text and the layout of a study's tables, figures and main results."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """A part of a file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Paper(Strict):
    """The paper that a study reproduces; address: null before it is published."""

    title: str
    address: str | None


class Facts(Strict):
    """A table that the config alone decides: rows are a named value, or stand here."""

    title: str
    caption: str
    columns: list[str]
    rows: list[list[Any]]


class Layout(Strict):
    """Lines and columns of a table, by keys of its results (memaudit/plotting/result_tables.py: arrange).

    with_null: what chance gives stands in parentheses beside each estimate.
    """

    rows: list[str]
    columns: list[str]
    where: dict[str, Any] = {}
    null: bool = Field(False, alias="with_null")


class Shown(Strict):
    """What tables and figures have in common. results: kinds of files; if: shown unless it is empty, zero or null."""

    title: str
    caption: str
    results: list[str] = Field(min_length=1)
    if_: Any = Field(True, alias="if")


class Table(Shown):
    """A table; without a layout the CSV file and the others have the same lines."""

    layout: Layout | None = None


class Figure(Shown):
    """A figure, drawn by its function in memaudit/plotting/<study>_figures.py; where: the results that it shows."""

    where: dict[str, Any] = {}


class Value(Strict):
    """A number of a sentence: the row of this metric."""

    metric: str
    where: dict[str, Any] = {}


class Sentence(Strict):
    """A main result (memaudit/claims/headlines.py: Headline)."""

    answers: Literal["memorized", "trust", "defence"]
    sentence: str
    per: list[str]
    values: dict[str, Value]
    where: dict[str, Any] = {}
    provided: Value | None = None
    scale: Literal["linear", "log"] = "linear"


class Headlines(Strict):
    """Main results: the files that they rest on, and one sentence for each of them."""

    results: list[str] = Field(min_length=1)
    sentences: list[Sentence]


class StudyFile(Strict):
    """config/views/<study>.yaml. columns: keys of the results that layouts, `where` and sentences may name.

    words: module of memaudit/plotting whose READABLE puts values of keys into words for readers.
    """

    title: str
    question: str
    paper: Paper | None
    thresholds: list[str]
    columns: list[str]
    words: Literal["attack_labels"] | None = None
    texts: dict[str, str] = {}
    facts: dict[str, Facts] = {}
    tables: dict[str, Table]
    figures: dict[str, Figure] = {}
    headlines: Headlines | None = None
    claims: list[str] = []


class OwnTable(Strict):
    """Title and caption of a table that the workflow makes for every study."""

    title: str
    caption: str


class SharedFile(Strict):
    """config/views/shared.yaml: texts that all files may name, and tables that every study has."""

    texts: dict[str, str]
    claims: OwnTable
    headlines: OwnTable
