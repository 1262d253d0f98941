"""Planted score matrices of several variants of the contexts."""

import numpy as np
import xarray as xr
from scipy.stats import norm

from memaudit.common.io import write_grid

MEMBERS, OTHERS, SETS = 48, 24, 32
RECORDS = MEMBERS + OTHERS
ASKED = {"sets": 32, "fpr": [0.1], "replicates": 20, "permutations": 19, "neighbours": 3, "decimals": [1], "layer": 0.1}


def design(sets, population=0, inside=MEMBERS):
    """counts (set, record): each of the first members in half of the sets."""
    counts = np.zeros((sets, RECORDS), dtype=np.uint8)
    rng = np.random.default_rng(population)
    counts[:, :inside] = rng.random((sets, inside)).argsort(0).argsort(0) < sets // 2
    return counts


def rows_of(variant, gaps, counts, asked=None, base=1.0, seed=0):
    """Shadow sets of one variant, whose signals rise by `gaps` where the record is in; the rest are not asked about."""
    rng = np.random.default_rng([seed, *map(ord, variant)])
    signals = base + (counts > 0) * gaps + rng.standard_normal(counts.shape)
    labels = np.arange(RECORDS) % 2
    logits = np.zeros((*counts.shape, 2), dtype=np.float32)
    np.put_along_axis(logits, np.broadcast_to(labels, counts.shape)[..., None], signals[..., None], axis=-1)
    logits[:, ~(np.ones(RECORDS, bool) if asked is None else asked)] = np.nan
    records = np.arange(RECORDS)
    of_record = {"label": labels, "unit": records, "member": records < MEMBERS}
    of_record["rank"] = np.where(records < MEMBERS, records, -1)
    of_model = {"variant": [variant] * len(counts), "set": np.arange(len(counts)), "shown": np.zeros(len(counts), bool)}
    return xr.Dataset(
        {"logits": (("model", "record", "class"), logits), "counts": (("model", "record"), counts)},
        {"record": [f"r{i:02d}" for i in records], "feature": list("abcd")}
        | {name: ("record", values) for name, values in of_record.items()}
        | {name: ("model", values) for name, values in of_model.items()},
        {"dataset": "toy"},
    )


def arm(path, *variants):
    write_grid(xr.concat(variants, "model", data_vars="minimal", combine_attrs="override"), path)
    return str(path)


def only(table, metric, **keys):
    """The one row of a metric with these keys; a key that is None is missing."""
    for key, value in ({"metric": metric} | keys).items():
        table = table[table[key].isna() if value is None else table[key] == value]
    assert len(table) == 1, table
    return table.iloc[0]


def auc(gap):
    return norm.cdf(gap / np.sqrt(2))
