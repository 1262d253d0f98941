"""Tables with and without one record, read from a file as `snakemake release` reads them, and the worst-case model.

The adversary knows everything but the record's presence: all other records, the key of the shards and the seed of the
queries. The guarantee needs none of them secret.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from memaudit.common.arrays import Array32
from memaudit.common.io import write_table
from memaudit.privacy.private_table_reader import RawTable, read_raw
from memaudit.privacy.teacher_shards import Context, Private
from memaudit.privacy.teacher_votes import votes

ENTRY = {"target": "answer", "group": None, "drop": [], "missing": ["?"], "typed": True}
CLASSES = ("no", "yes")
FACTS = {
    "source": "made for this audit",
    "records": 1000,
    "task": "classification",
    "target": list(CLASSES),
    "columns": {"mark": [-1.0, 1.0], "kind": ["a", "b"]},
}
MARKED = {"mark": 1.0, "kind": "a", "answer": "yes"}  # at the bound of its column
KEYS = 500  # of the shards, of which the worst one is taken


@dataclass(frozen=True)
class Neighbours:
    """Two private tables, one with the audited record."""

    inside: Private
    outside: Private


def marks_model(contexts: Sequence[Context], queries: Array32) -> Array32:
    """Logits (context, query, class) of the second class where a context has a record at the upper bound of `mark`.

    One record decides all answers of its teacher: no model depends more on a record.
    """
    logits = np.zeros((len(contexts), len(queries), len(CLASSES)), np.float32)
    for place, (x, _) in enumerate(contexts):
        logits[place, :, int((x[:, 0] >= 1).any())] = 1
    return logits


def base_rows(yes: int, no: int, marked: int = 0) -> pd.DataFrame:
    """Records of both classes, every fourth of kind b, with `mark` at -.5 and .5; then `marked` times `MARKED`."""
    place = np.arange(yes + no)
    frame = pd.DataFrame(
        {
            "mark": np.where(place % 2, 0.5, -0.5),
            "kind": np.where(place // 2 % 4, "a", "b"),
            "answer": np.where(place < yes, "yes", "no"),
        }
    )
    return pd.concat([frame, pd.DataFrame([MARKED] * marked)], ignore_index=True)


def read(rows: pd.DataFrame, facts: Mapping[str, Any] = FACTS, group: str | None = None) -> RawTable:
    """The rows, written to a file and read as a release reads them; group: column of the person."""
    with tempfile.TemporaryDirectory() as folder:
        table, public = Path(folder) / "raw.parquet", Path(folder) / "public.yaml"
        write_table(rows, table)
        public.write_text(yaml.safe_dump(dict(facts)), encoding="utf-8")
        return read_raw(table, public, ENTRY | {"group": group})


def neighbours(outside: RawTable, inside: RawTable, private: type[Private] = Private) -> Neighbours:
    """Both tables with the same key of the shards. private: how the shards are made."""
    return _keyed(outside, inside, private, 0)


def decided(
    outside: RawTable, inside: RawTable, teachers: int, ones: int, private: type[Private] = Private
) -> Neighbours:
    """Both tables with the worst key of the shards: the record changes most votes, of about `ones` for `yes`.

    The key need not be secret. private: how the shards are made.
    """
    keyed = (_keyed(outside, inside, private, number) for number in range(KEYS))
    return min(keyed, key=lambda pair: _mildness(pair, teachers, ones))


def _keyed(outside: RawTable, inside: RawTable, private: type[Private], number: int) -> Neighbours:
    return Neighbours(*(private(one.x, one.y, one.units, b"key %d" % number, one.public) for one in (inside, outside)))


def _mildness(pair: Neighbours, teachers: int, ones: int) -> tuple[int, int]:
    """Votes that the record does not change, and how far those for `yes` are from `ones` without it; small is worst."""
    query = np.zeros((1, pair.inside.x.shape[1]), np.float32)
    with_record, without = (
        int(votes(one.teacher_contexts(teachers), query, len(CLASSES), marks_model)[0, 1])
        for one in (pair.inside, pair.outside)
    )
    return without - with_record, abs(without - ones)
