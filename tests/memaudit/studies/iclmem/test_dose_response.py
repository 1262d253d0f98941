"""Doses that each signal sees: planted memory, none at all, and a signal that is blind to it."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import binom
from simulated_runs import draws, run, study

from memaudit.common import tidy
from memaudit.statistics.permutation_tests import max_t
from memaudit.studies.iclmem.dose_response import dose_axes, dose_response
from memaudit.studies.iclmem.run_metrics import IN_CONTEXT, SIGNALS, judge_run
from memaudit.studies.iclmem.significance_tests import Study

EPOCHS = (1, 10, 50)


def doses(falls, seed=0, splits=5, permutations=199, epochs=EPOCHS):
    """Rows of a condition whose members' probe losses fall by one of `falls` at each epoch, and nothing in context."""
    rng = np.random.default_rng(seed)
    judgements = [
        (split, epoch, *judge_run(run(fall, rng), draws(split=split, permutations=permutations), (0.1,)))
        for split in range(splits)
        for epoch, fall in zip(epochs, falls, strict=True)
    ]
    judged = study(judgements)
    return judged, tidy.expand(tidy.frame(list(dose_response(judged, 3)))) if len(epochs) > 2 else pd.DataFrame()


def of(table, metric, signal):
    return table[(table["metric"] == metric) & (table["signal"] == signal)].set_index("epoch")["estimate"]


def test_a_signal_is_detected_from_the_dose_on_at_which_it_falls():
    _, table = doses((0.0, 3.0, 3.0))
    assert of(table, "detected doses", "loss")[50] == 2
    assert of(table, "smallest detected dose", "loss")[50] == 10
    assert of(table, "largest undetected dose", "loss")[50] == 1
    assert (of(table, "auc dose p-value", "loss")[[10, 50]] <= 0.05).all()


def test_a_signal_that_is_blind_misses_every_dose_and_differs_from_the_one_that_sees():
    _, table = doses((0.0, 3.0, 3.0))
    assert of(table, "detected doses", IN_CONTEXT)[50] == 0
    assert np.isnan(of(table, "smallest detected dose", IN_CONTEXT)[50])
    gap = table[(table["metric"] == "auc less in-context") & (table["signal"] == "loss")].set_index("epoch")
    assert (gap.loc[[10, 50], "low"] > 0).all()
    assert gap.loc[1, "low"] < 0 < gap.loc[1, "high"]


def test_p_values_are_corrected_for_all_doses_and_signals():
    judged, table = doses((0.0, 0.1, 0.2), seed=3)
    observed, permuted = judged.values("observed"), judged.values("permuted")
    places = [np.flatnonzero(judged.runs["epoch"] == epoch) for epoch in EPOCHS]
    aucs = np.concatenate([[observed[signal][at].mean() for at in places] for signal in SIGNALS])
    nulls = np.concatenate([[permuted[signal][at].mean(0) for at in places] for signal in SIGNALS])
    expected = max_t(aucs, nulls).reshape(len(SIGNALS), -1)
    for signal, values in zip(SIGNALS, expected, strict=True):
        assert of(table, "auc dose p-value", signal).tolist() == pytest.approx(values.tolist())


def test_permuted_memberships_are_counted_by_the_same_rule():
    _, table = doses((0.0, 3.0, 3.0))
    chance = table[table["metric"] == "detected doses under permutation"]
    assert chance["signal"].tolist() == ["any"]
    assert 0 < chance["estimate"].item() <= 0.05 * len(EPOCHS) * len(SIGNALS)
    assert chance["high"].item() >= chance["low"].item() >= 0


@pytest.mark.long
def test_without_memory_any_dose_of_any_signal_is_detected_in_a_twentieth_of_studies():
    trials = 100
    tables = [doses((0.0, 0.0, 0.0), seed=seed, splits=3, permutations=59)[1] for seed in range(trials)]
    found = sum((table[table["metric"] == "detected doses"]["estimate"] > 0).any() for table in tables)
    assert found <= binom.ppf(0.999, trials, 0.05)
    gaps = [table[(table["metric"] == "auc less in-context") & (table["epoch"] == 10)] for table in tables]
    covered = np.mean([(gap["low"] <= 0) & (gap["high"] >= 0) for gap in gaps])
    assert covered > 0.9


def test_two_probed_epochs_are_no_dose_response():
    judged, _ = doses((0.0, 3.0), epochs=(1, 10))
    assert list(dose_response(judged, 3)) == []


RATES = {"slow": 1e-4, "usual": 1e-3, "fast": 1e-2}


def conditions(falls, seed=0):
    """A study of three conditions that differ in the learning rate; the last is probed at a further epoch."""
    rng = np.random.default_rng(seed)
    parts = []
    for (name, rate), fall in zip(RATES.items(), falls, strict=True):
        epochs = (10, 50) if name == "fast" else (10,)
        judgements = [
            (split, epoch, *judge_run(run(fall, rng), draws(split=split, permutations=199), (0.1,)))
            for split in range(5)
            for epoch in epochs
        ]
        part = study(judgements, learning_rate=rate)
        parts.append(part._replace(runs=part.runs.assign(arm=name)))
    runs = pd.concat([part.runs for part in parts], ignore_index=True)
    return Study(runs, xr.concat([part.null for part in parts], "run"))


def test_conditions_that_differ_in_one_setting_are_an_axis_at_the_last_epoch_that_they_share():
    table = tidy.expand(tidy.frame(list(dose_axes(conditions((0.0, 3.0, 3.0)), {"learning_rate": list(RATES)}))))
    assert table["epoch"].eq(10).all()
    assert table["axis"].eq("learning_rate").all()
    loss = table[table["signal"] == "loss"].set_index("metric")
    assert loss.loc["dose auc", "dose"].tolist() == [1e-4, 1e-3, 1e-2]
    assert loss.loc["detected doses", ["estimate", "n"]].tolist() == [2, 3]
    assert loss.loc["smallest detected dose", ["estimate", "unit"]].tolist() == [1e-3, "learning rate"]
    assert loss.loc["largest undetected dose", "estimate"] == 1e-4


def test_the_axis_of_a_data_set_that_lacks_a_condition_has_no_rows():
    judged = conditions((0.0, 3.0, 3.0))
    assert list(dose_axes(judged, {"learning_rate": [*RATES, "missing"]})) == []
    assert list(dose_axes(judged, {})) == []


def test_the_smallest_detectable_dose_is_detected_nine_times_in_ten():
    _, table = doses((0.0, 3.0, 3.0))
    shown = table[table["metric"] == "smallest detectable dose auc"].set_index("signal")["estimate"]
    assert len(shown) == len(EPOCHS) * len(SIGNALS)
    # 50 pairs in 5 splits: a deviation of .058 / sqrt(5) = .026; 2.4 to 3.5 of them for the largest, 1.28 for power.
    assert shown.drop(IN_CONTEXT).between(0.5 + 3.2 * 0.026, 0.5 + 5.5 * 0.026).all()
    assert (shown[IN_CONTEXT] == 1).all()  # equal for all records, so that no AUC is detected
