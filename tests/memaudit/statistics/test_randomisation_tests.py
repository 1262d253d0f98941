"""Sizes of the randomisation test by simulation: exact without any effect, valid where companions shift signals."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from memaudit.attacks.calibrate import calibrate
from memaudit.common.errors import AuditError
from memaudit.data.membership_matrices import Scheme, balanced, bernoulli, fixed_size
from memaudit.statistics import roc
from memaudit.statistics.randomisation_tests import (
    Entries,
    group_nulls,
    p_value,
    pooled_metrics,
    randomisation_null,
    studentised_gaps,
)

FPRS = (0.1,)


def shifted_by_companions(member, rng):
    """Signals without any effect of the own membership: triples, of which each two shift the third one's signal.

    Records have levels of their own.
    """
    sign = 2.0 * member.reshape(len(member), -1, 3) - 1
    shift = 2 * (sign.prod(2, keepdims=True) * sign).reshape(member.shape)
    return shift + rng.normal(size=member.shape) + 3 * rng.normal(size=member.shape[1])


def sizes(draw, signal, scheme, method="raw", audits=250):
    """Shares of p <= .05 of the plain and the studentised AUC, mean AUC, and mean of the nulls."""
    rng, found = np.random.default_rng(0), []
    for _ in range(audits):
        member = draw(rng)
        signals = signal(member, rng)
        null = randomisation_null(signals, member, method, rng, 19, fprs=FPRS, scheme=scheme)
        auc = roc.auc(calibrate(signals, member, method), member)
        found.append([p_value(np.float64(auc), null.values[:, 0]), null.p_values[0], auc, null.values[:, 0].mean()])
    found = np.array(found)
    return (found[:, 0] <= 0.05).mean(), (found[:, 1] <= 0.05).mean(), *found[:, 2:].mean(0)


def noise(member, rng):
    """No effect of anybody; contexts move all records."""
    return rng.normal(size=member.shape) + rng.normal(size=(len(member), 1))


@pytest.mark.parametrize(
    ("draw", "scheme"),
    [
        (lambda rng: balanced(16, 30, rng, 8), Scheme(block=8)),
        (lambda rng: balanced(16, 30, rng, 2), Scheme(block=2)),
        (lambda rng: bernoulli(16, 30, rng), Scheme()),
        (lambda rng: fixed_size(16, 30, 12, rng), Scheme("rows")),
    ],
)
def test_the_size_is_nominal_for_every_scheme(draw, scheme):
    plain, studentised, auc, null = sizes(draw, noise, scheme)
    assert plain <= 0.085  # of 250 audits, .05 + 2.5 standard errors
    assert studentised <= 0.085
    assert auc == pytest.approx(null, abs=0.004)


def test_companion_effects_inflate_the_plain_test_and_not_the_studentised_one():
    plain, studentised, *_ = sizes(lambda rng: balanced(32, 30, rng, 8), shifted_by_companions, Scheme(block=8))
    assert plain > 0.09
    assert studentised <= 0.075


def test_differences_between_blocks_need_redraws_within_blocks():
    """Blocks on levels of their own: permuting rows of the matrix across them moves the null away from the truth."""

    def levels(member, rng):
        return rng.normal(size=member.shape) + np.repeat(rng.normal(size=8), 8)[:, None]

    rng, method = np.random.default_rng(1), "lira"
    means = []
    for _ in range(25):
        member = balanced(64, 60, rng, 8)
        signals = levels(member, rng)
        null = randomisation_null(signals, member, method, rng, 19, fprs=FPRS, scheme=Scheme(block=8))
        across = [member[rng.permutation(64)] for _ in range(10)]
        permuted = [roc.auc(calibrate(signals, one, method), one) for one in across]
        means.append([roc.auc(calibrate(signals, member, method), member), null.values[:, 0].mean(), np.mean(permuted)])
    auc, redrawn, permuted = np.mean(means, axis=0)
    assert redrawn == pytest.approx(auc, abs=0.004)
    assert permuted > auc + 0.006


def test_the_auc_of_few_records_is_below_one_half_and_the_null_says_so():
    """Eight targets: a target competes with entries of its own record, whose fits contain it."""
    *_, auc, null = sizes(lambda rng: balanced(24, 8, rng, 8), noise, Scheme(block=8), "lira", audits=200)
    assert null < 0.497
    assert auc == pytest.approx(null, abs=0.008)


def test_a_leak_is_found_by_the_studentised_test():
    rng = np.random.default_rng(0)
    member = balanced(32, 60, rng, 8)
    for method in ("raw", "lira"):
        signals = rng.normal(size=member.shape) + 0.8 * member
        null = randomisation_null(signals, member, method, rng, 19, fprs=FPRS, scheme=Scheme(block=8))
        np.testing.assert_allclose(null.p_values, 0.05)


@pytest.mark.parametrize("digits", [0, 1, 9])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_metrics_are_those_of_the_roc_curve_with_and_without_ties(kind, digits):
    rng = np.random.default_rng(0)
    member = rng.random((12, 40)) < 0.4
    scores = np.round(rng.normal(size=member.shape) + member, digits).astype(kind)
    fprs = (0.0, 0.01, 0.1, 1.0)
    values, _ = pooled_metrics(Entries.of(scores, member), member, fprs)
    assert values[0] == pytest.approx(roc_auc_score(member.ravel(), scores.ravel()))
    np.testing.assert_allclose(values[1:], roc.tpr_at_fpr(scores, member, fprs))


def test_a_constant_score_has_no_excess():
    member = balanced(8, 10, np.random.default_rng(0))
    values, studentised = pooled_metrics(Entries.of(np.zeros(member.shape), member), member, FPRS)
    np.testing.assert_allclose(values, [0.5, 0.1])
    np.testing.assert_allclose(studentised, 0, atol=1e-9)


def test_groups_share_their_redraws_and_the_group_of_all_has_the_null_of_all():
    rng = np.random.default_rng(3)
    member = balanced(16, 30, rng)
    signals = rng.normal(size=member.shape) + member * (np.arange(30) < 15)
    masks = {"all": np.ones(30, bool), "leaks": np.arange(30) < 15, "quiet": np.arange(30) >= 15}
    nulls = group_nulls(signals, member, "lira", masks, np.random.default_rng(1), 19, fprs=FPRS)
    whole = randomisation_null(signals, member, "lira", np.random.default_rng(1), 19, fprs=FPRS)
    np.testing.assert_allclose(nulls["all"].values, whole.values, atol=1e-5)
    np.testing.assert_allclose(nulls["all"].p_values, whole.p_values)
    assert nulls["leaks"].p_values[0] == 0.05
    assert nulls["quiet"].p_values[0] > 0.05


def test_the_observed_matrix_counts_as_a_draw():
    null = np.array([[1.0], [2.0], [3.0]])
    assert p_value(np.array([4.0]), null) == pytest.approx(1 / 4)
    assert p_value(np.array([2.0]), null) == pytest.approx(3 / 4)


def test_too_few_draws_one_class_and_no_numbers_are_refused():
    rng = np.random.default_rng(0)
    member = balanced(16, 5, rng)
    with pytest.raises(AuditError, match="at least 19 redraws"):
        randomisation_null(rng.normal(size=member.shape), member, "lira", rng, 18, fprs=FPRS)
    with pytest.raises(AuditError, match="one class"):
        pooled_metrics(Entries.of(np.zeros((3, 2)), np.ones((3, 2), bool)), np.ones((3, 2), bool), FPRS)
    with pytest.raises(AuditError, match=r"score 3 .* is not a number"):
        pooled_metrics(Entries.of(np.array([[0, 1], [2, np.nan]]), np.eye(2, dtype=bool)), np.eye(2, dtype=bool), FPRS)


def test_the_gap_of_a_linear_metric_is_studentised_by_its_spread_over_models():
    """Of accuracies: the gap over the standard error of its models' parts, levels of records taken out."""
    rng = np.random.default_rng(0)
    member, level = balanced(24, 40, rng), rng.random(40)
    correct = rng.random(member.shape) < level
    gap = np.array([correct[member].mean() - correct[~member].mean()])
    (found,) = studentised_gaps(gap, correct[None].astype(float), member)
    error = (np.where(member, 1, -1) * (correct - correct.mean(0))).sum(1).std(ddof=1) * 24**0.5 / (12 * 40)
    assert found == pytest.approx(gap[0] / error)
    alike = np.broadcast_to(level, (1, 24, 40))
    assert studentised_gaps(np.array([1e-17]), alike, member) == 0


@pytest.mark.parametrize("scheme", [Scheme(), Scheme("rows")])
def test_a_complete_leak_of_yes_or_no_signals_is_significant(scheme):
    """Every model has the same excess: its standard error over models is 0."""
    rng = np.random.default_rng(0)
    member = balanced(16, 40, rng) if scheme.keeps == "columns" else fixed_size(16, 40, 20, rng)
    null = randomisation_null(member.astype(float), member, "raw", rng, 39, fprs=(0.1, 0.01), scheme=scheme)
    np.testing.assert_allclose(null.p_values, 1 / 40)


def test_signals_that_are_constant_are_not_significant():
    member = balanced(16, 40, np.random.default_rng(0))
    null = randomisation_null(np.ones(member.shape), member, "raw", np.random.default_rng(1), 39, fprs=FPRS)
    np.testing.assert_allclose(null.p_values, 1)


def test_groups_that_have_members_and_non_members_have_them_in_every_redraw():
    rng, scheme = np.random.default_rng(0), Scheme("rows")
    units, groups = np.arange(60) // 10, {"one unit": np.arange(60) < 10, "others": np.arange(60) >= 10}
    member = fixed_size(6, 6, 3, rng)[:, units]
    member[:2, :10] = [[True], [False]]
    found = group_nulls(
        rng.normal(size=member.shape), member, "raw", groups, rng, 199, fprs=FPRS, scheme=scheme, units=units
    )
    assert found["one unit"].values.shape == (199, 2)
