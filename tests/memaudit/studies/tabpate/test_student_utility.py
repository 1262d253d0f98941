"""Utility of PATE students: by hand, by scikit-learn, and coverage of the intervals in simulations."""

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.metrics import balanced_accuracy_score

from memaudit.statistics import bootstrap
from memaudit.studies.tabpate import student_utility
from memaudit.studies.tabpate.student_utility import DEVIATION, METRICS, NO_ANSWER, differences, estimates


def a_trial(task, truth, tested, seed=0, groups=None, replicates=200):
    groups = np.arange(len(truth)) if groups is None else groups
    return student_utility.trial(
        task, truth, tested, rng=np.random.default_rng(seed), groups=groups, replicates=replicates
    )


def by_metric(found):
    return {estimate.metric: estimate for estimate in found}


def some_splits(rng, repeats, records, share=0.25):
    tested = np.zeros((repeats, records), dtype=bool)
    for row in tested:
        row[rng.choice(records, int(share * records), replace=False)] = True
    return tested


def test_accuracies_are_means_over_repeats_of_the_tested_records_alone():
    rng = np.random.default_rng(0)
    truth, tested = rng.choice(3, 200, p=[0.7, 0.2, 0.1]), some_splits(rng, 4, 200)
    predicted = np.where(rng.random((4, 200)) < 0.7, truth, rng.integers(0, 3, (4, 200)))
    other = np.where(tested, predicted, 99)
    found = by_metric(estimates(a_trial("classification", truth, tested).scores(other, range(4))))
    balanced = [balanced_accuracy_score(truth[mask], row[mask]) for row, mask in zip(predicted, tested, strict=True)]
    plain = [(truth[mask] == row[mask]).mean() for row, mask in zip(predicted, tested, strict=True)]
    assert found["balanced accuracy"].estimate == pytest.approx(np.mean(balanced))
    assert found["accuracy"].estimate == pytest.approx(np.mean(plain))
    assert found["accuracy" + DEVIATION].estimate == pytest.approx(np.std(plain, ddof=1))
    assert found["accuracy"].n == tested.sum()
    assert found["balanced accuracy"].null == pytest.approx(1 / 3)


def test_error_is_that_of_the_targets_deviation_and_one_for_their_mean():
    rng = np.random.default_rng(1)
    truth, tested = 1000 + 5 * rng.normal(size=300), some_splits(rng, 3, 300)
    trial = a_trial("regression", truth, tested)
    means = np.array([np.full(300, truth[mask].mean()) for mask in tested])
    assert trial.scores(means, range(3)).observed == pytest.approx(np.ones((3, 1)))
    predicted = truth + 2 * rng.normal(size=(3, 300))
    expected = [
        np.sqrt(np.mean((row - truth)[mask] ** 2)) / truth[mask].std()
        for row, mask in zip(predicted, tested, strict=True)
    ]
    found = by_metric(estimates(trial.scores(predicted, range(3))))
    assert found["nrmse"].estimate == pytest.approx(np.mean(expected))
    assert found["nrmse"].low < 0.4 < found["nrmse"].high
    assert found["nrmse"].null == 1


@pytest.mark.parametrize("task", METRICS)
def test_a_replicate_is_the_records_as_often_as_they_are_drawn(task):
    rng = np.random.default_rng(8)
    truth, tested = rng.integers(0, 3, 90), np.ones((1, 90), dtype=bool)
    predicted = np.where(rng.random((1, 90)) < 0.6, truth, rng.integers(0, 3, (1, 90)))
    trial = a_trial(task, truth, tested, replicates=1)
    drawn = np.repeat(np.arange(90), trial.weights[0].astype(int))
    again = a_trial(task, truth[drawn], tested[:, drawn]).scores(predicted[:, drawn], [0])
    assert trial.scores(predicted, [0]).samples[0, 0] == pytest.approx(again.observed[0])
    assert not np.array_equal(again.observed, trial.scores(predicted, [0]).observed)


def test_who_knows_the_frequencies_alone_gets_what_needs_no_model():
    rng = np.random.default_rng(2)
    truth, tested = np.repeat([0, 1, 2], [30, 50, 120]), some_splits(rng, 2, 200)
    trial = a_trial("classification", truth, tested)
    assert (trial.guesses() == 2).all()
    found = by_metric(estimates(trial.scores(trial.guesses(), range(2))))
    for metric in METRICS["classification"]:
        assert found[metric].estimate == pytest.approx(found[metric].null)
    numbers = a_trial("regression", truth.astype(float), tested)
    assert numbers.guesses()[0, 0] == truth[~tested[0]].mean()
    assert numbers.scores(numbers.guesses(), range(2)).observed == pytest.approx(1, abs=0.01)


def test_the_guess_does_not_see_the_tested_targets():
    truth, tested = np.repeat([0, 1], [5, 7]), np.repeat([[False, True]], [5, 7], axis=1)
    assert (a_trial("classification", truth, tested).guesses() == 0).all()


def one_study(rng, repeats, between, records=400):
    """Right answers, tested records, and their share in the population: records differ, and so do repeats."""
    easy, luck = rng.normal(size=records), between * rng.normal(size=(repeats, 1))
    return (rng.random((repeats, records)) < ndtr(0.6 + easy + luck)).astype(int), ndtr(0.6 / np.sqrt(2 + between**2))


def resampled(scores, rng):
    """What the docstring warns of: repeats are drawn anew like records."""
    count = len(scores.repeats)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=scores.samples.shape[1])
    return bootstrap.interval((scores.samples[..., 1] * drawn.T).sum(0) / count)


@pytest.mark.parametrize("between", [0.0, 0.6])
def test_intervals_of_three_repeats_hold_the_truth_where_resampling_repeats_does_not(between):
    rng, held = np.random.default_rng(3), {"here": 0, "resampled": 0}
    for seed in range(100):
        right, truth = one_study(rng, 3, between)
        trial = a_trial("classification", np.ones(400, int), some_splits(rng, 3, 400), seed, replicates=100)
        scores = trial.scores(right, range(3))
        found = by_metric(estimates(scores))["accuracy"]
        low, high = resampled(scores, rng)
        held["here"] += found.low <= truth <= found.high
        held["resampled"] += low <= truth <= high
    assert held["here"] >= 90
    assert held["resampled"] < 90 or not between


def test_more_repeats_narrow_an_interval_and_one_says_what_it_leaves_out():
    rng, widths = np.random.default_rng(4), []
    for repeats in (3, 10, 40):
        right, _ = one_study(rng, repeats, 0.3, records=2000)
        trial = a_trial("classification", np.ones(2000, int), some_splits(rng, repeats, 2000))
        found = by_metric(estimates(trial.scores(right, range(repeats))))["accuracy"]
        widths.append(found.high - found.low)
        assert f"Student's t over {repeats} repeats" in found.method
    assert widths[0] > 2 * widths[1] > 2 * widths[2]
    alone = estimates(trial.scores(right[:1], [0]))
    assert {estimate.metric for estimate in alone} == set(METRICS["classification"])
    assert alone[1].method.endswith("one repeat: other noise not counted")
    deviation = np.sqrt(alone[1].estimate * (1 - alone[1].estimate) / 500)
    assert alone[1].high - alone[1].low == pytest.approx(2 * 1.96 * deviation, rel=0.2)


def test_records_of_one_unit_are_resampled_together():
    rng = np.random.default_rng(5)
    right, tested = np.repeat(rng.random(100) < 0.5, 9)[None].astype(int), np.ones((1, 900), dtype=bool)
    widths = []
    for groups in (np.arange(900), np.arange(900) // 9):
        found = estimates(a_trial("classification", np.ones(900, int), tested, groups=groups).scores(right, [0]))[1]
        widths.append(found.high - found.low)
    assert widths[1] / widths[0] == pytest.approx(3, rel=0.2)


def test_what_is_hard_for_both_cancels_in_a_difference():
    rng = np.random.default_rng(6)
    truth, tested = np.ones(400, int), some_splits(rng, 5, 400)
    right, _ = one_study(rng, 5, 0.4)
    better = np.where(rng.random(right.shape) < 0.3, 1, right)
    trial = a_trial("classification", truth, tested)
    usual, changed = trial.scores(right, range(5)), trial.scores(better, range(5))
    found = by_metric(differences(changed, usual))["accuracy difference"]
    alone = by_metric(estimates(usual))["accuracy"]
    assert 0 < found.low < found.high
    assert found.high - found.low < 0.8 * (alone.high - alone.low)
    assert found.null == 0
    same = differences(usual, usual)[0]
    assert (same.estimate, same.low, same.high) == (0, 0, 0)


def test_a_difference_is_of_the_repeats_that_both_have():
    rng = np.random.default_rng(7)
    truth, tested = np.zeros(80, int), some_splits(rng, 3, 80)
    trial = a_trial("classification", truth, tested)
    one = trial.scores(np.array([np.ones(80), np.zeros(80)]), [2, 0])
    other = trial.scores(np.zeros((2, 80)), [0, 1])
    found = by_metric(differences(one, other))["accuracy difference"]
    assert found.estimate == 0
    assert "one repeat" in found.method


def test_no_answer_is_no_class():
    trial = a_trial("classification", np.array([0, 1]), np.ones((1, 2), dtype=bool))
    assert trial.scores(np.full((1, 2), NO_ANSWER), [0]).observed.tolist() == [[0, 0]]
