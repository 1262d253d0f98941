"""The scripts on settings, records and mitigations, on grids with planted leaks."""

import runpy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import norm

from memaudit import tidy
from memaudit.errors import AuditError
from memaudit.io import write_grid, write_json, write_table
from memaudit.workflow.digest import script_of
from memaudit.workflow.job import Paths

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


@pytest.fixture
def run(project, tmp_path, monkeypatch):
    """Run a script's main in an empty folder; its tidy results by name of the output, keys as columns."""
    monkeypatch.chdir(tmp_path)

    def call(name, inputs, outputs, **params):
        main = runpy.run_path(str(script_of(name)))["main"]
        job = SimpleNamespace(input=Paths(inputs), output=Paths(outputs), wildcards=SimpleNamespace(dataset="toy"))
        job.params = SimpleNamespace(seed=1, attacks=ASKED | params.pop("attacks", {}), **params)
        assert main(job) == {"seed": 1}
        return [pd.read_parquet(path.partition("=")[2] or path) for path in outputs]

    return call


def only(table, metric, **keys):
    """The one row of a metric with these keys; a key that is None is missing."""
    for key, value in ({"metric": metric} | keys).items():
        table = table[table[key].isna() if value is None else table[key] == value]
    assert len(table) == 1, table
    return table.iloc[0]


def auc(gap):
    return norm.cdf(gap / np.sqrt(2))


@pytest.fixture
def outliers(tmp_path):
    """Members whose exposure grows with their distance from all others, and what is known of them."""
    x = np.random.default_rng(0).standard_normal((RECORDS, 2))
    place = np.random.default_rng(1).permutation(MEMBERS)
    x[:MEMBERS] += np.where(place[:, None] % 2, 1, -1) * (np.maximum(place - 20, 0)[:, None]) ** 1.5
    gaps = np.zeros(RECORDS)
    gaps[:MEMBERS] = 4 * place / MEMBERS
    counts = design(2 * SETS)
    main = arm(tmp_path / "main.nc", rows_of("usual", gaps, counts))
    table = pd.DataFrame(x, columns=["a", "b"]).assign(colour="red", note="a text")
    table["id"] = [f"r{i:02d}" for i in range(RECORDS)]
    table["target"] = np.where(np.arange(RECORDS) % 2, "yes", "no")
    write_table(table.sample(frac=1, random_state=0), tmp_path / "records.parquet")
    kinds = {"a": "numeric", "b": "numeric", "colour": "categorical", "note": "text"}
    columns = [{"name": name, "type": kind} for name, kind in kinds.items()]
    columns[2]["categories"] = ["red"]
    target = {"name": "target", "type": "categorical", "categories": ["no", "yes"]}
    write_json({"columns": columns, "target": target, "task": "classification"}, tmp_path / "schema.json")
    return SimpleNamespace(gaps=gaps, inputs=[f"main={main}", "records=records.parquet", "schema=schema.json"])


def test_records_are_ranked_by_exposure_and_outliers_leak(outliers, run):
    outputs = ["tidy=tidy.parquet", "ranks=ranks.parquet", "map=map.parquet"]
    results, ranks, points = run("attacks_rank_records", outliers.inputs, outputs)
    results, points = tidy.expand(results), tidy.expand(points)

    assert list(ranks["rank"]) == list(range(MEMBERS))
    assert ranks["exposure"].is_monotonic_decreasing
    planted = outliers.gaps[ranks["id"].str[1:].astype(int)]
    assert np.corrcoef(ranks["exposure"], planted)[0, 1] > 0.9

    distance = only(results, "spearman", predictor="neighbour distance")
    assert distance["estimate"] > 0.6
    assert only(results, "spearman detected", predictor="neighbour distance")["estimate"] == 1
    assert only(results, "spearman", predictor="isolation forest")["estimate"] > 0.5
    assert np.isnan(only(results, "spearman", predictor="frequency of the class")["estimate"])
    quartiles = [only(results, "auc", quartile=number)["estimate"] for number in (1, 2, 3, 4)]
    assert quartiles[3] > 0.9
    assert quartiles[3] > max(quartiles[:2]) + 0.1

    assert set(points["metric"]) == {"distance", "exposure"}
    exposure = points[points["metric"] == "exposure"].set_index("point")
    np.testing.assert_allclose(exposure["estimate"].sort_index(), ranks["exposure"])
    assert (exposure["low"] < exposure["estimate"]).all()


def test_the_map_names_no_record(outliers, run):
    _, ranks, points = run(
        "attacks_rank_records", outliers.inputs, ["tidy=tidy.parquet", "ranks=ranks.parquet", "map=map.parquet"]
    )
    assert not points.astype(str).apply(lambda column: column.str.contains("|".join(ranks["id"]))).any(axis=None)
    assert set(tidy.expand(points).columns) >= {"dataset", "point", "class"}


def test_the_loss_outside_does_not_foretell_an_exposure_that_all_records_share(outliers, run, tmp_path):
    """From the same shadow sets it would: a mean that is low by chance raises both."""
    found = []
    for seed in range(4):
        arm(tmp_path / "main.nc", rows_of("usual", 1.0, design(2 * SETS, seed), seed=seed))
        outputs = ["tidy=tidy.parquet", "ranks=ranks.parquet", "map=map.parquet"]
        results, *_ = run("attacks_rank_records", outliers.inputs, outputs)
        found.append(only(tidy.expand(results), "spearman", predictor="loss without the record")["estimate"])
    assert abs(np.mean(found)) < 0.2


@pytest.fixture
def settings(tmp_path):
    """Inputs of the arms, each variant with a gap of its own."""
    members = np.arange(RECORDS) < MEMBERS
    small = design(16, 5, 16), (np.arange(RECORDS) < 16) | ~members
    smaller = design(16, 6, 8), (np.arange(RECORDS) < 8) | ~members
    usual, first = design(SETS), design(SETS)[:16]
    # As in the study, a smaller design is the beginning of a larger one.
    copied = first * np.where(np.arange(RECORDS) < 12, 3, 1).astype(np.uint8)
    return {
        "main": arm(tmp_path / "main.nc", rows_of("usual", 1.5, usual)),
        "settings": arm(
            tmp_path / "settings.nc",
            rows_of("population 1", 1.5, design(16, 1)),
            rows_of("context 8", 2.0, *small),
            rows_of("context 4", 3.0, *smaller),
            rows_of("features 1", 0.0, first),
            rows_of("features 2 order 1", 0.8, first),
            rows_of("copies 3", 1.0 + 2.0 * (copied == 3), copied),
            rows_of("shares 0.5 0.7", 0.0, first * 0, ~members),
        ),
        "defended": arm(
            tmp_path / "defended.nc",
            rows_of("population 2", 1.5, design(16, 2)),
            rows_of("layer dropped population 2", 1.0, design(16, 2)),
        ),
        "deployed": arm(tmp_path / "deployed.nc", rows_of("usual", 3.5, first)),
    }


def test_every_setting_has_its_own_leak_on_the_right_records(settings, run):
    arms = {name: {"model": "small", "mode": "raw"} for name in settings} | {"absent": {"model": "x", "mode": "raw"}}
    inputs = [f"{name}={path}" for name, path in settings.items()]
    (found,) = run("attacks_compare_settings", inputs, ["settings.parquet"], arms=arms)
    found = tidy.expand(found)

    def estimate(metric="auc", **keys):
        return only(found, metric, **keys)["estimate"]

    everyone = {"arm": "settings", "records": "all"}
    assert estimate(variant="usual", arm="main", sets=32, records="all") == pytest.approx(auc(1.5), abs=0.06)
    assert estimate(variant="context 8", **everyone) == pytest.approx(auc(2), abs=0.1)
    assert only(found, "auc", variant="context 8", **everyone)["n"] == 16 * 16
    assert only(found, "auc", variant="context 8", arm="settings", records="common")["n"] == 16 * 8
    assert only(found, "auc", variant="usual", sets=16, records="common")["n"] == 16 * 8
    assert estimate(variant="copies 3", arm="settings", records="copied") > 0.9
    assert only(found, "auc", variant="copies 3", arm="settings", records="copied")["n"] == 16 * 12
    once = only(found, "auc", variant="usual", records="copied")
    assert (once["copies"], once["n"], once["sets"]) == (1, 16 * 12, 16)
    assert not set(found["variant"].dropna()) & {"shares 0.5 0.7", "layer dropped population 2"}

    features = found[(found["metric"] == "auc") & (found["records"] == "all")].set_index("variant")["features"]
    assert (features["features 1"], features["features 2 order 1"], features["population 1"]) == (1, 2, 4)
    assert only(found, "auc", variant="features 2 order 1")["order"] == 1
    assert only(found, "auc", variant="context 4", records="all")["context"] == 4
    assert only(found, "auc", variant="population 1", records="all")["population"] == 1

    correct = only(found, "accuracy", arm="main", records="non-members")
    assert correct["estimate"] == pytest.approx(norm.cdf(1), abs=0.05)
    assert correct["n"] == SETS * OTHERS
    assert only(found, "balanced accuracy", variant="context 4")["null"] == 0.5


def test_confounds_and_the_number_of_columns(settings, run):
    arms = {name: {"model": "small", "mode": "raw"} for name in settings}
    inputs = [f"{name}={path}" for name, path in settings.items()]
    (found,) = run("attacks_compare_settings", inputs, ["settings.parquet"], arms=arms)
    found = tidy.expand(found)
    none = only(found, "auc difference", variant="population 1 - usual")
    assert none["low"] < 0 < none["high"]
    assert only(found, "auc difference", variant="population 2 - usual")["n"] == 16 * MEMBERS
    deployed = only(found, "auc difference", variant="deployed - main")
    assert deployed["low"] > 0
    assert deployed["estimate"] == pytest.approx(auc(3.5) - auc(1.5), abs=0.1)
    columns = only(found, "spearman features")
    assert columns["estimate"] == pytest.approx(1)
    assert columns["n"] == 3
    assert (columns["low"], columns["high"]) == (-1, 1)


def test_a_table_has_no_more_columns_than_it_has(settings, run, tmp_path):
    """Asked for eight of its four, it keeps all: that is the usual contexts again, and no further point."""
    first = design(SETS)[:16]
    variants = [rows_of(name, gap, first) for name, gap in (("features 1", 0.0), ("features 8", 1.5))]
    inputs = [f"main={settings['main']}", f"settings={arm(tmp_path / 'few.nc', *variants)}"]
    arms = {name: {"model": "small", "mode": "raw"} for name in ("main", "settings")}
    (found,) = run("attacks_compare_settings", inputs, ["settings.parquet"], arms=arms)
    found = tidy.expand(found)
    assert only(found, "auc", variant="features 8")["features"] == 4
    assert only(found, "spearman features")["n"] == 2


@pytest.fixture
def onion(tmp_path):
    """Dropping the five most exposed exposes the next five; dropping others does not; rounding hides a small gap."""
    ranks = pd.DataFrame({"id": [f"r{i:02d}" for i in range(MEMBERS)], "exposure": np.arange(MEMBERS, 0, -1.0)})
    write_table(ranks.assign(rank=np.arange(MEMBERS)).sample(frac=1, random_state=0), tmp_path / "ranks.parquet")
    gaps = np.full(RECORDS, 0.5)
    gaps[:5], gaps[5:10] = 2.5, 1.0
    peeled, counts = gaps.copy(), design(SETS, 2)
    peeled[5:10] = 3.0
    dropped, random = counts.copy(), counts.copy()
    dropped[:, :5] = 0
    random[:, [7, 20, 21, 22, 23]] = 0
    inputs = {
        "main": arm(tmp_path / "main.nc", rows_of("usual", 1.0, design(SETS))),
        "settings": arm(
            tmp_path / "settings.nc",
            rows_of("context 8", 3.0, design(16, 5, 16), (np.arange(RECORDS) < 16) | (np.arange(RECORDS) >= MEMBERS)),
            rows_of("copies 3", 1.0, design(16)),
        ),
        "defended": arm(
            tmp_path / "defended.nc",
            rows_of("population 2", gaps, counts),
            rows_of("bags 4 population 2", gaps / 4, counts, base=0.0),
            rows_of("layer dropped population 2", peeled, dropped),
            rows_of("layer random population 2", gaps, random),
            rows_of("layer coarsened population 2", np.where(np.arange(RECORDS) < 5, 0.0, gaps), counts),
        ),
    }
    targets = xr.load_dataset(inputs["main"]).isel(record=slice(0, 12), model=slice(0, 16))
    stable = np.stack([0.5 + 0.2 * (targets.counts > 0) + 0 * targets.counts, 1.0 + 0 * targets.counts], -1)
    perturbed = xr.Dataset(
        {"stable": (("model", "record", "setting"), stable.astype("float32")), "design": targets.counts > 0},
        {"scale": ("setting", [0.1, 0.5]), "count": ("setting", [10, 10])},
        {"dataset": "toy"},
    )
    write_grid(perturbed, tmp_path / "perturbed.nc")
    return [f"{name}={path}" for name, path in inputs.items()] + ["perturbed=perturbed.nc", "ranks=ranks.parquet"]


def test_mitigations_are_attacked_anew_and_the_onion_peels(onion, run):
    wanted = {"perturbation": {"count": 10, "scale": 0.1}}
    (found,) = run("attacks_compare_mitigations", onion, ["mitigations.parquet"], attacks=wanted)
    found = tidy.expand(found)

    def of(mitigation, records, metric="auc difference", attack="lira"):
        return only(found, metric, mitigation=mitigation, records=records, attack=attack)

    assert of("none", "first layer", "auc")["estimate"] == pytest.approx(auc(2.5), abs=0.06)
    assert of("none", "all that remain", "auc")["n"] == SETS * MEMBERS
    # Dropped: the layer is gone, the next one exposed, and more so than where others were dropped.
    assert of("layer dropped", "all that remain", "auc")["n"] == SETS * (MEMBERS - 5)
    assert of("layer dropped", "next layer")["low"] > 0.05
    onion_effect = of("layer dropped - layer random", "next layer")
    assert onion_effect["low"] > 0.05
    assert onion_effect["n"] == SETS * 4  # one of the next layer was dropped at random
    assert not len(found[(found["mitigation"] == "layer dropped") & (found["records"] == "first layer")])
    chance = of("layer random", "next layer")
    assert chance["low"] < 0.05
    assert of("layer random", "first layer", "auc")["estimate"] > 0.9
    assert of("layer coarsened", "first layer")["high"] < -0.2
    assert of("bags 4", "all that remain")["high"] < 0
    assert of("bags 4", "non-members", "accuracy difference")["high"] < 0

    labels = of("labels only", "first layer", "auc", "lira on correctness")["estimate"]
    assert 0.55 < labels < of("decimals 1", "first layer", "auc")["estimate"] < 0.97
    same = of("decimals 1", "non-members", "accuracy difference")
    assert (same["estimate"], same["low"], same["high"]) == (0, 0, 0)

    assert "copies 3" not in set(found["mitigation"])
    plain, rounded = (of(name, "non-members", "accuracy") for name in ("none", "decimals 1"))
    assert (plain["low"], plain["high"]) == (rounded["low"], rounded["high"])
    smaller = of("context 8", "all that remain")
    assert (smaller["low"] > 0, smaller["n"]) == (True, 16 * 16)
    assert of("labels only", "targets", "auc", "perturbation")["estimate"] == 1
    assert of("labels only", "targets", "auc difference", "perturbation")["n"] == 16 * 12
    assert of("none", "targets", "auc")["n"] == 16 * 12


def test_contexts_that_hold_the_dropped_layer_are_refused(onion, run, tmp_path):
    ranks = pd.read_parquet(tmp_path / "ranks.parquet")
    write_table(ranks.assign(rank=MEMBERS - 1 - ranks["rank"]), tmp_path / "ranks.parquet")
    with pytest.raises(AuditError, match="contain some of it"):
        run("attacks_compare_mitigations", onion, ["mitigations.parquet"])
