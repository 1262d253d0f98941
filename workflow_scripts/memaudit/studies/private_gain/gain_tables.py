"""Public tables with their public facts, cut into test records and nested samples of private records.

The repeats of a table test disjoint records, so that the variation between repeats holds that of the test records.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from memaudit.common import seeds
from memaudit.common.arrays import Array32, Indices
from memaudit.common.errors import AuditError
from memaudit.common.project_paths import PROJECT
from memaudit.privacy.public_facts import Public, read_facts, read_public
from memaudit.privacy.teacher_shards import Private

REPEATS = 4
SIZES = (250, 500, 1000, 2500, 5000, 10000)
MOST_TESTED = 1000
# The largest number of private records; the rest is tested on. Most tables come as NAME.csv.gz, the target last.
LARGEST = {"adult": 10000, "bank-marketing": 5000, "phoneme": 5000, "kc1": 1000, "digits": 1000, "credit-g": 750}
MISSING = ["", "?"]
# Classes of a copy of a table, where OpenML has others, which the public facts name.
CLASSES: Mapping[str, Mapping[str, str]] = {"phoneme": {"0": "1", "1": "2"}}
KEY = b"tables of this measurement are public"


@dataclass(frozen=True)
class GainTable:
    """Encoded records x (n, d), y (n,) of a public table and its public facts."""

    public: Public
    x: Array32
    y: Indices

    @property
    def sizes(self) -> list[int]:
        """Numbers of private records, ascending."""
        largest = LARGEST[self.public.dataset]
        return [*(size for size in SIZES if size < largest), largest]

    def split(self, repeat: int) -> tuple[Indices, Indices]:
        """Positions of the test records of a repeat, and of the private records: a sample of n is the first n.

        Test records of different repeats are disjoint; private records are drawn from all others.
        """
        name, count = self.public.dataset, len(self.y)
        tested = min(MOST_TESTED, count // REPEATS, count - LARGEST[name])
        places = seeds.generator(0, "private gain", name, "folds").permutation(count)
        fold = slice(repeat * tested, (repeat + 1) * tested)
        rest = np.delete(places, np.arange(count)[fold])
        drawn = seeds.generator(0, "private gain", name, "private", repeat).permutation(rest)
        return places[fold], drawn[: LARGEST[name]]

    def private(self, places: Indices) -> Private:
        """Private records at these positions; their nominal number is their number, which is public here."""
        public = replace(self.public, records=len(places))
        return Private(self.x[places], self.y[places], [f"r{place}" for place in places], KEY, public)


def gain_table(name: str, folder: str | Path) -> GainTable:
    """A table by name; folder: of NAME.csv.gz, with the target as the last column.

    Raises AuditError for a missing file, and for classes or columns that the public facts do not name.
    """
    path = PROJECT / f"config/public/{name}.yaml"
    frame = _digits() if name == "digits" else _read(name, Path(folder))
    types = {column: _type(frame[column]) for column in frame.columns.drop("target")}
    public = read_public(path, types)
    if public.task != read_facts(path).task or public.task != "classification":
        raise AuditError(f"{path}: a share of the gain over chance needs classes")
    x, y, kept = public.encode(frame)
    if not kept.all():
        raise AuditError(f"{path}: target: {int((~kept).sum())} records have a class that it does not list")
    return GainTable(public, x, y)


def _read(name: str, folder: Path) -> pd.DataFrame:
    path = folder / f"{name}.csv.gz"
    if not path.is_file():
        raise AuditError(f"{path}: there is no such file; name the folder of the public tables: TABLES=folder")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=MISSING, skipinitialspace=True)
    frame = frame.rename(columns={frame.columns[-1]: "target"})
    frame["target"] = frame["target"].replace(dict(CLASSES.get(name, {})))
    facts = read_facts(PROJECT / f"config/public/{name}.yaml")
    listed = {column for column, values in facts.columns.items() if isinstance(values[0], str)}
    numbers = [column for column in frame.columns.drop("target") if column not in listed]
    return frame.assign(**{column: pd.to_numeric(frame[column]) for column in numbers})


def _digits() -> pd.DataFrame:
    bundle = load_digits(as_frame=True)
    return bundle.data.assign(target=bundle.target.astype(str))


def _type(values: pd.Series) -> str:
    return "numeric" if pd.api.types.is_numeric_dtype(values) else "categorical"
