"""Redraws that can be scored where the observed membership matrix can: as it was drawn, and uniform among these."""

import numpy as np
import pytest
from conftest import PROJECT

from memaudit.common.errors import AuditError
from memaudit.data.membership_matrices import Scheme, balanced, fixed_size
from memaudit.statistics import scorable_redraws
from memaudit.statistics.scorable_redraws import redraw

ROWS = Scheme("rows")


def fewest(member):
    """Models of the record that has the fewest with it, or without it."""
    return int(np.minimum(member.sum(0), len(member) - member.sum(0)).min())


def scorable(rng, models=12, records=60):
    """Models of fixed size whose records all have 3 models on each side: a target and 2 shadow models."""
    while fewest(member := fixed_size(models, records, records // 2, rng)) < 3:
        pass
    return member


def test_redraws_of_models_of_fixed_size_can_be_scored_as_the_observed_ones():
    rng = np.random.default_rng(0)
    member = scorable(rng)
    assert min(fewest(redraw(ROWS, member, None, rng)) for _ in range(20)) >= 3
    # Most others cannot.
    assert sum(fewest(ROWS.redraw(member, None, rng)) >= 3 for _ in range(200)) < 100


def test_redraws_that_can_be_scored_are_uniform():
    """Of 6 models with one of 2 records each, 3 must have each record: 20 matrices."""
    rng = np.random.default_rng(1)
    member = np.column_stack([np.arange(6) < 3, np.arange(6) >= 3])
    drawn = [redraw(ROWS, member, None, rng)[:, 0].tobytes() for _ in range(2000)]
    counts = np.unique(drawn, return_counts=True)[1]
    assert len(counts) == 20
    assert (abs(counts - 100) < 5 * 100**0.5).all()


def test_a_redraw_of_balanced_columns_is_that_of_the_scheme():
    scheme, units = Scheme("columns", 8), np.arange(20) // 2
    member = balanced(16, 10, np.random.default_rng(0), block=8)[:, units]
    drawn = [make(np.random.default_rng(1)) for make in (
        lambda rng: redraw(scheme, member, units, rng), lambda rng: scheme.redraw(member, units, rng)
    )]  # fmt: skip
    np.testing.assert_array_equal(*drawn)


def test_nothing_else_redraws_by_the_scheme_alone():
    """But for the benchmark of redraws, which makes no null of them."""
    scripts = PROJECT / "workflow_scripts"
    found = {str(path.relative_to(scripts)) for path in scripts.rglob("*.py") if ".redraw(" in path.read_text()}
    assert found == {"memaudit/statistics/scorable_redraws.py", "bench/randomise_membership.py"}


def test_a_matrix_without_a_like_redraw_is_refused(monkeypatch):
    monkeypatch.setattr(scorable_redraws, "MOST_REDRAWS", 5)
    rng = np.random.default_rng(0)
    member = balanced(8, 400, rng)  # no redraw of rows has every record in 4 of 8 models
    with pytest.raises(AuditError, match="of 5 redraws of 8 models of fixed size none"):
        redraw(ROWS, member, None, rng)
