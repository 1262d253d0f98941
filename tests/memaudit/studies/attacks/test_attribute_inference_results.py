"""Attribute inference: metrics of members and non-members, false detections, planted leaks, errors."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from memaudit.common.errors import AuditError
from memaudit.statistics import roc
from memaudit.studies.attacks import attribute_inference_results
from memaudit.studies.coverage.simulated_scores import companion_effects

FPRS = (0.1,)


def balanced(rng, models, records):
    return rng.random((models, records)).argsort(0) < models // 2


def posteriors(seed, added=0.0, models=16, records=60, bins=2):
    """Log posteriors of records whose bin a stranger's model guesses a little, and a member's one better by `added`."""
    rng = np.random.default_rng(seed)
    design, truth = balanced(rng, models, records), rng.integers(bins, size=records)
    right = truth[:, None] == np.arange(bins)
    strength = rng.normal(size=(models, 1)) / 4 + rng.normal(size=records) / 2 + 0.5 + added * design
    return rng.normal(size=(models, records, bins)) + strength[..., None] * right, truth, design, rng


def judged(values, truth, design, rng, **options):
    said = attribute_inference_results.guesses(values, truth, np.array([0.4, 0.6]))
    return attribute_inference_results.judge_attribute(
        said, design, fprs=FPRS, rng=rng, replicates=60, permutations=19, **options
    )


def test_both_sides_are_the_cells_of_the_design_and_their_difference_is_the_estimates_difference():
    values, truth, design, rng = posteriors(0, added=1.0)
    found = judged(values, truth, design, rng)
    positive = np.broadcast_to(truth == 1, design.shape)
    for side, cells in (("members", design), ("non-members", ~design)):
        accuracy, auc, tpr = found[side]
        assert accuracy.estimate == pytest.approx((values.argmax(-1) == truth)[cells].mean())
        assert accuracy.null == pytest.approx((truth == 1).mean())
        assert auc.estimate == pytest.approx(roc_auc_score(positive[cells], values[..., 1][cells]))
        assert tpr.estimate == pytest.approx(roc.tpr_at_fpr(values[..., 1][cells], positive[cells], FPRS)[0])
        assert auc.n == cells.sum()
    for inside, outside, between in zip(*found.values(), strict=True):
        assert between.estimate == pytest.approx(inside.estimate - outside.estimate)


def test_membership_that_adds_nothing_is_claimed_seldom_and_what_it_adds_is_found():
    claimed, held = 0, 0
    for seed in range(20):
        accuracy, auc, _ = judged(*posteriors(seed))["difference"]
        claimed += accuracy.detected
        held += auc.low <= 0 <= auc.high
        assert abs(accuracy.null) < 0.05
    assert claimed <= 3
    assert held >= 17
    found = [judged(*posteriors(seed, added=1.0))["difference"] for seed in range(3)]
    assert all(accuracy.detected and auc.detected for accuracy, auc, _ in found)


def test_a_table_that_tells_the_column_of_everybody_is_no_leak():
    """Both sides beat the base rate by far; the difference is nothing, and its interval, paired, is the narrower."""
    rng = np.random.default_rng(0)
    design, truth = balanced(rng, 32, 40), np.arange(40) % 2
    right = np.where(np.arange(40) % 8 > 1, truth, 1 - truth)[:, None] == np.arange(2)
    (members, *_), (others, *_), (between, *_) = judged(np.tile(right * 1.0, (32, 1, 1)), truth, design, rng).values()
    assert members.estimate == others.estimate == pytest.approx(0.75)
    assert members.low > members.null
    assert between.estimate == pytest.approx(0)
    assert not between.detected
    assert between.high - between.low < 0.6 * (members.high - members.low)


def test_with_two_bins_the_second_is_tested_and_with_more_the_most_frequent_one():
    values, truth, *_ = posteriors(0)
    assert (attribute_inference_results.guesses(values, truth, np.array([0.4, 0.6])).positive == (truth == 1)).all()
    values, truth, *_ = posteriors(0, bins=3)
    truth[:40] = 2
    said = attribute_inference_results.guesses(values, truth, np.array([0.7, 0.2, 0.1]))
    assert (said.positive == (truth == 2)).all()
    assert (said.score == values[..., 2]).all()
    assert said.base == pytest.approx((truth == 0).mean())


def test_the_band_of_the_members_is_the_curve_that_their_tpr_lies_on():
    values, truth, design, rng = posteriors(0, added=1.0)
    said = attribute_inference_results.guesses(values, truth, np.array([0.5, 0.5]))
    (tpr, low, high), (one, *_) = attribute_inference_results.band(
        said, design, np.array([0.1, 1.0]), rng=rng, replicates=40
    )
    assert tpr == pytest.approx(judged(values, truth, design, rng)["members"][2].estimate)
    assert low < tpr < high
    assert one == 1


def test_a_column_with_one_value_is_refused():
    values, truth, design, rng = posteriors(0)
    with pytest.raises(AuditError, match="one class"):
        judged(values, np.zeros_like(truth), design, rng)


def test_effects_of_companions_are_no_leak_of_the_record():
    """The plain redraw finds one in 12 to 16 % of the audits."""
    rng, plain, studentised = np.random.default_rng(0), [], []
    positive = np.arange(60) % 2 == 0
    for _ in range(250):
        design = balanced(rng, 32, 60)
        noise = 0.5 * rng.standard_normal(design.shape) + 0.5 * companion_effects(design, 3)
        known = rng.standard_normal(60) + noise
        guesses = attribute_inference_results.Guesses(known > -0.3, np.where(positive, known, -known), positive, 0.5)
        options = {"fprs": FPRS, "rng": rng, "replicates": 2, "permutations": 19}
        found = attribute_inference_results.judge_attribute(guesses, design, **options)["difference"]
        studentised.append([one.p_value <= 0.05 for one in found[:2]])
        plain.append([one.estimate > one.null + 1.645 * (one.null_high - one.null_low) / 3.92 for one in found[:2]])
    assert np.mean(plain) > 0.1
    assert np.mean(studentised) < 0.09
