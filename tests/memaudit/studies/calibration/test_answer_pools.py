"""Pools of answers: score matrices as an audit reads them, with the leak that they should have."""

import numpy as np
import pytest

from memaudit.studies.audit import audit_attacks
from memaudit.studies.calibration.answer_pools import BLOCK, MODELS, generated, queried, records


def confidence_gap(grid):
    """Mean gain of the members' correctness by their presence in the context."""
    members = grid.isel(record=grid.member.values)
    right = members.logits.values.argmax(-1) == members.label.values
    inside = members.design.values
    return right[inside].mean() - right[~inside].mean()


@pytest.mark.parametrize("name", ["credit-g", "blood-transfusion", "breast_cancer", "wine", "digits"])
def test_records_of_a_table_are_distinct_numbers(name):
    x, y = records(name)
    assert x.dtype == np.float32
    assert np.isfinite(x).all()
    assert len(x) == len(y) >= 150
    assert set(np.unique(y)) == set(range(y.max() + 1))
    assert len(np.unique(np.column_stack([x, y]), axis=0)) >= 0.99 * len(y)  # but for rounding to single precision


def test_every_record_is_in_half_of_each_block_and_others_in_none():
    grid = queried(records("wine"), "15 nearest neighbours", 50, 2 * BLOCK, np.random.default_rng(0))
    design = grid.design.values.reshape(2, BLOCK, 50)
    assert (design.sum(1) == np.where(grid.member.values, BLOCK // 2, 0)).all()
    assert grid.logits.shape == (2 * BLOCK, 50, 3)
    assert set(audit_attacks.panels(grid, ["probabilities"], {"gamma": 1.0, "offline_a": 0.3})) == {"members"}


@pytest.mark.parametrize(("model", "gap"), [("1 nearest neighbour", 1.0), ("constant classifier", 0.0)])
def test_one_model_leaks_fully_and_one_cannot_leak(model, gap):
    grid = queried(records("no shared labels"), model, 200, BLOCK, np.random.default_rng(0))
    assert confidence_gap(grid) == pytest.approx(gap, abs=1e-9 if gap else 0.03)
    if not gap:
        assert (grid.logits.values == grid.logits.values[0]).all()


def test_a_generator_shifts_the_leaking_records_alone():
    grid = generated(1024, 50, np.random.default_rng(0), shift=4.0, leaking=0.5)
    members = grid.isel(record=grid.member.values)
    own = np.take_along_axis(
        members.logits.values, np.broadcast_to(members.label.values, members.design.shape)[..., None], -1
    )[..., 0]
    gain = [
        values[inside].mean() - values[~inside].mean()
        for values, inside in zip(own.T, members.design.values.T, strict=True)
    ]
    leaking = np.array(gain) > 1.5
    assert 0.25 < leaking.mean() < 0.75
    assert np.abs(np.array(gain)[~leaking]).max() < 0.6


def test_the_shipped_model_answers():
    assert "tabicl-small" in MODELS
    grid = queried(records("blood-transfusion"), "tabicl-small", 30, BLOCK, np.random.default_rng(0))
    assert np.isfinite(grid.logits.values).all()
