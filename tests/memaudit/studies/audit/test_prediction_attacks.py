"""Attack by predictions and its controls on files of known truth: a leak, none, and a shift."""

import numpy as np
import pytest
from prediction_examples import FEW, predictions

from memaudit.attacks.prediction_scores import TREES
from memaudit.studies.audit.prediction_attacks import PLANTED_DRAWS, SPLITS, Files, attack, results


@pytest.fixture(scope="module", autouse=True)
def _few_trees():
    """Fewer trees, which take a sixth of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TREES, "max_iter", 4)
        yield


def files(seed, members=150, nonmembers=150, units=None, **options):
    found, member = predictions(np.random.default_rng(seed), members, nonmembers, **options)
    units = np.arange(len(member)) if units is None else units(member)
    of_units = np.zeros(units.max() + 1, np.bool_)
    of_units[units[member]] = True
    return Files(found, units, of_units, 0.3)


@pytest.fixture(scope="module")
def leaking():
    return results(files(0, leak=True, references=2), FEW, np.random.default_rng(0))[0]


def test_an_overfitted_model_is_found_beyond_the_controls(leaking):
    assert leaking["auc"]["detected"]
    assert [one["name"] for one in leaking["controls"]] == ["blind", "stand-in", "references"]
    assert all(one["excess"]["low"] > 0 and not one["auc"]["detected"] for one in leaking["controls"])


def test_planted_models_are_judged_as_the_headline_is(leaking):
    planted = leaking["planted"]
    assert planted["lookup"]["detected"]
    one = files(0, leak=True, references=2)
    rows = np.flatnonzero(one.member)
    certain = one.predictions.probabilities[rows, one.predictions.labels[rows]] == 1
    assert planted["lookup_changed"] == pytest.approx(1 - certain.mean())
    assert planted["splits"] == SPLITS
    assert 2 * planted["splits_detected"] < SPLITS


def test_few_non_members_have_no_strict_threshold(leaking):
    assert leaking["accusations"] is None
    assert 0.5 < leaking["smallest_auc"] < 0.7
    aucs = [one["auc"]["estimate"] for one in leaking["scores"]]
    assert aucs == sorted(aucs, reverse=True)
    assert set(leaking["chosen"]) <= {one["name"] for one in leaking["scores"]}


def test_a_regularised_model_is_detected_at_most_at_the_size_of_the_test():
    rng, found = np.random.default_rng(1), []
    for seed in range(25):
        one = files(100 + seed, 60, 60)
        found.append(attack(one.scores, one.member, rng, PLANTED_DRAWS, 20).p_value <= 0.05)
    # 25 draws of an exact test of size .05 reject more than 6 times with probability .001.
    assert sum(found) <= 6


def test_a_shift_is_seen_by_the_controls_and_not_called_memory():
    facts = results(files(2, shift=1.0), FEW | {"permutations": 19}, np.random.default_rng(2))[0]
    blind = facts["controls"][0]
    assert blind["auc"]["detected"]
    assert not blind["excess"]["low"] > 0


def test_persons_are_the_units():
    def pairs(member):
        return np.arange(len(member)) // 2

    one = files(3, 120, 120, units=pairs, leak=True)
    rng = np.random.default_rng(3)
    half = rng.permutation(120) % 2 == 0
    assert all(len(score) == 120 for score in one.scores(one.member, half).values())
    assert len(one.blind(one.member, half)["blind"]) == 120
    assert one.non_members(rng).member.size == 60
    assert attack(one.scores, one.member, rng, 19, 20).detected


def test_a_lookup_changes_members_alone():
    one = files(4)
    planted = one.lookup().predictions.probabilities
    rows = one.member[one.units]
    assert (planted[~rows] == one.predictions.probabilities[~rows]).all()
    assert (planted[rows, one.predictions.labels[rows]] == 1).all()
