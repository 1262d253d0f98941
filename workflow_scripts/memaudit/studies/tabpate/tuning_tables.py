"""Public tables on which the methods' settings are tuned, and on which no run reports: wine, and synthetic ones.

The synthetic tables have about the size and the difficulty of the paper's five: overlapping Gaussian classes, the same
with one record in four in the second class, classes by an interaction that no single column shows; sums of columns, and
Friedman's function (1991), with noise. Their bounds are facts of the construction, not read from records.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from memaudit.common.arrays import Array
from memaudit.common.project_paths import PROJECT
from memaudit.privacy.public_facts import Column, Public, read_public
from memaudit.studies.tabpate.evaluation_tables import Table

KEY = b"tuning tables are public"
END = 4.0  # bounds of standardised columns


def gaussian(rng: np.random.Generator, records: int, share: float = 0.5) -> tuple[Array, Array]:
    """Eight columns, of which four differ by half a deviation or more between two overlapping classes."""
    y = (rng.random(records) < share).astype(np.float64)
    return rng.normal(size=(records, 8)) + y[:, None] * np.array([0.9, 0.7, 0.6, 0.5, 0, 0, 0, 0]), y


def imbalanced(rng: np.random.Generator, records: int) -> tuple[Array, Array]:
    """As `gaussian`, with a quarter of the records in the second class."""
    return gaussian(rng, records, 0.25)


def interaction(rng: np.random.Generator, records: int) -> tuple[Array, Array]:
    """Six columns; the class is the sign of the product of the first two, plus noise."""
    x = rng.normal(size=(records, 6))
    return x, (x[:, 0] * x[:, 1] + rng.normal(scale=0.3, size=records) > 0).astype(np.float64)


def linear(rng: np.random.Generator, records: int) -> tuple[Array, Array]:
    """Eight columns; the target is a weighted sum of four, with a third of its variance from noise."""
    x = rng.normal(size=(records, 8))
    return x, x[:, :4] @ np.array([1.0, 0.8, 0.6, 0.4]) + rng.normal(scale=1.0, size=records)


def friedman(rng: np.random.Generator, records: int) -> tuple[Array, Array]:
    """Ten columns; Friedman's function of five, centred and divided by 5, with noise."""
    x = rng.uniform(-END, END, size=(records, 10))
    u = (x / END + 1) / 2
    bent = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2 + 10 * u[:, 3] + 5 * u[:, 4]
    return x, (bent - 14) / 5 + rng.normal(scale=0.3, size=records)


SYNTHETIC: dict[str, dict[str, Callable[[np.random.Generator, int], tuple[Array, Array]]]] = {
    "classification": {"gaussian": gaussian, "imbalanced": imbalanced, "interaction": interaction},
    "regression": {"linear": linear, "friedman": friedman},
}
TABLES = {"classification": ("wine", *SYNTHETIC["classification"]), "regression": tuple(SYNTHETIC["regression"])}


def tuning_table(name: str, records: int, seed: int) -> Table:
    """A tuning table; records: of a synthetic one."""
    if name == "wine":
        source = load_wine(as_frame=True)
        frame, classes = source.data, source.target.map(dict(enumerate(map(str, source.target_names))))
        return _table(read_public(PROJECT / "config/public/wine.yaml", dict.fromkeys(frame, "numeric")), frame, classes)
    task = next(task for task, tables in SYNTHETIC.items() if name in tables)
    x, y = SYNTHETIC[task][name](np.random.default_rng([seed, *name.encode()]), records)
    columns = tuple(Column(f"c{place}", (-END, END)) for place in range(x.shape[1]))
    target = Column("target", ("0", "1") if task == "classification" else (-2 * END, 2 * END))
    public = Public(name, "constructed", records, task, columns, target)
    frame = pd.DataFrame(x, columns=[column.name for column in columns])
    return _table(public, frame, pd.Series(y.astype(int).astype(str) if task == "classification" else y))


def _table(public: Public, frame: pd.DataFrame, target: pd.Series) -> Table:
    records = frame.assign(id=[f"r{place:05d}" for place in range(len(frame))], target=target.to_numpy())
    x, y, kept = public.encode(records)
    if not kept.all():
        raise ValueError(f"{public.dataset}: a record has no class of its public facts")
    return Table(public, records, x, y, records["id"].to_numpy(dtype=str), KEY)
