"""Records of public tables: different ones, few enough, with codes of their classes."""

import numpy as np
import pytest

from memaudit.studies.attacks.public_tables import MOST, TABLES, records


@pytest.mark.parametrize(("table", "classes"), zip(TABLES, (3, 2, 2, 10), strict=True))
def test_records_are_different_and_classes_are_numbered(table, classes):
    x, y = records(table)
    assert len(x) == len(y) <= MOST
    assert len(np.unique(np.column_stack([x, y]), axis=0)) == len(x)
    assert sorted(set(y.tolist())) == list(range(classes))
