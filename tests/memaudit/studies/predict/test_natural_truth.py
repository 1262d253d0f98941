"""The truth of natural records: the same whether it is read from a setting's files or from its measurements."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import load_script
from predict_pipeline import JUDGED

from memaudit.attacks.score_matrices import gather
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid
from memaudit.studies.predict import prediction_metrics
from memaudit.studies.predict.judged_setting import JudgedSetting
from memaudit.studies.predict.natural_truth import NaturalTruth, targets_first
from memaudit.studies.predict.setting_features import setting_features

pytestmark = pytest.mark.usefixtures("one_thread")
TARGETS, RECORDS = 2, 60


def simulated(**changed):
    rng = np.random.default_rng(0)
    member, natural = rng.random((TARGETS, RECORDS)) < 0.5, np.arange(RECORDS) >= 5
    # A quarter of a target's records is memorized, and none that it was not trained on; the planted ones all are.
    lira = np.where(member & ((np.arange(RECORDS) % 4 == 0) | ~natural), 6.0, 0.0)
    parts = {"name": "toy", "lira": lira, "member": member, "natural": natural, "unit": np.arange(RECORDS) // 2}
    return NaturalTruth(**parts | {"least": 4.0, "replicates": 30, "seed": 1} | changed)


def test_natural_records_are_judged_in_and_outside_of_the_training_set():
    truth = simulated()
    assert len(truth.judged.record) == (truth.member & truth.natural).sum()
    assert len(truth.outside.record) == (~truth.member & truth.natural).sum()
    assert min(truth.judged.record.min(), truth.outside.record.min()) == 5
    assert truth.judged.memorized.sum() == (truth.memorized & truth.natural).sum() > 0
    assert not truth.outside.memorized.any()


def test_share_and_gate_are_those_of_the_metrics():
    truth = simulated()
    sides = truth.lira, truth.judged, truth.outside
    assert truth.share() == prediction_metrics.memorized_share(*sides, 4.0)
    assert truth.share(7.0).estimate == 0 < truth.share().estimate
    assert truth.beyond_chance == prediction_metrics.beyond_chance(*sides, 4.0)


def test_weights_are_common_and_follow_the_seed_and_the_name():
    weights = simulated().judged.weights
    np.testing.assert_array_equal(weights, simulated(least=2.0).judged.weights)
    assert not np.array_equal(weights, simulated(seed=2).judged.weights)
    assert not np.array_equal(weights, simulated(name="other").judged.weights)


def test_what_is_learned_from_and_what_is_judged_have_one_truth(run):
    """The gate, the share and every entry of a learned predictor's setting are those of the setting as it is judged."""
    grids = read_grid(run.given["records"]), read_grid(run.given["scores"]), gather(run.given["signals"])
    options = {"memorized": JUDGED["memorized"], "replicates": 20, "seed": 3}
    features = setting_features(*grids, "toy table", **options)
    params = SimpleNamespace(interrupt="first", drop=0.95, tolerance=0.03)
    setting = load_script("predict_judge_predictors").measured(*grids, params)
    judged = JudgedSetting(setting, thresholds=[], fpr=[], tpr=[], **options)
    assert features.share == judged.natural_truth.share()
    assert features.beyond == judged.natural_truth.beyond_chance.low
    for part in ("target", "record", "group", "memorized", "weights"):
        np.testing.assert_array_equal(getattr(features.judged, part), getattr(judged.entries, part))


def test_interrupted_targets_come_first_and_no_model_may_be_missing(run):
    records, scores = (read_grid(run.given[name]) for name in ("records", "scores"))
    signals = gather(run.given["signals"])
    order = targets_first(records, scores, signals)
    assert order[: scores.sizes["target"]].tolist() == scores.target.values.tolist()
    assert sorted(order) == list(range(records.sizes["model"]))
    with pytest.raises(AuditError, match="toy: 15 of 16 models; train the others"):
        targets_first(records, scores, signals.isel(model=slice(15)))
