"""The rate of estimators, against seconds measured on one core."""

import pytest
from conftest import PROJECT

from memaudit.workflow.estimator_costs import RATES, seconds
from memaudit.workflow.run_config import read_yaml

# Import path (its last part): rows, columns, CPU seconds of one context.
MEASURED = [
    ("RandomForestClassifier", 400, 20, 0.227),
    ("RandomForestClassifier", 8000, 20, 4.063),
    ("HistGradientBoostingClassifier", 2000, 60, 0.987),
    ("KNeighborsClassifier", 2000, 20, 0.056),
    ("LogisticRegression", 2000, 60, 0.032),
    ("MLPClassifier", 400, 60, 0.394),
    ("MLPClassifier", 8000, 20, 5.153),
]


@pytest.mark.parametrize(("name", "rows", "columns", "measured"), MEASURED)
def test_the_rate_is_within_a_factor_of_three_of_what_was_measured(name, rows, columns, measured):
    path = next(path for path in RATES if path.endswith(f".{name}"))
    assert measured / 3 < seconds(path, rows, columns) < measured * 3


def test_an_estimator_without_a_rate_is_planned_as_dear_as_any():
    most = max(seconds(path, 1000, 10) for path in RATES)
    assert most <= seconds("mine.Estimator", 1000, 10) < 1.5 * most


def test_every_estimator_of_the_catalogue_has_a_rate():
    entries = read_yaml(PROJECT / "config/models.yaml")["models"].values()
    assert {entry["estimator"] for entry in entries if entry["family"] == "estimator"} == set(RATES)
