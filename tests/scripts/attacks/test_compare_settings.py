"""The comparison of settings, on score matrices with planted leaks."""

import numpy as np
import pytest
from scipy.stats import norm
from setting_grids import MEMBERS, OTHERS, RECORDS, SETS, arm, auc, design, only, rows_of

from memaudit.common import tidy


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
