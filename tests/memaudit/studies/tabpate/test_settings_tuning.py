"""Every method has as many candidates; the score is 1 for the truth, 0 for a constant; the best mean is chosen."""

import numpy as np
import pytest
from private_records import by_first_column

from memaudit.privacy.release_methods import CONTEXTS
from memaudit.studies.tabpate.settings_tuning import CANDIDATES, GRIDS, WORST, best, gain, score
from memaudit.studies.tabpate.tuning_tables import tuning_table


def test_every_method_has_the_same_number_of_different_candidates():
    one_task = {"learned_labels": {"classification"}, "tuned_alpha": {"regression"}}
    for name, grids in GRIDS.items():
        assert grids.keys() == one_task.get(name, {"classification", "regression"})
        for grid in grids.values():
            assert len({str(one) for one in grid}) == len(grid) == CANDIDATES


def test_the_truth_scores_one_and_a_constant_student_zero():
    table = tuning_table("imbalanced", 200, 0)
    tested = np.arange(100)
    truth = np.eye(2)[table.y[tested]]
    assert gain(table, tested, truth) == 1
    assert gain(table, tested, np.tile([1.0, 0.0], (100, 1))) == 0
    numbers = tuning_table("linear", 200, 0)
    assert gain(numbers, tested, numbers.y[tested]) == 1
    assert gain(numbers, tested, np.full(100, numbers.y[tested].mean())) == pytest.approx(0, abs=1e-6)
    assert gain(numbers, tested, np.full(100, 1000.0)) == WORST


def test_the_first_of_the_best_is_chosen():
    assert best([[0.1, 0.2], [0.3, 0.3], [0.6, 0.0]]) == 1


def test_an_ample_budget_scores_above_chance_and_what_no_budget_covers_scores_worst():
    table = tuning_table("gaussian", 400, 0)
    moments = {"method": "class-moments", "held_out": False, "settings": {"queries": 100, "narrowed": True}}
    assert moments["method"] in CONTEXTS
    nearest = lambda contexts, queries: np.stack([_nearest(*one, queries) for one in contexts])  # noqa: E731
    assert score(table, moments, 20.0, 1e-5, 0, nearest) > 0.2
    votes = {"method": "tabpate", "held_out": False, "settings": {"teachers": 5, "queries": 10, "sigma2": 2}}
    assert score(table, votes, 1.0, 1e-5, 0, by_first_column) == WORST


def _nearest(x, y, queries):
    """Negative distances of queries to the mean of each class."""
    means = np.stack([x[y == label].mean(0) for label in (0, 1)])
    return -((queries[:, None] - means) ** 2).sum(-1)
