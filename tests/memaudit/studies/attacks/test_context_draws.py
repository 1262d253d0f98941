"""Contexts drawn from a small table: halves of units, contexts with given shares, columns."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.config.context_variants import DEFAULTS
from memaudit.studies.attacks.context_draws import Draw, Members, contexts_of_shares, halves, kept_columns

DRAW = Draw(1, "toy", 16, 8, 4, "a", "attacks/arms/main/variants, data set toy: 'x'")


@pytest.fixture
def members():
    rng = np.random.default_rng(0)
    sides = np.where(np.arange(60) < 40, "members", "nonmembers")
    table = pd.DataFrame({"id": np.arange(60).astype(str), "side": sides, "target": "yes", "a": rng.normal(size=60)})
    table["group"] = np.arange(60) // 2
    schema = {"columns": [{"name": "a"}, {"name": "b"}], "target": {"categories": ["no", "yes"]}}
    schema |= {"task": "classification"}
    return Members.of(table, schema, rng)


def test_units_stand_together_in_half_of_every_block(members):
    counts, queried = halves(members, DEFAULTS, DRAW)
    assert (counts[:, :40:2] == counts[:, 1:40:2]).all()
    assert (counts.reshape(2, 8, 60).sum(1)[:, :40] == 4).all()
    assert not counts[:, 40:].any()
    assert queried.all()
    assert (members.label == 1).all()
    assert sorted(set(members.rank)) == [-1, *range(20)]


def test_copies_are_those_of_the_targets(members):
    counts, _ = halves(members, {**DEFAULTS, "copies": 3}, DRAW)
    target = (members.rank >= 0) & (members.rank < 4)
    assert set(np.unique(counts[:, target])) == {0, 3}
    assert counts[:, ~target].max() == 1


def test_a_table_that_is_too_small_is_named_with_the_remedy(members):
    with pytest.raises(AuditError, match=r"drawn from 22 members, the table has 20; .*attacks/arms/main/datasets"):
        halves(members, {**DEFAULTS, "context": 11}, DRAW)


def test_contexts_have_the_shares_that_were_requested(members):
    second = np.arange(16) % 2 == 1
    counts, queried = contexts_of_shares(members, [0.2, 0.8], second, DRAW)
    high = (members.records["a"] > members.records["a"].median()).to_numpy()
    shares = counts @ high / counts.sum(1)
    assert shares == pytest.approx(np.where(second, 0.8, 0.2), abs=0.05)
    assert (queried == ~members.member).all()


def test_columns_are_kept_in_a_random_order(members):
    assert kept_columns(members, None, 0, DRAW).all()
    assert kept_columns(members, 1, 0, DRAW).sum() == 1
