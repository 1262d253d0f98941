"""Samples are coded as the study codes them; a synthesizer that copies scores above chance, flipped labels below it."""

import numpy as np
import pytest

from memaudit.privacy.accounting import Budget
from memaudit.studies.tabpate.settings_tuning import ROLES
from memaudit.studies.tabpate.synthesizer_tuning import sample, scores
from memaudit.studies.tabpate.tuning_tables import tuning_table

SETTINGS = {"bins": 8, "bins_share": 0.1, "columns": 3, "iterations": 7, "rounds": 2, "rows": 50}
ENTRY = {"method": "mst", "held_out": False, "settings": SETTINGS}


def nearest(contexts, queries):
    """Negative distances of queries to the mean of each class."""
    return np.stack([_distances(*one, queries) for one in contexts])


def _distances(x, y, queries):
    means = np.stack([x[y == label].mean(0) for label in (0, 1)])
    return -((queries[:, None] - means) ** 2).sum(-1)


@pytest.fixture
def table():
    return tuning_table("gaussian", 400, 0)


def test_a_sample_has_the_private_records_and_what_the_bins_leave_of_the_budget(table):
    one = sample(table, ENTRY, Budget(10.0, 1e-5), 1)
    private = table.private(table.roles(ROLES, 0, 1), ROLES, False)
    assert list(one["codes"]) == ["0", "1", "2", "target"]
    assert one["codes"]["target"] == private.y.tolist()
    assert all(max(codes) < one["counts"][name] <= 8 for name, codes in one["codes"].items())
    assert 9 < one["epsilon"] < 10
    assert {key: one[key] for key in ("iterations", "rounds", "rows", "delta")} == {
        "iterations": 7, "rounds": 2, "rows": 50, "delta": 1e-5,
    }  # fmt: skip


def test_scores_are_by_epsilon_table_and_repeat_and_tell_copies_from_noise(table):
    asked = []

    def run(samples):
        """Copies at epsilon 10; at epsilon 1 the labels are the other way round."""
        asked.extend(samples)
        other = [[1 - label for label in one["codes"]["target"]] for one in samples]
        large = [one["epsilon"] > 1 for one in samples]
        return [
            one["codes"] if copies else one["codes"] | {"target": labels}
            for one, labels, copies in zip(samples, other, large, strict=True)
        ]

    second = tuning_table("imbalanced", 400, 0)
    found = scores([(table, nearest), (second, nearest)], ENTRY, [1.0, 10.0], 1e-5, 2, run)
    assert np.shape(found) == (2, 4)
    assert [one["epsilon"] > 1 for one in asked] == [False] * 4 + [True] * 4
    assert max(found[0]) < -0.1 < 0.1 < min(found[1])
