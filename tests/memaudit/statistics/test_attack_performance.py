"""The judge: no leak is claimed where there is none, and one is where there is."""

import numpy as np
import pytest

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.calibrate import calibrate
from memaudit.common.errors import AuditError
from memaudit.data.membership_matrices import Scheme, balanced
from memaudit.statistics.attack_performance import judge, judge_attack, judge_options, roc_band
from memaudit.statistics.randomisation_tests import randomisation_null

SHAPE = (16, 100)


def recorded(seed, leak=1.0):
    """A grid with a leak, model effects that all records share, and the design that made it."""
    rng = np.random.default_rng(seed)
    design = rng.random(SHAPE).argsort(0) < SHAPE[0] // 2
    signals = rng.normal(size=SHAPE) + leak * design + rng.normal(size=(SHAPE[0], 1)) / 2
    return signals * np.exp(rng.normal(size=SHAPE[1])), design


def verdict(signals, design, rng, **options):
    return judge_attack(Attack(signals, "lira"), design, rng=rng, replicates=100, permutations=19, **options)


def test_random_membership_holds_one_half_and_claims_no_leak():
    """95 % intervals hold it in at least 90 of 100 seeds; a claim needs p <= 0.05 and the interval: at most 5 here."""
    held, claimed = 0, 0
    for seed in range(100):
        signals, _ = recorded(seed)
        rng = np.random.default_rng([seed, 1])
        auc, *_ = verdict(signals, balanced(*SHAPE, rng), rng, fprs=(0.1,))
        held += auc.low <= 0.5 <= auc.high
        claimed += auc.detected
    assert held >= 90
    assert claimed <= 5


def test_a_leak_is_claimed():
    auc, tpr, _, rarest = verdict(*recorded(0), np.random.default_rng(1))
    assert auc.detected
    assert tpr.detected
    assert auc.low > 0.6 > auc.null_high > auc.null > auc.null_low
    assert auc.p_value == pytest.approx(1 / 20)
    assert auc.n == 1600
    assert "interpolated" in rarest.method
    assert "interpolated" not in tpr.method


def test_without_a_randomisation_null_nothing_is_claimed():
    signals, design = recorded(0)
    for estimate in judge(calibrate(signals, design, "lira"), design, rng=np.random.default_rng(0), replicates=20):
        assert not estimate.detected
        assert np.isnan(estimate.p_value)


def test_a_constant_score_sits_on_its_analytic_null():
    design = np.random.default_rng(0).random((12, 40)) < 0.5
    for estimate in judge(np.zeros((12, 40)), design, rng=np.random.default_rng(0), replicates=20):
        assert estimate.estimate == pytest.approx(estimate.null)
        # The last FPR is below two of 240 non-members, where a TPR has no interval.
        assert estimate.low == pytest.approx(estimate.high) or (
            estimate.metric == "tpr@0.001" and np.isnan(estimate.low)
        )


def test_a_tpr_at_an_fpr_of_fewer_than_two_non_members_has_no_interval():
    rng = np.random.default_rng(0)
    member = balanced(16, 60, rng)
    scores = rng.normal(size=member.shape) + 2 * member
    found = judge(scores, member, fprs=[2 / 480, 1 / 480], rng=rng, replicates=40)
    assert [np.isnan(one.low) for one in found] == [np.isnan(one.high) for one in found] == [False, False, True]
    assert found[2].method.endswith("FPR below 2/480 non-members: interpolated")
    band = roc_band(scores, member, np.array([1 / 480, 0.1]), rng=rng, replicates=40)
    assert np.isnan(band).tolist() == [[False, True, True], [False] * 3]


def test_the_null_of_an_attack_is_of_its_scheme_and_units():
    """Every record is in exactly when its unit is: records that were redrawn one by one would break that."""
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(8), 10)
    design = balanced(16, 8, rng)[:, units]
    signals = rng.normal(size=(16, 8))[:, units]
    ranges = []
    for groups in (units, None):
        options = {"groups": groups, "permutations": 99, "fprs": (0.1,), "scheme": Scheme(block=8)}
        auc, *_ = judge_attack(Attack(signals, "raw"), design, rng=np.random.default_rng(1), replicates=20, **options)
        ranges.append(auc.null_high - auc.null_low)
    assert ranges[0] > 1.5 * ranges[1]


def test_options_of_the_judges_come_from_a_section():
    section = {"fpr": [0.1], "replicates": 20, "permutations": 19, "sets": 8}
    assert judge_options(section) == {"fprs": [0.1], "replicates": 20, "permutations": 19}


def test_one_model_alone_is_judged_over_its_records():
    rng = np.random.default_rng(0)
    design = rng.random((1, 300)) < 0.5
    auc, *_ = judge(rng.normal(size=(1, 300)) + 2 * design, design, fprs=(0.1,), rng=rng, replicates=50)
    assert 0.8 < auc.low < auc.estimate < auc.high < 1


def test_a_null_for_other_fprs_is_refused():
    signals, design = recorded(0)
    null = randomisation_null(signals, design, "lira", np.random.default_rng(0), 19, fprs=(0.1,))
    with pytest.raises(AuditError, match="make it with the same"):
        judge(signals, design, rng=np.random.default_rng(0), null=null)
