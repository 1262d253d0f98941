"""Empirical epsilon of synthesizers: the rows of each condition, and a verdict that has its power beside it."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common import tidy
from memaudit.studies.tabpate.synthetic_audit import audited


def bounds(*conditions):
    """Estimates by metric of each (epsilon, noise, sigma); 60 refits with the canary and 60 without it."""
    rng, member = np.random.default_rng(0), np.tile([True, False], 60)
    tables = []
    for epsilon, noise, sigma in conditions:
        scores = member + sigma * rng.standard_normal(120)
        columns = {"epsilon": epsilon, "noise": noise, "member": member}
        tables.append(pd.DataFrame(columns | {"synthetic_records": scores, "noisy_counts": -scores}))
    rows = tidy.expand(tidy.frame(list(audited(pd.concat(tables), "mst", 1e-5, 1))))
    return rows.pivot_table(index=["epsilon", "noise", "attack"], columns="metric", values="estimate")


def test_the_control_reaches_the_largest_bound_and_refutes_epsilon_one_while_much_noise_does_not():
    found = bounds((1.0, "stated", 20.0), (1.0, "off", 1e-3))
    control, stated = found.loc[(1.0, "off", "synthetic_records")], found.loc[(1.0, "stated", "synthetic_records")]
    assert control["epsilon lower bound"] == pytest.approx(control["largest epsilon bound"])
    assert control["refuted"] == 1
    assert stated["epsilon lower bound"] < 1
    assert stated["refuted"] == 0


def test_a_score_that_is_lower_with_the_canary_shows_nothing():
    assert bounds((1.0, "off", 1e-3)).loc[(1.0, "off", "noisy_counts")]["epsilon lower bound"] == 0


def test_a_large_epsilon_is_not_refuted_by_few_refits_whatever_they_show():
    found = bounds((10.0, "stated", 1e-3)).loc[(10.0, "stated", "synthetic_records")]
    assert 1 < found["largest epsilon bound"] < 10
    assert found["refuted"] == 0
