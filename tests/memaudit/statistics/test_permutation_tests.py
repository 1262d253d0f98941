"""Permutation tests against brute force and closed forms, and their size where nothing is memorized."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from simulated_runs import (
    IDS,
    MEMBERS,
    PAIR,
    ROLES,
)

from memaudit.statistics import roc
from memaudit.statistics.permutation_tests import (
    aucs,
    lowest_priorities,
    max_t,
    max_t_half_widths,
    max_t_of_permutations,
    p_value,
    permuted_members,
    q_value,
)
from memaudit.studies.iclmem.run_metrics import split_draws


def test_aucs_of_many_memberships_are_those_of_the_roc_with_ties():
    rng = np.random.default_rng(0)
    scores = np.stack([rng.normal(size=30), rng.integers(0, 4, 30), np.zeros(30)])
    permuted = rng.random((20, 30)) < 0.4
    found = aucs(scores, permuted)
    for (i, values), (j, member) in itertools.product(enumerate(scores), enumerate(permuted)):
        assert found[i, j] == pytest.approx(roc.auc(values, member), abs=1e-12)
    assert (found[2] == 0.5).all()


def test_permuted_members_among_fewer_targets_are_a_uniform_part_of_the_same_permutation():
    priorities = np.random.default_rng(0).random((4000, 6))
    permuted = lowest_priorities(priorities, 3)
    assert (permuted.sum(1) == 3).all()
    counts = pd.Series(map(tuple, permuted)).value_counts()
    assert len(counts) == 20  # of 6 choose 3
    assert abs(counts - 200).max() < 5 * np.sqrt(200)
    # With a target less the same members come first.
    fewer = lowest_priorities(priorities[:, :5], 2)
    last_stays_out = ~permuted[:, 5]
    assert (fewer[last_stays_out] <= permuted[last_stays_out, :5]).all()


def test_a_permutation_exchanges_pairs_and_draws_among_unmatched_targets():
    """Pairs 0 and 1 are whole, the member of pair 2 is no target, two are unmatched, and one of these is a member."""
    pair, member = np.array([0, 1, 0, 1, 2, 3, 4]), np.array([True, True, False, False, False, True, False])
    rng = np.random.default_rng(0)
    swaps = (rng.random((8000, 5)) < 0.5)[:, pair]
    permuted = permuted_members(member, pair, swaps, rng.random((8000, 5))[:, pair])
    assert (permuted.sum(1) == member.sum()).all()
    for one, other in ((0, 2), (1, 3)):
        assert (permuted[:, one] ^ permuted[:, other]).all()
        assert (permuted[:, one] ^ swaps[:, one]).all()
    assert permuted[:, 4:].mean(0) == pytest.approx([1 / 3] * 3, abs=0.02)
    assert np.array_equal(
        permuted_members(member[:4], pair[:4], np.zeros((1, 4), np.bool_), np.zeros((1, 4)))[0], member[:4]
    )


@pytest.mark.parametrize(("matched", "low", "high"), [(True, 0.9, 1.1), (False, 0.3, 0.7)])
def test_where_pairs_are_alike_the_null_is_as_wide_as_the_aucs_and_unmatched_permutations_are_wider(matched, low, high):
    """Four fifths of a record's change is that of its pair, without memorization: AUCs of 300 splits in units of their
    null."""
    rng, z, member = np.random.default_rng(0), [], ROLES == "query"
    for split in range(300):
        scores = np.sqrt(0.8) * rng.normal(size=MEMBERS)[PAIR] + np.sqrt(0.2) * rng.normal(size=len(ROLES))
        of_split = split_draws(
            IDS,
            PAIR if matched else np.full(len(IDS), -1),
            "wine",
            split,
            seed=0,
            permutations=99,
            replicates=1,
        )
        null = aucs(scores, of_split.permuted(member))
        z.append((aucs(scores, member[None])[0] - null.mean()) / null.std())
    assert low < np.std(z) < high


def test_p_values_count_the_observed_permutation_and_ties():
    null = np.array([0.4, 0.5, 0.6, 0.6])
    assert p_value(np.array([0.7, 0.6, 0.1]), np.broadcast_to(null, (3, 4))) == pytest.approx([0.2, 0.6, 1.0])
    assert np.isnan(p_value(np.array(np.nan), null))


def test_q_values_are_benjamini_and_hochbergs_and_leave_out_undefined_ones():
    p = np.array([0.01, np.nan, 0.02, 0.03, 0.5])
    assert q_value(p) == pytest.approx([0.04, np.nan, 0.04, 0.04, 0.5], nan_ok=True)
    assert np.isnan(q_value(np.array([np.nan]))).all()


def test_max_t_is_the_p_value_of_one_setting_and_corrects_for_several():
    rng = np.random.default_rng(0)
    null = 0.5 + 0.05 * rng.normal(size=(1, 999))
    assert max_t(np.array([0.6]), null) == pytest.approx(p_value(np.array([0.6]), null))
    # Epochs that move together cost nothing, independent ones as much as Sidak says.
    together = np.repeat(null, 8, axis=0)
    assert max_t(np.full(8, 0.6), together) == pytest.approx(p_value(np.array([0.6]), null)[0])
    apart = 0.5 + 0.05 * rng.normal(size=(8, 9999))
    assert max_t(np.full(8, 0.6), apart) == pytest.approx(1 - norm.cdf(2) ** 8, abs=0.02)
    # An AUC of few targets is noisier: the same excess weighs less.
    mixed = 0.5 + np.array([[0.01], [0.1]]) * rng.normal(size=(2, 999))
    precise, noisy, none = max_t(np.array([0.55, 0.55, np.nan]), np.vstack([mixed, np.full((1, 999), np.nan)]))
    assert precise < 0.01
    assert noisy > 0.2
    assert np.isnan(none)


@pytest.mark.parametrize("leak", [0.0, 0.15])
def test_the_simultaneous_interval_of_the_largest_of_many_aucs_covers_and_a_single_ones_does_not(leak):
    """12 settings, a mean over splits each: the largest is overstated, alone its interval misses far too often."""
    rng = np.random.default_rng(1)
    trials, spread, covered, naive = 400, 0.05, 0, 0
    null = 0.5 + spread * rng.normal(size=(12, 999))
    half = max_t_half_widths(null)
    for _ in range(trials):
        found = 0.5 + leak + spread * rng.normal(size=12)
        best = found.argmax()
        covered += abs(found[best] - 0.5 - leak) <= half[best]
        naive += abs(found[best] - 0.5 - leak) <= 1.96 * spread
    assert covered / trials >= 0.94
    assert naive / trials < 0.8


def test_max_t_rejects_no_more_than_its_level_with_few_permutations():
    """The observed values are one of the permutations: 19 of them would else reject in more than a twentieth."""
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal((2000, 5, 20))
    rejected = [(max_t(one[:, 0], one[:, 1:]) <= 0.05).any() for one in drawn]
    assert np.mean(rejected) <= 0.062


def test_max_t_of_a_permutation_is_that_of_its_auc_among_all_and_one_in_twenty_has_any_detection():
    rng = np.random.default_rng(4)
    null = rng.normal(size=(5, 199)) * np.array([1, 2, 3, 0, 1])[:, None]
    null[4] = np.nan
    found = max_t_of_permutations(null)
    spread = np.where(null[:4].std(1) > 0, null[:4].std(1), np.inf)[:, None]
    scaled = (null[:4] - null[:4].mean(1)[:, None]) / spread
    expected = [[np.mean(scaled.max(0) >= value - 1e-9) for value in row] for row in scaled]
    assert found[:4] == pytest.approx(np.array(expected))
    assert np.isnan(found[4]).all()
    assert (found[:4] <= 0.05).any(axis=0).mean() == pytest.approx(9 / 199)
