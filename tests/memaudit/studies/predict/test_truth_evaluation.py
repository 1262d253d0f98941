"""Rows about the truth of a setting: interruption, shares of memorized records, and how far they can be trusted."""

import numpy as np
import pytest
from predict_pipeline import MODELS, TRAINING
from result_rows import chosen

from memaudit.attacks.score_matrices import gather
from memaudit.common.io import read_grid, read_json
from memaudit.studies.predict.shadow_training import checkpoints

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_interruption_is_found_and_lies_before_the_end(run, results):
    records, signals = read_grid(run.ready["records"]), gather(run.given["signals"])
    epochs = checkpoints(TRAINING)
    assert epochs == (*range(17), 24, 32, 40)
    own, losses = records.membership.values.astype(bool), signals.loss.values
    medians = np.array([np.median(losses[model][:, own[model]], 1) for model in range(MODELS)])
    first = (medians <= 0.05 * medians[:, :1]).argmax(1)
    assert (first > 0).all()
    row = chosen(results, metric="interruption", rule="first").iloc[0]
    assert row["estimate"] == pytest.approx(np.mean([epochs[place] for place in first]))
    assert row["n"] == MODELS
    fallen, drops = 1 - medians / medians[:, :1], chosen(results, metric="median loss drop")
    np.testing.assert_allclose(drops["estimate"][drops["epoch"].notna()], fallen.mean(0), atol=1e-6)
    there = chosen(drops, rule="first")["estimate"].iloc[0]
    assert there == pytest.approx(fallen[np.arange(MODELS), first].mean(), abs=1e-6)
    assert set(chosen(results, metric="interruption")["rule"]) == {"first", "closest instead"}


def test_shares_are_of_natural_records_and_those_with_planted_ones_stand_beside_them(run, results):
    records = read_grid(run.ready["records"])
    planted = records.mislabelled.values.astype(bool) | records.canary.values.astype(bool)
    member = records.membership.values[:2].astype(bool)
    shares = chosen(results, metric="memorized", threshold=2.0).set_index("records")
    assert shares.loc["natural", "n"] == (member & ~planted).sum()
    assert shares.loc["all", "n"] == member.sum()
    assert shares.loc["all", "estimate"] > shares.loc["natural", "estimate"]
    beyond = chosen(results, metric="memorized beyond chance").iloc[0]
    natural = shares.loc["natural"]
    assert beyond["estimate"] == pytest.approx(natural["estimate"] - 5 * natural["null"])
    agreement = chosen(results, metric="truth agreement").iloc[0]
    assert agreement["estimate"] > agreement["null"]
    ambiguity = chosen(results, metric="label ambiguity").iloc[0]
    assert ambiguity["n"] == (~planted).sum()
    assert 0 < ambiguity["estimate"] < 0.5


def test_circumstances_are_those_of_the_natural_records(run, results):
    facts = read_json(run.judged["recommended"])[0]
    beyond = chosen(results, metric="memorized beyond chance").iloc[0]
    assert facts["memorized"]["beyond_chance"] == pytest.approx(beyond["low"])
    assert (facts["targets"], facts["models"]) == (2, MODELS)
    assert facts["least_drop"] <= facts["drop"] <= facts["most_drop"]
