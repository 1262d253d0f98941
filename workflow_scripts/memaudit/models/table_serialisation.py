"""Records of a table as text, after TabLLM (Hegselmann et al. 2023), and as tokens: text template and list template.

Names from the data only fill places in fixed sentences, and each is put on one line, so that no name can begin a record
or an answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from memaudit.common.arrays import Array32
from memaudit.common.errors import AuditError
from memaudit.common.unreadable_texts import unreadable_texts

FORMS = {"template": ("The {} is {}.", " "), "list": ("- {}: {}", "\n")}  # of a cell; separator of cells
UNKNOWN = "Nothing is known."
SECONDS = 86400  # of a day


@dataclass(frozen=True)
class Serialiser:
    """Text form of the rows of an encoded table.

    columns: as in the schema. target: name of the target. classes: names of the classes, in the order of their codes.
    form: `template` ("The age is 39. The sex is male.") or `list` ("- age: 39", a line each).
    """

    columns: tuple[Mapping[str, Any], ...]
    target: str
    classes: tuple[str, ...]
    form: str

    @classmethod
    def of(cls, schema: Mapping[str, Any], form: str) -> "Serialiser":
        """For tables of `schema` (data/column_schema.py).

        Raises AuditError for an unknown form, free text without a list of its values, and classes that read the same.
        """
        if form not in FORMS:
            raise AuditError(f"options/serialisation: {form!r} is unknown; set {' or '.join(FORMS)}")
        readable(schema)
        target = schema["target"]
        classes = tuple(one_line(name) for name in target["categories"])
        if len(set(classes)) < len(classes):
            raise AuditError(f"target {target['name']!r}: two classes differ in blanks only; rename one in the table")
        return cls(tuple(schema["columns"]), one_line(target["name"]), classes, form)

    def instruction(self) -> str:
        """Return the question and its possible answers, sorted by name and not by code."""
        return f"What is the {self.target} of each record? It is one of: {', '.join(sorted(self.classes))}.\n"

    def records(self, x: Array32) -> list[str]:
        """Return rows (n, d), encoded as in data/record_encoding.py, as texts. A missing cell is left out.

        Raises AuditError for an invalid category code.
        """
        sentence, between = FORMS[self.form]
        columns = [
            [None if cell is None else sentence.format(one_line(column["name"]), one_line(cell)) for cell in cells]
            for column, cells in ((column, texts(column, x[:, i])) for i, column in enumerate(self.columns))
        ]
        return [between.join(filter(None, cells)) or UNKNOWN for cells in zip(*columns, strict=True)]

    def questions(self, x: Array32) -> list[str]:
        """Return rows (n, d), each as a question without its answer."""
        return [f"{record}\nAnswer:" for record in self.records(x)]

    def answer(self, code: int) -> str:
        """Return the answer to a question, with the line break: else `no` would be the beginning of `no idea`."""
        return f" {self.classes[code]}\n"

    def examples(self, x: Array32, y: NDArray[np.int64]) -> list[str]:
        """Return rows (n, d), each with its answer."""
        return [question + self.answer(code) for question, code in zip(self.questions(x), y, strict=True)]


@dataclass(frozen=True)
class Context:
    """Labelled records. rows: the record that each token belongs to; -1: the instruction. classes: of its labels."""

    text: str
    tokens: list[int]
    rows: list[int]
    classes: list[int]


@dataclass(frozen=True)
class Question:
    """keep: leading tokens shared with the context. tail: the others. answers: tokens of the context's classes."""

    keep: int
    tail: list[int]
    answers: list[list[int]]


class Prompter:
    """Contexts and questions as tokens of a language model that takes at most `most` of them (None: no limit).

    Special tokens of the tokenizer in the data are read as text. Where the tokenizer begins a text with a special
    token, so does every prompt.
    """

    def __init__(self, serialiser: Serialiser, tokenizer: PreTrainedTokenizerBase, most: int | None):
        self.serialiser, self.tokenizer, self.most = serialiser, tokenizer, most
        empty = tokenizer("")["input_ids"]
        self._start = empty[:1] if empty[:1] == [tokenizer.bos_token_id] else []

    def context(self, x: Array32, y: NDArray[np.int64]) -> Context:
        """Rows (n, d) with their class codes (n,), after the instruction."""
        parts = [self.serialiser.instruction(), *self.serialiser.examples(x, y)]
        text = "".join(parts)
        cut = self.tokenizer(text, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True)
        starts = np.cumsum([0, *map(len, parts[:-1])])
        rows = np.searchsorted(starts, [begin for begin, _ in cut["offset_mapping"]], "right") - 2
        tokens = self._start + cut["input_ids"]
        return Context(text, tokens, [-1] * len(self._start) + rows.tolist(), np.unique(y).tolist())

    def questions(self, context: Context, x: Array32) -> list[Question]:
        """Rows (m, d) after a context. Raises AuditError for one that is too long."""
        answers = [self.serialiser.answer(code) for code in context.classes]
        questions = []
        for question in self.serialiser.questions(x):
            # Text is tokenised as a whole: the tokenizer may merge characters across a seam.
            texts = [context.text + question + answer for answer in ("", *answers)]
            cut = self.tokenizer(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]
            prompt, *full = [self._start + tokens for tokens in cut]
            if self.most and (longest := max(map(len, full))) > self.most:
                raise AuditError(
                    f"a prompt has {longest} tokens, the model takes at most {self.most}; take fewer context rows"
                )
            seam = min(_shared(prompt, tokens) for tokens in full)
            keep = min(_shared(context.tokens, prompt), seam - 1)
            questions.append(Question(keep, prompt[keep:seam], [tokens[seam:] for tokens in full]))
        return questions


def readable(schema: Mapping[str, Any]) -> None:
    """Raise AuditError if a column is free text without a list of its values, which an encoded table does not hold."""
    texts = [column for column in schema["columns"] if column["type"] == "text" and not column.get("categories")]
    if texts:
        raise unreadable_texts(schema, texts)


def texts(column: Mapping[str, Any], values: Array32) -> list[str | None]:
    """Encoded cells (n,) of a column as texts; None: missing. Numbers are as short as float32 allows, dates ISO."""
    if column["type"] == "date":
        return [_date(day) for day in dates(values)]
    if column["type"] == "numeric":
        return [None if np.isnan(value) else str(value + np.float32(0)).removesuffix(".0") for value in values]
    return names(column, values)


def names(column: Mapping[str, Any], codes: Array32) -> list[str | None]:
    """Names of categories (n,) from their places in the column's list; None: missing."""
    listed = column["categories"]
    missing = np.isnan(codes)
    places = np.where(missing, 0, codes)
    wrong = (places != np.floor(places)) | (places < 0) | (places >= len(listed))
    if (wrong & ~missing).any():
        raise AuditError(
            f"column {column['name']!r}: a code is not one of its {len(listed)} categories; encode by this schema"
        )
    return [None if gap else listed[int(place)] for gap, place in zip(missing, places, strict=True)]


def dates(days: Array32) -> NDArray[np.datetime64]:
    """Days since 1970 (n,) as times, exact to the second; NaT: missing."""
    seconds = np.where(np.isnan(days), 0, np.round(days.astype(np.float64) * SECONDS)).astype("datetime64[s]")
    return np.where(np.isnan(days), np.datetime64("NaT"), seconds)


def one_line(name: str) -> str:
    """Return a name without line breaks and outer blanks."""
    return " ".join(name.split())


def _date(time: np.datetime64) -> str | None:
    return None if np.isnat(time) else str(time).removesuffix("T00:00:00")


def _shared(one: list[int], other: list[int]) -> int:
    """Number of equal leading tokens."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
