"""Precision of positive predictions: closed forms, and interval coverage on real score matrices of known truth."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from memaudit.attacks.calibrate import calibrate
from memaudit.data import membership_matrices
from memaudit.statistics.accusation_precision import (
    Accusations,
    precision,
    precision_estimates,
    predictive_level,
)
from memaudit.statistics.attack_performance import judge, judge_attack
from memaudit.statistics.roc import tpr_at_fpr
from memaudit.statistics.threat_models import ratio

FPR, RATE = 0.05, 0.1
SETS, MODELS, REPETITIONS = 32, 512, 100
# The table, members in the design, and how many of them a repetition draws.
TABLES = {"breast_cancer": (load_breast_cancer, 240, 120), "wine": (load_wine, 120, 60)}


@pytest.fixture(scope="module", params=TABLES)
def grid(request):
    """Logit-scaled confidence (model, record) of classifiers fitted on halves of an embedded table, and the design."""
    load, members, drawn = TABLES[request.param]
    rng = np.random.default_rng(10)
    x, y = load(return_X_y=True)
    chosen = rng.permutation(len(x))[:members]
    x, y = StandardScaler().fit_transform(x)[chosen], y[chosen]
    design = membership_matrices.balanced(MODELS, members, rng, block=8)
    signals = np.empty(design.shape)
    for row, inside in enumerate(design):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(C=100.0, max_iter=60).fit(x[inside], y[inside])
        p = np.clip(model.predict_proba(x)[np.arange(members), y], 1e-12, 1 - 1e-12)
        signals[row] = np.log(p) - np.log1p(-p)
    return signals, design, drawn


def test_precision_is_the_share_of_members_among_the_accused():
    assert precision(0.5, 0.01, 0.1) == pytest.approx(50 / (50 + 9))  # of 1000 suspects: 50 of 100, and 9 of 900
    assert precision(0.05, 0.05, 0.3) == pytest.approx(0.3)
    assert precision(0.0, 0.05, 0.3) == 0


def test_the_interval_of_the_precision_holds_in_90_of_100_audits(grid):
    """Truth: what audits with as many shadow sets find on average over all sets and records of the grid."""
    signals, design, drawn = grid
    blocks = np.split(np.arange(MODELS), MODELS // SETS)
    rates = [tpr_at_fpr(calibrate(signals[b], design[b], "lira"), design[b], [FPR])[0] for b in blocks]
    truth = precision(np.mean(rates), FPR, RATE)
    assert truth > 1.3 * RATE  # there is a leak to be measured
    rng, held = np.random.default_rng(0), 0
    for _ in range(REPETITIONS):
        # Blocks of the design are balanced: eight models each.
        sets = (rng.permutation(MODELS // 8)[: SETS // 8, None] * 8 + np.arange(8)).ravel()
        cells = np.ix_(sets, rng.permutation(signals.shape[1])[:drawn])
        scores = calibrate(signals[cells], design[cells], "lira")
        found = judge(scores, design[cells], fprs=[FPR], rng=rng, replicates=100)
        ((_, value),) = precision_estimates(found, FPR, [RATE])
        held += value.low <= truth <= value.high
    assert held >= 90


def test_no_leak_is_claimed_on_a_placebo_more_often_than_stated(grid):
    signals, _, drawn = grid
    rng, claims = np.random.default_rng(1), 0
    for _ in range(REPETITIONS):
        sets, records = rng.permutation(MODELS)[:SETS], rng.permutation(signals.shape[1])[:drawn]
        placebo = membership_matrices.balanced(SETS, drawn, rng)
        attack = ratio(signals[np.ix_(sets, records)])
        found = judge_attack(attack, placebo, fprs=[FPR], rng=rng, replicates=40, permutations=19)
        claims += found[0].detected
    assert claims <= 9  # 5 are expected at most; more than 9 happen by chance in 3 of 100 such tests


def test_the_threshold_of_a_context_comes_from_the_others():
    rng = np.random.default_rng(3)
    member = membership_matrices.balanced(64, 200, rng)
    scores = rng.normal(size=member.shape)
    scores[5] += 10  # a context whose scores are all high does not raise its own threshold
    found = Accusations.at(scores, member, FPR, rng)
    assert found.accused[5].all()
    others = np.arange(64) != 5
    assert np.mean(found.rates()[1][others]) == pytest.approx(FPR * 63 / 64 - 1 / 64 * (1 - FPR), abs=0.015)
    constant = Accusations.at(np.ones(member.shape), member, FPR, rng)  # ties are broken at random
    assert np.mean(constant.rates()[1]) == pytest.approx(FPR, abs=0.01)
    assert not Accusations.at(scores, member, 1e-9, rng).accused.any()


def test_the_predictive_range_holds_the_precision_of_a_new_context():
    rng, held = np.random.default_rng(4), []
    for _ in range(150):
        member = membership_matrices.balanced(42, 100, rng)
        scores = rng.normal(size=member.shape) + 1.5 * member + rng.normal(0, 0.3, (42, 1))
        found = Accusations.at(scores, member, FPR, rng)
        made = precision(*found.rates(), 0.5)
        known = Accusations(found.accused[:-1], member[:-1]).in_one_context(0.5)
        if not np.isnan(made[-1]):
            held.append(known.low <= made[-1] <= known.high)
    assert np.mean(held) >= 0.9  # .95, and 2.8 standard errors
    assert predictive_level(41) == 0.95
    assert predictive_level(32) == pytest.approx(31 / 33)


def test_contexts_without_an_accusation_have_no_precision():
    member = np.ones((8, 4), bool)
    member[:, :2] = False
    nobody = Accusations(np.zeros((8, 4), bool), member).in_one_context(0.5)
    assert (nobody.n, predictive_level(nobody.n)) == (0, 0.0)
    assert np.isnan([nobody.estimate, nobody.low]).all()


@pytest.mark.parametrize(
    ("rates", "share"), [(np.full(800, 0.01), 0.0), (np.repeat([0.06, 0.004], [80, 720]), 0.1)], ids=["one", "two"]
)
def test_the_share_of_unevenly_accused_records_is_estimated_without_their_noise(rates, share):
    rng, found = np.random.default_rng(6), []
    for _ in range(8):
        member = membership_matrices.balanced(64, 800, rng)
        accused = Accusations(rng.random(member.shape) < rates, member)
        found.append(accused.above_twice_nominal(0.01, rng, 40, np.arange(800)))
        raw = ((accused.accused & ~member).sum(0) / 32 > 0.02).mean()
        assert raw > share + 0.05  # one accusation in 32 contexts is 3 %
    assert np.mean([one.estimate for one in found]) == pytest.approx(share, abs=0.05)
    assert sum(one.low <= share <= one.high for one in found) >= 6
