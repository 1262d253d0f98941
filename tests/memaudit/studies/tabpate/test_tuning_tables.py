"""Tuning tables lie within their public bounds, show their classes, and are reported on by no run."""

import numpy as np
import pytest
import yaml
from conftest import PROJECT
from scipy.stats import norm
from sklearn.tree import DecisionTreeClassifier

from memaudit.studies.tabpate.tuning_tables import END, TABLES, tuning_table

NAMES = [name for names in TABLES.values() for name in names]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_the_same_again_and_within_its_bounds(name):
    table, again = tuning_table(name, 400, 0), tuning_table(name, 400, 0)
    assert np.array_equal(table.x, again.x)
    lower, upper = table.public.bounds
    assert ((lower <= table.x) & (table.x <= upper)).all()
    assert (table.classes is None) == (name in TABLES["regression"])


def test_tables_have_the_shape_that_they_are_named_for():
    assert tuning_table("imbalanced", 4000, 0).y.mean() == pytest.approx(0.25, abs=0.03)
    assert tuning_table("gaussian", 4000, 0).y.mean() == pytest.approx(0.5, abs=0.03)
    table = tuning_table("interaction", 4000, 0)
    assert np.abs([np.corrcoef(column, table.y)[0, 1] for column in table.x.T]).max() < 0.06, "no column alone"
    product = np.column_stack([table.x[:, 0] * table.x[:, 1]])
    found = DecisionTreeClassifier(max_depth=1).fit(product, table.y).score(product, table.y)
    assert found == pytest.approx(1 - norm.cdf(-np.abs(product) / 0.3).mean(), abs=0.02), (
        "but their product, to its noise"
    )
    assert np.abs(tuning_table("friedman", 4000, 0).y).max() < 2 * END


@pytest.mark.parametrize("config", ["config", "paper", "tabpate"])
def test_no_run_reports_on_a_tuning_table(config):
    reported = yaml.safe_load((PROJECT / f"config/{config}.yaml").read_text())["tabpate"]["datasets"]
    assert not set(reported) & set(NAMES)
