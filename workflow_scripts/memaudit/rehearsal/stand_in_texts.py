"""Synthetic texts, multiple-choice questions and images, in the files and columns of the real ones."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from memaudit.data.cifar10 import CLASSES, FILES, FOLDER

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ji", "ke", "lo", "mu", "na", "pe", "ri", "so", "tu", "va")
DOCUMENT = (40, 120)  # words


def words(rng: np.random.Generator, count: int) -> list[str]:
    """Return random words of two or three syllables, most of them rare."""
    return ["".join(rng.choice(SYLLABLES, size)) for size in rng.integers(2, 4, count)]


def corpus(entry: Mapping[str, Any], documents: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the rows of a text data set: the columns that an entry of the catalogue reads.

    An entry with `document_start` has a row for each line, the titles of documents among them, as Wikitext has; one of
    code has lines of assignments.
    """
    columns = entry.get("text_columns") or ["text"]
    texts = [words(rng, int(rng.integers(*DOCUMENT))) for _ in range(documents)]
    if entry.get("document_start"):
        rows = [line for text in texts for line in (f" = {text[0]} = \n", " ".join(text[1:]) + " \n", "")]
        return pd.DataFrame({columns[0]: rows})
    if entry.get("content") == "code":
        pairs = [zip(text[::2], text[1::2], strict=False) for text in texts]
        return pd.DataFrame({columns[0]: ["\n".join(f"{one} = {two}(x)" for one, two in lines) for lines in pairs]})
    parts = [np.array_split(text, len(columns)) for text in texts]
    return pd.DataFrame([[" ".join(part) for part in text] for text in parts], columns=columns)


def questions(data: Mapping[str, Any], count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return multiple-choice questions in the columns that a setting of study predict reads (`data` of its config).

    Choices of ARC are records of texts and labels, and its answers are letters; those of ETHICS are the setting's.
    """
    texts = [" ".join(words(rng, 12)) + "?" for _ in range(count)]
    names = {key: data.get(key, key) for key in ("question", "answer")}
    listed = data.get("choices", "choices")
    answers = np.arange(count) % (4 if listed else len(data["options"]))
    table = pd.DataFrame({names["question"]: texts, names["answer"]: answers})
    if not listed:
        return table
    choices = [[" ".join(words(rng, 2)) for _ in range(4)] for _ in range(count)]
    if names["answer"] == "answerKey":
        letters = list("ABCD")
        table[listed] = [{"text": texts, "label": letters} for texts in choices]
        table[names["answer"]] = [letters[answer] for answer in answers]
    else:
        table[listed] = choices
    return table


def write_questions(data: Mapping[str, Any], file: Path, count: int, rng: np.random.Generator) -> None:
    """Write the questions of a setting as it reads them: Parquet, or a CSV file in a tar archive."""
    table = questions(data, count, rng)
    if not data.get("member"):
        table.to_parquet(file, index=False)
        return
    write_tar(file, {data["member"]: table.to_csv(index=False).encode()}, "w")


def write_cifar10(file: Path, images: int, rng: np.random.Generator) -> None:
    """Write an archive of CIFAR-10's binary version with few images: six files, classes in turn, brighter by class."""
    per_file = -(-images // len(FILES))
    contents = {}
    for name in FILES:
        labels = (np.arange(per_file) % len(CLASSES)).astype(np.uint8)
        pixels = rng.integers(0, 128, (per_file, 3072)) + 12 * labels[:, None]
        contents[f"{FOLDER}/{name}"] = np.column_stack([labels, pixels.astype(np.uint8)]).tobytes()
    write_tar(file, contents, "w:gz")


def write_tar(file: Path, members: Mapping[str, bytes], mode: str) -> None:
    """Write an archive of files by name."""
    with tarfile.open(file, mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
