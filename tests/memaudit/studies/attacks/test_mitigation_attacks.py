"""Accuracies with a mitigation, and their differences to those without it, on records in no context."""

import numpy as np
import pytest
from setting_grids import RECORDS, SETS, arm, design, rows_of

from memaudit.attacks.score_matrices import gather, variant
from memaudit.studies.attacks.mitigation_attacks import utilities


def test_accuracies_are_compared_on_the_same_records_in_equally_many_contexts(tmp_path):
    gaps, counts = np.zeros(RECORDS), design(SETS)
    worse = rows_of("bags 4", gaps, counts, base=0.0).isel(model=slice(16))
    grid = gather(arm(tmp_path / "grid.nc", rows_of("usual", gaps, counts, base=2.0), worse))
    none, mitigated = (variant(grid, name) for name in ("usual", "bags 4"))
    own, differences = utilities(mitigated, none, lambda sets: np.random.default_rng(int(sets)), 40)
    assert [one.metric for one in own] == ["accuracy", "balanced accuracy"]
    usual, _ = utilities(none.isel(model=slice(16)), none, lambda sets: np.random.default_rng(int(sets)), 40)
    for change, with_it, without in zip(differences, own, usual, strict=True):
        assert change.estimate == pytest.approx(with_it.estimate - without.estimate)
        assert change.high < 0
        assert change.n == with_it.n == 16 * 24
    _, same = utilities(none, none, lambda sets: np.random.default_rng(0), 40)
    assert {(one.estimate, one.low, one.high) for one in same} == {(0.0, 0.0, 0.0)}
