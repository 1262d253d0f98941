"""Attacks of four threat models: planted effects come out, discrete signals stay finite, differences are paired."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

from memaudit.attacks.registry import PASSIVE, Attack, on_confidence
from memaudit.statistics import intervals, roc, threat_models

KEYS = {"dataset": "wine", "arm": "main", "model": "m", "records": "targets"}


def planted(shape=(64, 100), leak=1.0, seed=0):
    rng = np.random.default_rng(seed)
    design = rng.random(shape).argsort(0) < shape[0] // 2
    return rng.normal(size=shape) + 3 * rng.normal(size=shape[1]) + leak * design, design, rng


def case(name, attack, design, **facts):
    return threat_models.case(KEYS, name, attack, design, np.arange(design.shape[1]), **facts)


def auc(one):
    return roc.auc(one.scores(), one.design)


def test_a_gaussian_shift_gives_the_auc_of_its_distance():
    """A shift of one deviation: Phi(1 / sqrt 2) = .760; fits on 128 sets cost a hundredth at most."""
    signals, design, _ = planted((128, 200))
    rmia = {"gamma": 1.0, "offline_a": 0.3}
    compared = on_confidence({name: name for name in PASSIVE}, signals, signals[:, :20], rmia)
    for name, attack in compared.items():
        if name.startswith("lira"):
            assert auc(case(name, attack, design)) == pytest.approx(ndtr(2**-0.5), abs=0.015), name


def test_fractions_that_hardly_vary_do_not_score_near_infinity():
    """One of 50 copies changed in every set without the record: without a floor all deviations are 0."""
    _, design, _ = planted((16, 10))
    stable = np.where(design, 1.0, 0.98)
    scores = case("perturbation", threat_models.stability(stable, 50), design).scores()
    # The floor is a step over the root of 12: a step is 3.5 floors, and the ratio half its square.
    np.testing.assert_allclose(np.abs(scores), 6)
    bare = case("perturbation", Attack(stable, "lira"), design).scores()
    assert np.abs(bare).min() > 1e6


def test_a_censored_record_counts_as_more_than_the_cap():
    _, design, _ = planted((16, 10))
    one = case("brainwash", threat_models.resistance(np.where(design, 33, 32)), design)
    assert auc(one) == 1.0
    # One copy is a step, too: as for fractions.
    np.testing.assert_allclose(np.abs(one.scores()), 6)


def test_brainwash_counts_that_are_all_tied_are_guessing():
    _, design, _ = planted((16, 10))
    assert auc(case("brainwash", threat_models.resistance(np.full(design.shape, 33)), design)) == 0.5


def test_brainwash_finds_counts_that_members_raise():
    _, design, rng = planted((64, 60))
    copies = rng.poisson(6 + 6 * design)
    out, inside = rng.poisson(6, 10**5), rng.poisson(12, 10**5)
    best = np.mean((inside > out) + (inside == out) / 2)
    assert auc(case("brainwash", threat_models.resistance(copies), design)) == pytest.approx(best, abs=0.03)


def less(first, second, rng):
    """The row of the difference of both AUCs."""
    return next(iter(threat_models.against(first, second, {"fpr": [0.1], "replicates": 100}, rng)))


def test_a_difference_is_that_of_the_aucs_and_that_of_an_attack_with_itself_is_none():
    signals, design, rng = planted()
    strong, weak = (case("lira", threat_models.ratio(signals + gain * design), design) for gain in (1.0, 0.0))
    found = less(strong, weak, rng)
    assert found["metric"] == "auc difference"
    assert "attack=lira - lira" in found["setting"]
    assert found["estimate"] == pytest.approx(auc(strong) - auc(weak))
    assert 0 == found["null"] < found["low"] < found["estimate"] < found["high"]
    none = less(weak, weak, rng)
    assert (none["estimate"], none["low"], none["high"]) == (0.0, 0.0, 0.0)


def test_a_difference_is_paired():
    """Two attacks that err on the same cells: alone each is uncertain, their difference is much less so."""
    signals, design, rng = planted((32, 20))
    first = case("lira", threat_models.ratio(signals), design)
    second = case("lira", threat_models.ratio(signals + 0.1 * rng.normal(size=design.shape)), design)
    other = case(
        "lira", threat_models.ratio(planted((32, 20), seed=1)[0] + design - planted((32, 20), seed=1)[1]), design
    )
    close, far = (less(first, one, rng) for one in (second, other))
    assert close["high"] - close["low"] < (far["high"] - far["low"]) / 3


def test_attacks_on_different_sets_have_no_paired_difference():
    signals, design, rng = planted()
    first, second = (case("lira", threat_models.ratio(signals), chosen) for chosen in (design, ~design))
    with pytest.raises(ValueError, match="same targets and sets"):
        less(first, second, rng)


def test_active_attacks_are_compared_with_lira_on_their_own_arm():
    signals, design, _ = planted((16, 10))
    names = ["lira", "lira poisoned", "brainwash"]
    cases = [
        case(name, threat_models.ratio(signals), design)._replace(
            keys={"arm": arm, "records": "targets", "attack": name, "poison": 5 * (name == "lira poisoned")}
        )
        for arm in ("main", "text")
        for name in names
    ]
    members = [
        case(name, threat_models.ratio(signals), design)._replace(
            keys={"arm": "main", "records": "members", "attack": name, "poison": 0}
        )
        for name in ("lira", "loss")
    ]
    found = threat_models.pairs(cases + members)
    assert [(one.name, other.name, one.keys["arm"] == other.keys["arm"]) for one, other in found] == [
        ("lira poisoned", "lira", True), ("brainwash", "lira", True),
        ("lira poisoned", "lira", True), ("brainwash", "lira", True), ("lira", "loss", True),
    ]  # fmt: skip
    assert [one.keys["records"] for one in found[-1]] == ["members", "members"]


def test_searches_are_counted_and_checks_keep_an_interval_when_all_pass():
    rng = np.random.default_rng(0)
    copies = np.array([[0, 3, 9], [9, 4, 9]])
    scanned = np.array([[-1, 3, 9], [-1, 5, -1]])
    monotone = np.where(scanned >= 0, 1, -1)
    facts = {
        one.metric: one
        for one in threat_models.searches(copies, scanned, monotone, 8, np.arange(3), rng=rng, replicates=20)
    }
    assert facts["censored"].estimate == 0.5
    assert facts["already wrong"].estimate == pytest.approx(1 / 6)
    assert facts["censored"].n == 6
    assert facts["bisection agrees"].estimate == pytest.approx(2 / 3)
    assert facts["bisection agrees"].n == 3
    # Wilson, 3 of 3: n / (n + z^2).
    assert facts["monotone"].low == pytest.approx(3 / (3 + 1.959964**2))
    assert facts["monotone"].high == 1.0


def test_searches_that_nobody_checked_say_nothing_of_checks():
    none = np.full((2, 3), -1)
    facts = threat_models.searches(none + 1, none, none, 8, np.arange(3), rng=np.random.default_rng(0), replicates=20)
    assert [one.metric for one in facts] == ["censored", "already wrong"]


def test_searches_that_all_end_alike_are_not_certain():
    copies = np.ones((16, 12), int)
    none = np.full_like(copies, -1)
    units = np.repeat(np.arange(6), 2)
    facts = threat_models.searches(copies, none, none, 8, units, rng=np.random.default_rng(0), replicates=20)
    # Wilson, 0 of the 6 units: z^2 / (n + z^2).
    assert (facts[0].estimate, facts[0].low) == (0, 0)
    assert facts[0].high == pytest.approx(1.959964**2 / (6 + 1.959964**2))
    assert "6 sets or units" in facts[0].method


def test_a_curve_names_the_rates_below_one_non_member():
    signals, design, rng = planted((16, 10))
    one = case("lira", threat_models.ratio(signals), design)
    found = list(threat_models.curve(one, rng, replicates=20))
    below = [row["method"].endswith("FPR below 1/80 non-members: interpolated") for row in found]
    assert below == [float(row["setting"].rpartition("fpr=")[2]) < 1 / 80 for row in found]


def test_a_tpr_difference_below_one_non_member_is_named():
    signals, design, rng = planted((16, 10))
    one = case("lira", threat_models.ratio(signals), design)
    auc, resolved, below = threat_models.against(one, one, {"fpr": [0.1, 0.01], "replicates": 20}, rng)
    assert "interpolated" not in auc["method"] + resolved["method"]
    assert below["method"].endswith("interpolated")


def test_the_mean_over_data_sets_is_as_sure_as_their_number():
    low, high = np.array([0.5, 0.6, 0.7, 0.8]), np.array([0.6, 0.7, 0.8, 0.9])
    mean, bottom, top = intervals.mean_of((low + high) / 2, low, high)
    assert mean == pytest.approx(0.7)
    assert (bottom, top) == pytest.approx((0.675, 0.725))


def test_the_mean_of_one_data_set_is_that_one_and_of_rates_stays_a_rate():
    assert intervals.mean_of(np.array([0.78]), np.array([0.0]), np.array([1.0])) == pytest.approx((0.78, 0, 1))
    rng = np.random.default_rng(0)
    for _ in range(100):
        low, rate, high = np.sort(rng.beta(0.3, 0.3, size=(3, 4)), axis=0)
        mean, bottom, top = intervals.mean_of(rate, low, high)
        assert 0 <= bottom <= mean <= top <= 1


def test_the_interval_of_a_mean_covers_it_where_the_rates_are_near_one():
    rng, truth, count = np.random.default_rng(0), np.array([0.97, 0.9, 0.8]), 60
    covered = 0
    for hits in rng.binomial(count, truth, size=(400, 3)):
        low, high = np.transpose([intervals.wilson(hit / count, count) for hit in hits])
        _, bottom, top = intervals.mean_of(hits / count, low, high)
        covered += bottom <= truth.mean() <= top
    assert 0.92 < covered / 400 < 0.985


def test_wilson_is_scipys():
    for hits, count in ((0, 5), (3, 7), (9, 9)):
        ours = binomtest(hits, count).proportion_ci(method="wilson")
        assert intervals.wilson(hits / count, count) == pytest.approx((ours.low, ours.high), abs=1e-12)
