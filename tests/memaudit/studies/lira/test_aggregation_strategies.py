"""Seven strategies: against a plain reference, against closed forms, and the identities between them."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import nct, norm, t

from memaudit.attacks.calibrate import calibrate
from memaudit.errors import AuditError
from memaudit.statistics.student_t import BinnedSquares, exact_threshold
from memaudit.studies.lira.aggregation_strategies import STRATEGIES, Outcome, evaluate, score

FPRS = (0.1, 0.01, 0.001)


def balanced(rng, models, records):
    return rng.random((models, records)).argsort(0) < models // 2


def toy(rng, models, records, delta):
    """Gaussian records of known gap: IN N(delta, 1), OUT N(0, 1), each on a scale of its own."""
    design = balanced(rng, models, records)
    return (rng.normal(size=design.shape) + delta * design) * np.exp(rng.normal(size=records)) - 3, design


def plain(signals, design, statistics_of, targets, fprs):
    """Every strategy written out as its definition: {(strategy, fpr): (tpr, realised fpr)}."""
    options = {"targets": targets, "leave": "self"}
    ratio = calibrate(signals, statistics_of, "lira", **options).astype(np.float32).astype(float)
    standard = calibrate(signals, statistics_of, "postprocessed", **options).astype(np.float32).astype(float)
    exact = calibrate(signals, statistics_of, "postprocessed", convention="ddof1", **options)
    shadows = (~statistics_of).sum(0) - ~design
    freedom = t.fit(standard[~design], floc=0, fscale=1)[0]

    def pooled(above):
        return above[design].mean(), above[~design].mean()

    def averaged(above):
        return tuple(np.mean([a[m].mean() for a, m in zip(above.T, side.T, strict=True)]) for side in (design, ~design))

    of = {}
    for a in fprs:
        own = np.array([np.quantile(s[~m], 1 - a) for s, m in zip(ratio.T, design.T, strict=True)])
        of["naive", a] = pooled(ratio > np.quantile(ratio[~design], 1 - a))
        of["pp", a] = pooled(standard > np.quantile(standard[~design], 1 - a))
        of["pp_normal", a] = pooled(standard > norm.ppf(1 - a))
        of["pp_t", a] = pooled(standard > t.ppf(1 - a, freedom))
        of["pp_exact", a] = pooled(exact > t.ppf(1 - a, shadows - 1) * np.sqrt(1 + 1 / shadows))
        of["per_sample_normal", a] = averaged(standard > norm.ppf(1 - a))
        if len(design) * a >= 1:
            of["per_sample", a] = averaged(ratio > own)
    return of


@pytest.mark.parametrize("oracle", [False, True])
@pytest.mark.parametrize("models", [20, 128, 200])
def test_blocks_equal_the_plain_definitions(models, oracle):
    """Exactly, but for pp_t: its fitted degrees of freedom may differ by 1e-4, a cell in ten thousand."""
    rng = np.random.default_rng(models)
    design = rng.random((200, 300)).argsort(0) < rng.integers(90, 110, size=300)
    design[:16] = design[:16].mean(0) > 0.5
    design[:16][::2] = ~design[:16][::2]
    signals = (rng.standard_t(8, size=design.shape) + design * rng.random(300) * 3).astype(np.float32)
    expected = plain(
        signals if oracle else signals[:models], design[:models], design if oracle else design[:models], models, FPRS
    )
    outcomes = evaluate(signals, design, [models], oracle=oracle)
    assert {(o.strategy, o.fpr) for o in outcomes} == set(expected)
    for outcome in outcomes:
        tolerance = 1e-4 if outcome.strategy == "pp_t" else 1e-12
        found = outcome.tpr, outcome.realised_fpr
        assert found == pytest.approx(expected[outcome.strategy, outcome.fpr], abs=tolerance), outcome.strategy
        assert outcome.left_out == 0


def test_per_record_fprs_describe_their_distribution():
    signals, design = toy(np.random.default_rng(0), 64, 200, 1.0)
    ratio = calibrate(signals, design, "lira", leave="self").astype(np.float32).astype(float)
    naive = next(o for o in evaluate(signals, design, [64], keep_fpr=True) if o.strategy == "naive")
    each = np.array([(s[~m] > naive.threshold).mean() for s, m in zip(ratio.T, design.T, strict=True)])
    np.testing.assert_allclose(naive.fpr_per_record, each)
    assert naive.share_above_twice == (each > 0.2).mean()
    assert naive.fpr_quantiles[2] == np.median(each)


def test_a_balanced_design_makes_the_mean_over_records_the_pooled_rate():
    signals, design = toy(np.random.default_rng(0), 64, 100, 1.0)
    of = {(o.strategy, o.fpr): o for o in evaluate(signals, design, [64])}
    for fpr in FPRS:
        assert of["per_sample_normal", fpr].tpr == pytest.approx(of["pp_normal", fpr].tpr, abs=1e-14)


def test_per_sample_thresholds_need_their_models():
    """The code's rule, M >= 1 / fpr, decides what is evaluated, the paper's, M >= 2 / fpr, is written beside."""
    signals, design = toy(np.random.default_rng(0), 128, 20, 1.0)
    outcomes = [o for o in evaluate(signals, design, [16, 128]) if o.strategy == "per_sample"]
    assert [(o.models, o.fpr, o.enough_models) for o in outcomes] == [
        (16, 0.1, False),
        (128, 0.1, True),
        (128, 0.01, False),
    ]


def test_small_sample_threshold_is_calibrated_where_the_normal_one_is_not():
    """16 models, nominal 1 %: the normal threshold lets 4.5 % pass."""
    signals, design = toy(np.random.default_rng(0), 16, 6000, 3.0)
    of = {(o.strategy, o.fpr): o.realised_fpr for o in evaluate(signals, design, [16])}
    assert of["pp_exact", 0.01] == pytest.approx(0.01, abs=0.001)
    assert of["pp_normal", 0.01] == pytest.approx(0.045, abs=0.003)


def test_an_estimated_sign_costs_the_exact_threshold_some_of_its_calibration():
    """Without a gap the sign of the estimated one goes with the error of mu_out: a limit to know, not to hide."""
    signals, design = toy(np.random.default_rng(0), 16, 20000, 0.0)
    of = {(o.strategy, o.fpr): o.realised_fpr for o in evaluate(signals, design, [16])}
    assert 0.012 < of["pp_exact", 0.01] < 0.016


def test_exact_threshold_tends_to_the_normal_one():
    np.testing.assert_allclose(
        exact_threshold(0.01, np.array([7, 10**7])), [t.ppf(0.99, 6) * np.sqrt(8 / 7), 2.32635], rtol=1e-5
    )


@pytest.mark.parametrize("freedom", [0.8, 3.0, 30.0])
def test_binned_fit_of_student_t_equals_scipys(freedom):
    values = np.random.default_rng(0).standard_t(freedom, size=4000)
    binned = BinnedSquares()
    for part in np.split(values, 4):
        binned.add(part)
    assert binned.degrees_of_freedom() == pytest.approx(t.fit(values, floc=0, fscale=1)[0], rel=1e-3)


def test_tails_lighter_than_normal_fit_the_normal_distribution():
    binned = BinnedSquares()
    binned.add(np.random.default_rng(0).uniform(-1, 1, size=1000))
    assert t.ppf(0.999, binned.degrees_of_freedom()) == pytest.approx(norm.ppf(0.999), abs=1e-4)


def test_records_without_enough_models_are_left_out_and_counted():
    signals, design = toy(np.random.default_rng(0), 32, 50, 1.0)
    design[:, 7] = True
    whole = evaluate(signals, design, [32], fprs=(0.1,), keep_fpr=True)
    kept = np.arange(50) != 7
    assert {(o.records, o.left_out) for o in whole} == {(49, 1)}
    assert all((np.isnan(o.fpr_per_record) == ~kept).all() for o in whole)
    assert [o.tpr for o in whole] == [o.tpr for o in evaluate(signals[:, kept], design[:, kept], [32], fprs=(0.1,))]


def test_sizes_and_designs_that_cannot_be_evaluated_are_refused():
    signals, design = toy(np.random.default_rng(0), 16, 50, 1.0)
    with pytest.raises(AuditError, match="16 models: lower"):
        evaluate(signals, design, [16, 32])
    with pytest.raises(AuditError, match=r"of 50 records .* raise lira\.models"):
        evaluate(signals, design, [4])


def test_block_size_changes_nothing(monkeypatch):
    signals, design = toy(np.random.default_rng(0), 32, 70, 1.0)
    whole = score(signals, design)
    monkeypatch.setattr("memaudit.attacks.lira.BLOCK_ENTRIES", 96)
    blocks = score(signals, design)
    np.testing.assert_allclose(blocks.ratio, whole.ratio, rtol=1e-5)
    np.testing.assert_allclose(blocks.standard, whole.standard, rtol=1e-5)


# Coverage. Records have one of two gaps; models and records are drawn anew for every seed.
GAPS = np.array([1.0, 2.5])
MODELS, RECORDS, SEEDS = 32, 60, 100
NOMINAL = (0.1, 0.05)


@cache
def truth_with_estimates(strategy, fpr):
    """TPR of a Gaussian record standardised on n = M/2 OUT values with ddof 0: a noncentral t."""
    n = MODELS // 2
    # An OUT target meets n - 1: that is the distribution whose quantile the pooled threshold finds.
    cut = {
        "pp": t.ppf(1 - fpr, n - 2) * np.sqrt(n / (n - 2)),
        "pp_normal": norm.ppf(1 - fpr),
        "per_sample_normal": norm.ppf(1 - fpr),
        "pp_exact": t.ppf(1 - fpr, n - 1) * np.sqrt((n + 1) / (n - 1)),
    }[strategy]
    unit = np.sqrt(1 + 1 / n)
    return nct.sf(cut * np.sqrt((n - 1) / n) / unit, n - 1, GAPS / unit).mean()


@cache
def truth_with_oracle(strategy, fpr):
    """TPR where every record's Gaussians are known."""
    if strategy == "naive":
        # The log-likelihood ratio is N(-+ gap^2 / 2, gap^2): one threshold, the root of the mean FPR.
        def mean_fpr(cut):
            return norm.sf((cut + GAPS**2 / 2) / GAPS).mean() - fpr

        return norm.sf((brentq(mean_fpr, -20, 20) - GAPS**2 / 2) / GAPS).mean()
    if strategy == "per_sample":
        # The threshold is a quantile of M/2 draws: the mean of Phi(gap - threshold) over such quantiles.
        draws = np.random.default_rng(0).normal(size=(20000, MODELS // 2))
        return norm.sf(np.quantile(draws, 1 - fpr, axis=1)[:, None] - GAPS).mean()
    return norm.sf(norm.ppf(1 - fpr) - GAPS).mean()


def covered(oracle, truth, strategies):
    inside = dict.fromkeys([(s, f) for s in strategies for f in NOMINAL], 0)
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        signals, design = toy(rng, 1024 if oracle else MODELS, RECORDS, rng.choice(GAPS, size=RECORDS))
        for o in evaluate(signals, design, [MODELS], fprs=NOMINAL, oracle=oracle, replicates=100, rng=rng):
            if (o.strategy, o.fpr) in inside:
                inside[o.strategy, o.fpr] += o.low <= truth(o.strategy, o.fpr) <= o.high
    return inside


def test_intervals_cover_the_noncentral_t_truth_of_estimated_statistics():
    inside = covered(False, truth_with_estimates, ("pp", "pp_normal", "per_sample_normal", "pp_exact"))
    assert min(inside.values()) >= 90, inside


def test_intervals_cover_the_closed_form_truth_of_known_statistics():
    inside = covered(True, truth_with_oracle, tuple(STRATEGIES))
    assert min(inside.values()) >= 90, inside


def test_replicates_need_a_generator_and_give_every_outcome_an_interval():
    signals, design = toy(np.random.default_rng(0), 32, 50, 1.0)
    outcomes = evaluate(signals, design, [32], replicates=50, rng=np.random.default_rng(0), groups=np.arange(50) // 2)
    assert all(isinstance(o, Outcome) and o.low <= o.tpr <= o.high for o in outcomes if o.fpr == 0.1)
