"""Entries of a judged setting: natural members, those outside, and the planted ones, under common weights."""

from types import SimpleNamespace

import numpy as np
import pytest

from memaudit.studies.predict.judged_setting import JudgedSetting
from memaudit.studies.predict.prediction_checkpoints import MeasuredSetting

MODELS, RECORDS, TARGETS = 16, 40, 2


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    membership = np.argsort(rng.random((MODELS, RECORDS)), 0) < MODELS // 2
    mislabelled, canary = np.arange(RECORDS) < 4, np.arange(RECORDS) >= 36
    gap = rng.normal(size=(MODELS, 3, RECORDS)) + 6 * (membership & mislabelled)[:, None]
    loss = np.ones((MODELS, 3, RECORDS)) * np.array([1.0, 0.05, 0.01])[:, None]
    scores = {name: rng.normal(size=(TARGETS, 3, RECORDS)) for name in ("psmi", "loss")}
    setting = MeasuredSetting(
        name="toy",
        epochs=np.arange(3.0),
        gap=gap,
        loss=loss,
        membership=membership,
        second_half=np.arange(MODELS) >= MODELS // 2,
        predictors=scores,
        layers={},
        inputs=rng.normal(size=(TARGETS, RECORDS)),
        rule="first",
        drop=0.95,
        tolerance=0.03,
        mislabelled=mislabelled,
        canary=canary,
        unit=np.arange(RECORDS),
    )
    options = SimpleNamespace(memorized=4.0, thresholds=[2.0], fpr=[0.1], tpr=[0.75], replicates=20, seed=1)
    return JudgedSetting(setting, **vars(options))


def test_results_are_of_natural_records(judged):
    planted, member = judged.setting.mislabelled | judged.setting.canary, judged.setting.member
    assert len(judged.entries.record) == (member & ~planted).sum()
    assert not planted[judged.entries.record].any()
    assert len(judged.outside.record) == (~member & ~planted).sum()
    assert len(judged.with_planted.record) == member.sum()
    assert {name: int(one.memorized.sum()) for name, one in judged.planted.items()} == {
        "mislabelled": member[:, :4].sum(),
        "canary": member[:, 36:].sum(),
    }


def test_all_entries_have_the_weights_of_their_records(judged):
    """A record outside one target's training set has the weight that it has inside another's."""
    for one in (judged.entries, judged.outside):
        of = dict(zip(zip(one.target.tolist(), one.record.tolist(), strict=True), one.weights.T, strict=True))
        whole = judged.cells(judged.truth, np.ones_like(judged.setting.member))
        for target, record, weights in zip(whole.target.tolist(), whole.record.tolist(), whole.weights.T, strict=True):
            if (target, record) in of:
                np.testing.assert_array_equal(of[target, record], weights)


def test_predictors_are_those_at_the_interruption_of_each_target(judged):
    assert judged.setting.stopped.tolist() == [1, 1]
    np.testing.assert_array_equal(judged.stopped["psmi"], judged.setting.predictors["psmi"][:, 1])
    assert judged.setting.later.tolist() == [1, 1]
    np.testing.assert_array_equal(judged.setting.references["psmi_untrained"], judged.setting.predictors["psmi"][:, 0])
