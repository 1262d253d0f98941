"""The gate's level over many targets, its power, and both of its directions."""

import numpy as np
import pytest
from random_texts import rng, sentences

from memaudit.attacks.blind_texts import blind_weights
from memaudit.statistics.intervals import clopper_pearson
from memaudit.statistics.membership_redraws import LEVEL, blind_aucs, draws_for, mean_auc
from memaudit.statistics.mitigation_verdicts import holm
from memaudit.statistics.roc import auc

TEXTS = 80
EVERY = np.arange(TEXTS)


@pytest.fixture(scope="module")
def weights():
    return blind_weights(sentences(TEXTS, "gate", words=60), rng("weights"))


def random_members(count, name):
    return rng(name).permuted(np.broadcast_to(EVERY < TEXTS // 2, (count, TEXTS)), axis=1)


def test_an_auc_is_that_of_the_scores_of_its_own_membership(weights):
    members = random_members(3, "three")
    for one, member in zip(blind_aucs(weights, EVERY, members, 3, rng()), members, strict=True):
        assert one.auc == pytest.approx(auc(weights @ member, member))
        assert one.low < one.auc < one.high


def test_at_most_one_study_in_twenty_loses_a_target_by_chance(weights):
    """400 studies of 12 targets with random members: with one test a target at 5 % about half would lose one."""
    targets, studies = 12, 400
    checks = blind_aucs(weights, EVERY, random_members(targets * studies, "studies"), targets, rng("null"))
    p_values = np.array([one.p_value for one in checks]).reshape(studies, targets)
    lost = sum(min(holm(dict(zip("abcdefghijkl", own, strict=True))).values()) <= LEVEL for own in p_values)
    assert clopper_pearson(lost, studies)[0] <= LEVEL
    alone = np.mean(p_values <= LEVEL)
    assert abs(alone - LEVEL) < 0.015  # the p-values are uniform: a test that never rejects would pass above
    assert np.mean((p_values <= LEVEL).any(1)) > 0.3


def test_members_that_words_tell_are_found_in_either_direction(weights):
    values, vectors = np.linalg.eigh(weights + weights.T)
    for which, above in ((-1, True), (0, False)):
        member = np.zeros(TEXTS, bool)
        member[np.argsort(vectors[:, which])[TEXTS // 2 :]] = True
        (one,) = blind_aucs(weights, EVERY, member[None], 1, rng("planted"))
        assert (one.auc > 0.5) == above
        assert one.p_value < 0.01
        assert one.low > one.null if above else one.high < one.null
    assert values[0] < 0 < values[-1]


def test_an_auc_is_of_the_texts_at_the_places_alone():
    texts, members = sentences(TEXTS, "places", words=60), random_members(2, "places")
    places = np.arange(0, TEXTS, 2)
    weights = blind_weights([texts[place] for place in places], rng("places"))
    found = blind_aucs(weights, places, members, 2, rng())
    expected = [auc(weights @ member[places], member[places]) for member in members]
    assert [one.auc for one in found] == pytest.approx(expected)
    assert found[0].texts == len(places)


def test_a_mean_covers_chance_where_members_are_random(weights):
    checks = blind_aucs(weights, EVERY, random_members(5 * 200, "means"), 5, rng("mean null"))
    ends = [mean_auc(checks[first : first + 5])[1:] for first in range(0, len(checks), 5)]
    covered = sum(low <= checks[0].null <= high for low, high in ends)
    assert clopper_pearson(covered, len(ends))[0] <= 0.95 <= clopper_pearson(covered, len(ends))[1]


@pytest.mark.parametrize("targets", [1, 30, 300])
def test_so_many_memberships_are_drawn_that_one_target_can_fail(targets):
    assert targets * 2 / (draws_for(targets) + 1) <= LEVEL / 5


def test_the_auc_that_is_detectable_is_detected_nine_times_in_ten(weights):
    """Estimates that are normal about that AUC with the null's spread exceed what one of 10 targets needs."""
    targets = 10
    one, *others = blind_aucs(weights, EVERY, random_members(4000, "power"), targets, rng("power null"))
    needed = min(other.auc for other in others if other.auc > one.null and other.p_value <= LEVEL / targets)
    estimates = one.detectable + one.spread * rng("estimates").normal(size=20000)
    assert np.mean(estimates > needed) == pytest.approx(0.9, abs=0.03)
