"""Attribute, data-set and property inference by the script: planted leaks are detected from shards, and only those."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import load_script

from memaudit.common import tidy
from memaudit.common.io import write_grid
from memaudit.workflow.job import Paths

FPRS = (0.1,)


def balanced(rng, models, records):
    return rng.random((models, records)).argsort(0) < models // 2


def write_grids(folder, leak):
    """Grids of 24 sets, 60 members and 30 others, three classes: contexts of a main arm, of two shares, a column."""
    rng = np.random.default_rng(0)
    members, size, sets, classes = 60, 90, 24, 3
    label = rng.integers(classes, size=size)
    record = {name: ("record", values) for name, values in (("label", label), ("unit", np.arange(size)))}
    record |= {"member": ("record", np.arange(size) < members), "record": [f"r{i}" for i in range(size)]}
    design = np.concatenate([balanced(rng, sets, members), np.zeros((sets, size - members), bool)], axis=1)
    shown = np.arange(sets) % 2 == 1

    def passive(logits, counts, name, rows):
        model = {"variant": [name] * sets, "set": np.arange(sets), "shown": shown}
        coordinates = record | {key: ("model", np.asarray(values)[rows]) for key, values in model.items()}
        data = {"logits": (("model", "record", "class"), logits[rows]), "counts": (("model", "record"), counts[rows])}
        return xr.Dataset(data, coordinates, {"dataset": "toy"})

    logits = rng.normal(size=(sets, size, classes))
    logits[:, np.arange(size), label] += leak * design
    for shard, rows in enumerate((slice(0, 10), slice(10, sets))):
        write_grid(passive(logits, design.astype(np.uint8), "usual", rows), folder / f"main{shard}.nc")
    logits = rng.normal(size=(sets, size, classes))
    logits[..., 0] += leak * shown[:, None]
    logits[:, :members] = np.nan
    named = [(logits * 0, "usual"), (logits, "shares 0.5 0.7")]
    both = [passive(values, np.zeros_like(design, np.uint8), name, slice(None)) for values, name in named]
    write_grid(xr.concat(both, "model", data_vars="minimal"), folder / "settings.nc")
    inside, truth = design[:, :members], rng.integers(2, size=members)
    hit = np.repeat([0, 1], 2) == truth[:, None]
    logits = rng.normal(size=(sets, members, 4, classes))
    logits += (leak * inside[..., None] * hit)[..., None] * (label[:members, None] == np.arange(classes))[:, None]
    coordinates = {key: ("record", values[1][:members]) for key, values in record.items() if key != "record"}
    coordinates |= {"bin": ("level", [0, 0, 1, 1]), "prior": ("level", np.full(4, 0.25))}
    data = {"logits": (("model", "record", "level", "class"), logits), "design": (("model", "record"), inside)}
    write_grid(
        xr.Dataset(data | {"truth": ("record", truth)}, coordinates, {"dataset": "toy"}), folder / "attribute.nc"
    )


def asked(folder, **inputs):
    """What the script says of the folder's grids: expanded tidy results, and curves."""
    paths = Paths([str(folder / name) for name in ("tidy.parquet", "roc.parquet")])
    paths._named = dict(zip(("tidy", "roc"), paths, strict=True))
    inputs = {"main": ["main0.nc", "main1.nc"], "settings": ["settings.nc"], "attribute": ["attribute.nc"]} | inputs
    files = {name: [str(folder / path) for path in listed] for name, listed in inputs.items()}
    settings = {"sets": 20, "fpr": [0.1], "replicates": 30, "permutations": 19}
    settings["inference"] = {"corpora": [60, 12, 5], "trials": 20}
    job = SimpleNamespace(input=SimpleNamespace(get=files.get), output=paths, wildcards=SimpleNamespace(dataset="toy"))
    job.params = SimpleNamespace(seed=1, attacks=settings)
    assert load_script("attacks_evaluate_inference").main(job) == {"seed": 1}
    return tuple(tidy.expand(pd.read_parquet(path)) for path in paths)


@pytest.mark.parametrize("leak", [0.0, 3.0])
def test_the_script_answers_three_questions_from_shards(tmp_path, leak):
    write_grids(tmp_path, leak)
    results, curves = asked(tmp_path)
    found = results[results.metric == "auc detected"].set_index(["question", "cells", "corpus", "variant"]).estimate
    assert len(found) == 4
    assert (found == bool(leak)).all()
    assert set(results.cells.dropna()) == {"members", "non-members", "difference"}
    assert set(results.corpus.dropna()) == {5, 12}
    power, size = (results[results.metric == name].set_index("corpus") for name in ("power", "size"))
    assert (power.estimate > 0.6).all() == bool(leak)
    assert (size.estimate < 0.3).all()
    assert (power.n == 20).all()
    assert set(curves.columns) >= {"dataset", "question", "fpr"}
    assert curves.groupby("question").size().to_dict() == {"attribute": 31, "data set": 31, "property": 31}
    fractions = results[results.unit == "fraction"]
    few = fractions.method.str.contains("interpolated")  # a TPR at the FPR of less than two non-members
    assert (fractions[["low", "high"]].isna().all(axis=1) == few).all()
    assert fractions[["low", "high"]].isna().any(axis=1).equals(few)


def test_a_table_without_the_variant_is_not_asked_about_a_property(tmp_path, capsys):
    write_grids(tmp_path, 0.0)
    results, _ = asked(tmp_path, settings=["main0.nc"])
    assert set(results.question) == {"attribute", "data set"}
    said = capsys.readouterr().out
    assert "property: no variant has `shares`" in said
    assert "a corpus of 60 records is larger" in said
