"""The largest AUC and TPR: intervals and nulls of the choice, each signal alone, and confounded settings apart."""

import pandas as pd
import pytest
import xarray as xr
from simulated_runs import judged

from memaudit.common import tidy
from memaudit.studies.iclmem.largest_signals import peaks, tpr_peaks
from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.studies.iclmem.significance_tests import Study, decisions


def all_peaks(planted):
    return tidy.expand(tidy.frame(list(peaks(planted, decisions(planted), (0.1,)))))


def peak_rows(planted):
    found = all_peaks(planted)
    return found[found["peak"] == "regime"].set_index("metric")


def test_the_interval_of_a_peak_covers_with_its_choice_and_its_null_is_that_of_the_largest():
    weak = peak_rows(judged(fall=0.0, seed=3))
    auc, p = weak.loc["auc"], weak.loc["auc max-T p-value"]
    assert auc["low"] < 0.5 < auc["null"] < auc["high"]
    assert p["n"] == 4  # two epochs and two signals
    assert (p["estimate"] <= 0.05) == (auc["low"] > 0.5)
    strong = peak_rows(judged(fall=3.0)).loc["auc"]
    assert 0.5 < strong["null"] < strong["low"] < strong["estimate"]


def test_the_largest_tpr_has_an_interval_for_its_choice():
    for fall, above in ((3.0, True), (0.0, False)):
        planted = judged(fall=fall, seed=4)
        row = next(iter(tpr_peaks(planted, (0.1,))))
        assert "peak=tpr" in row["setting"]
        assert "Bonferroni for 4 settings and signals" in row["method"]
        assert row["null"] == 0.1
        assert (row["low"] > 0.1) == above
        columns = [f"query_{signal}_tpr@0.1" for signal in ("loss", "entropy")]
        means = planted.runs.groupby("epoch")[columns].mean()
        assert row["estimate"] == pytest.approx(means.max(axis=None))


def test_confounded_settings_are_picked_apart_and_called_so():
    """Members whose labels alone are shuffled have the largest AUC; the clean family has its own, with its own null."""
    clean, confounded = judged(fall=0.0, seed=3), judged(fall=3.0, labels="shuffled_members", arm="b")
    both = Study(
        pd.concat([clean.runs, confounded.runs], ignore_index=True), xr.concat([clean.null, confounded.null], "run")
    )
    found, alone = all_peaks(both), all_peaks(clean)
    tested = found["metric"].isin(["auc", "auc max-T p-value", "smallest detectable largest auc"])
    for name in ("regime", "queries", "signal"):
        own, expected = (rows[(rows["peak"] == name)] for rows in (found[tested], alone))
        expected = expected[expected["metric"].isin(own["metric"])]
        assert own["labels"].unique().tolist() == ["normal"]
        assert own["estimate"].tolist() == expected["estimate"].tolist()
    apart = found[(found["peak"] == "confounded regime") & (found["metric"] == "auc")]
    assert apart["labels"].tolist() == ["shuffled_members"]
    assert apart["estimate"].iloc[0] > 0.99
    tprs = tidy.expand(tidy.frame(list(tpr_peaks(both, (0.1,)))))
    assert set(tprs["peak"]) == {"tpr", "confounded tpr", "signal tpr"}
    assert set(tprs[tprs["peak"] == "tpr"]["labels"]) == {"normal"}


def test_each_signal_has_its_largest_auc_corrected_for_all_of_them():
    found = all_peaks(judged(fall=3.0))
    found = found[found["peak"] == "signal"]
    p = found[found["metric"] == "auc max-T p-value"].set_index("signal")
    assert p.index.tolist() == list(SIGNALS)
    assert (p["n"] == 2 * len(SIGNALS)).all()  # two epochs
    assert p.loc["loss", "estimate"] == 1 / 200
    assert p.loc["in-context loss", "estimate"] > 0.05  # which has no signal here
    power = found[found["metric"] == "smallest detectable largest auc"].set_index("signal")
    assert power.loc["in-context loss", "estimate"] == 1  # all scores are equal: nothing can be detected
    assert power["estimate"].drop("in-context loss").between(0.55, 0.75).all()


def test_the_largest_tpr_of_each_signal_states_what_it_could_show():
    found = tidy.expand(tidy.frame(list(tpr_peaks(judged(fall=0.0, seed=4), (0.1,)))))
    found = found[found["peak"] == "signal tpr"].set_index(["signal", "metric"])
    assert found.index.levels[0].tolist() == sorted(SIGNALS)
    for signal in SIGNALS:
        assert found.loc[(signal, "tpr@0.1"), "high"] < 1
        assert 0.15 < found.loc[(signal, "smallest detectable tpr@0.1"), "estimate"] < 0.9
