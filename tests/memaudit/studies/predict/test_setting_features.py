"""What is read of a trained setting: natural own records, their truth, chance and costs."""

import numpy as np
import pytest
from learned_settings import SECONDS, setting

from memaudit.attacks.learned_memorization import ALL, tied_normal_scores
from memaudit.attacks.score_matrices import gather
from memaudit.common.io import read_grid
from memaudit.studies.predict.ground_truth import log_lira
from memaudit.studies.predict.setting_features import setting_features

pytestmark = pytest.mark.usefixtures("one_thread")
MEMORIZED = 1.0


@pytest.fixture(scope="module")
def grids(run):
    return read_grid(run.given["records"]), read_grid(run.given["scores"]), gather(run.given["signals"])


@pytest.fixture(scope="module")
def measured(grids):
    return setting_features(*grids, "toy table", memorized=MEMORIZED, replicates=20, seed=3)


def test_judged_are_natural_own_records_and_the_truth_is_lira_at_the_end(grids, measured):
    records, scores, signals = grids
    targets = scores.sizes["target"]
    planted = (records.mislabelled.values | records.canary.values).astype(bool)
    member = records.membership.values[:targets].astype(bool)
    assert len(measured.judged.record) == (member & ~planted).sum()
    assert not planted[measured.judged.record].any()
    lira = log_lira(signals.gap.values[:, -1], records.membership.values.astype(bool), targets) >= MEMORIZED
    np.testing.assert_array_equal(measured.judged.memorized, lira[measured.judged.target, measured.judged.record])
    assert measured.share.estimate == pytest.approx(lira[member & ~planted].mean())
    assert measured.share.null == pytest.approx(lira[~member & ~planted].mean())


def test_values_are_normal_scores_at_the_interruption_among_all_own_records(grids, measured):
    records, scores, _ = grids
    own, stop = records.membership.values[1].astype(bool), int(scores.interruption.values[1])
    assert set(measured.normal) == set(ALL)
    np.testing.assert_allclose(measured.normal["loss"][1, own], tied_normal_scores(scores.loss.values[1, stop, own]))
    np.testing.assert_allclose(
        measured.normal["mean_loss"][1, own], tied_normal_scores(scores.mean_loss.values[1, own])
    )
    assert np.isnan(measured.normal["psmi"][1, ~own]).all()
    assert (measured.drops >= 0.95).all()
    assert measured.models == records.sizes["model"]
    assert all(value >= 0 for value in measured.seconds.values())


def test_costs_are_of_what_a_predictor_needs():
    one = setting(0, {})
    assert one.cost(("loss",)) == one.cost(("logit_gap",)) == 2.0
    assert one.cost(("psmi", "loss")) == 3.0
    assert one.cost(("mean_loss",)) == 2.5
    assert one.cost(("neighbour_value",)) == 2.5
    assert one.cost(ALL) == sum(SECONDS.values())


def test_settings_at_chance_or_with_few_positives_are_refused():
    assert setting(0, {}).refusal == ""
    assert setting(0, {}, chance=0.1).refusal.startswith("not judged: by chance")
    assert setting(0, {}, share=0.01).refusal.startswith("not judged: ")
