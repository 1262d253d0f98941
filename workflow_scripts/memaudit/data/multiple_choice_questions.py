"""Multiple-choice questions from a local file: MMLU, ARC and ETHICS as published, or a user's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common.checksums import check_sum
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, readable
from memaudit.common.tar_members import read_members

LETTERS = "ABCDEFGHIJ"
ADVICE = "download the questions again"


@dataclass(frozen=True)
class Choices:
    """Multiple-choice questions (record,): texts, the texts of their choices, and the place of the right choice."""

    questions: list[str]
    choices: list[list[str]]
    answers: NDArray[np.int64]

    def prompts(self) -> list[str]:
        """Return every question with its lettered choices, up to where the letter of the answer follows."""
        return [
            "\n".join([f"Question: {question}", *map("{}. {}".format, LETTERS, texts), "Answer:"])
            for question, texts in zip(self.questions, self.choices, strict=True)
        ]


def read_choices(path: str | Path, columns: Mapping[str, Any]) -> Choices:
    """Read a Parquet, JSON Lines or CSV file, or a CSV file in a tar archive (ETHICS).

    columns: question, choices or None, answer, and options where it is None; sha256: checksum of the file, if any;
    member: the file's name in the archive. A column of choices holds lists, or records with such a list as `text` and
    their names as `label` (ARC); the answer is a place from 0 on, or such a name. Raises AuditError for a missing or
    malformed file, or another checksum; nothing is downloaded.
    """
    table, listed = _read(Path(path), columns.get("sha256"), columns.get("member")), columns["choices"]
    for name in filter(None, (columns["question"], listed, columns["answer"])):
        if name not in table:
            raise AuditError(f"{path}: has no column {name!r}; it has {', '.join(map(str, table))}")
    choices, answers = [], []
    for row, answer in enumerate(table[columns["answer"]].tolist()):
        texts, names = _choices(table[listed].iloc[row] if listed else columns["options"])
        place = names.index(answer) if answer in names else answer
        if type(place) is not int or not 0 <= place < len(texts) <= len(LETTERS) or len(texts) < 2:
            raise AuditError(
                f"{path}: row {row} has {len(texts)} choices and the answer {answer!r}; give 2 to {len(LETTERS)}"
                " choices, and the place of the right one from 0 on, or its letter"
            )
        choices.append(texts)
        answers.append(place)
    return Choices(table[columns["question"]].astype(str).tolist(), choices, np.array(answers, np.int64))


def _read(path: Path, checksum: str | None, member: str | None) -> pd.DataFrame:
    if not path.is_file():
        raise AuditError(
            f"{path}: does not exist; download the questions and put them there, nothing is downloaded here"
        )
    check_sum(path, checksum, "questions")
    if path.suffix == ".parquet":
        return read_table(path, remedy=ADVICE)
    source = BytesIO(read_members(path, [member])[0]) if member else path
    with readable(path, ADVICE):
        return pd.read_csv(source) if (member or path.name).endswith(".csv") else pd.read_json(source, lines=True)


def _choices(cell: Any) -> tuple[list[str], list[str]]:
    """Texts of the choices, and the names by which an answer may refer to them."""
    if isinstance(cell, Mapping):
        return list(map(str, cell["text"])), list(map(str, cell["label"]))
    texts = list(map(str, cell))
    return texts, list(LETTERS[: len(texts)])
