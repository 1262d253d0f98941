"""Folds and halves: every target has one part, and a part is disjoint from where its estimate is made."""

import numpy as np
import pytest

from memaudit.attacks.cross_fitting import model_folds, parts, record_halves


@pytest.mark.parametrize(("models", "records"), [(8, 4), (16, 7), (513, 30)])
def test_every_target_belongs_to_one_part(models, records):
    count = sum(np.outer(part.models, part.records).astype(int) for part in parts(models, records))
    assert (count == 1).all()


def test_an_estimate_shares_neither_models_nor_records_with_its_targets():
    for part in parts(16, 10):
        assert not (part.models & part.other_models).any()
        assert not (part.records & part.other_records).any()
        assert (part.models == (model_folds(16) == part.fold)).all()
        assert (part.records == (record_halves(10) == part.half)).all()
