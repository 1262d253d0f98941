"""Normal scores, and a combination of them written, read and applied."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.attacks.learned_memorization import ALL, EARLIER, LEARNED, ONE_CHECKPOINT, Combination, tied_normal_scores
from memaudit.common.errors import AuditError


def test_normal_scores_are_quantiles_at_ranks_and_ties_share_theirs():
    np.testing.assert_allclose(tied_normal_scores(np.array([5.0, -1.0, 100.0])), norm.ppf([0.5, 0.25, 0.75]))
    np.testing.assert_allclose(tied_normal_scores(np.array([0.0, 0.0, 3.0])), norm.ppf([1.5 / 4, 1.5 / 4, 3 / 4]))
    np.testing.assert_allclose(tied_normal_scores(np.full(9, 7.0)), 0, atol=1e-12)


def test_a_combination_is_the_weighted_sum_of_normal_scores_whatever_the_units():
    rng = np.random.default_rng(0)
    predicted = {"psmi": rng.normal(size=50), "loss": rng.random(50)}
    combination = Combination(("loss", "psmi"), np.array([0.3, 1.2]))
    expected = 0.3 * tied_normal_scores(predicted["loss"]) + 1.2 * tied_normal_scores(predicted["psmi"])
    np.testing.assert_allclose(combination.scores(predicted), expected)
    rescaled = {"psmi": 7 * predicted["psmi"] - 2, "loss": np.exp(predicted["loss"])}
    np.testing.assert_allclose(combination.scores(rescaled), expected)


def test_it_is_read_as_it_was_written_and_names_what_is_missing():
    combination = Combination(("psmi", "logit_gap"), np.array([0.5, 0.25]))
    again = Combination.read(combination.facts(), "r.json")
    assert again.features == combination.features
    np.testing.assert_array_equal(again.weights, combination.weights)
    with pytest.raises(AuditError, match="needs logit_gap: give the column logits of the records"):
        again.scores({"psmi": np.zeros(3)})
    with pytest.raises(AuditError, match=r"^r\.json: holds no features with their weights"):
        Combination.read({"features": ["psmi"]}, "r.json")


def test_one_query_gives_all_but_what_earlier_checkpoints_add():
    assert set(ALL) == {*ONE_CHECKPOINT, *EARLIER}
    assert not {*ONE_CHECKPOINT} & {*EARLIER}
    assert LEARNED == {"learned": ONE_CHECKPOINT, "learned_checkpoints": ALL}
