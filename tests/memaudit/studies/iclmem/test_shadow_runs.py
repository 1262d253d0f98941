"""Shadow models on halves of the pairs of a split: coins, exchanged roles, controls, canaries."""

from types import SimpleNamespace

import numpy as np
import pytest
from wine_probes import ARM, PROBE, split_of

from memaudit.attacks.context_manipulations import parsed
from memaudit.common.errors import AuditError
from memaudit.data.matched_splits import CONTEXT, NONMEMBER, QUERY
from memaudit.models.model_folder import load
from memaudit.studies.iclmem.model_probing import Prober
from memaudit.studies.iclmem.shadow_runs import exchanged, open_pool, robust, tune_shadow

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def opened(world):
    prober = Prober(parsed(PROBE["manipulations"]), 3, 1, PROBE["seed"], 64)
    return SimpleNamespace(split=split_of(world, 0), prober=prober, model=load(world / "model/model.json"))


def pool_of(opened, targets=4, controls=2, **arm):
    return open_pool(opened.split, ARM | arm, targets, controls, opened.prober, opened.model)


def test_a_pool_has_both_records_of_the_first_pairs_and_of_the_control_pairs(opened):
    pool = pool_of(opened)
    assert pool.condition["queries"] == 6
    assert pool.pair.tolist() == [0, 1, 2, 3, 6, 7] * 2
    assert pool.control.tolist() == [False, False, False, False, True, True] * 2
    facts = opened.split.facts.iloc[pool.rows]
    assert facts.role.tolist() == [QUERY] * 6 + [NONMEMBER] * 6
    assert facts.order.tolist() == pool.pair.tolist()
    assert pool_of(opened, targets=50).pair.tolist() == [*range(8)] * 2
    with pytest.raises(AuditError, match="8 control pairs leave none of 8 queries to train on"):
        pool_of(opened, controls=8)


def test_coins_are_opposite_within_two_models_and_random_over_the_others(opened):
    pool = pool_of(opened)
    coins = np.stack([pool.coins(3, shadow) for shadow in range(400)])
    assert coins.shape == (400, 8)
    assert (coins[::2] ^ coins[1::2]).all()
    assert abs(coins[::2].mean(0) - 0.5).max() < 0.12
    assert (coins[0] == pool.coins(3, 0)).all()
    assert (pool.coins(4, 0) != coins[0]).any()


def test_coins_exchange_the_roles_within_a_pair_and_nothing_else(opened):
    split, coins = opened.split, np.arange(8) == 2
    other = exchanged(split, coins)
    expected = split.rows(QUERY).copy()
    expected[2] = split.rows(NONMEMBER)[2]
    assert other.rows(QUERY).tolist() == expected.tolist()
    assert other.rows(CONTEXT).tolist() == split.rows(CONTEXT).tolist()
    assert other.reference.x.equal(split.reference.x)
    assert (other.facts.id == split.facts.id).all()


def test_a_shadow_model_trains_on_one_record_of_each_trained_pair_and_on_no_control(opened, tmp_path):
    pool, parts = pool_of(opened), {}

    def part(name, of):
        return parts[name] if name in parts else parts.setdefault(name, of())

    record = tune_shadow(opened.model, pool, 1, opened.prober, tmp_path, part)
    assigned, member = record["assigned"], record["member"]
    assert (assigned[:6] ^ assigned[6:]).all()
    assert (member == assigned & ~pool.control).all()
    assert (assigned[:6] == ~pool.coins(PROBE["seed"], 1)[pool.pair[:6]]).all()
    assert record["probe"].shape == (2, 12, 4)
    assert record["in_context"].shape == (3, 12, 4)


def test_canaries_are_chosen_for_all_judged_records_and_for_no_other(opened):
    pool = pool_of(opened, labels="canaries")
    changed = np.flatnonzero(pool.split.y != opened.split.y)
    assert set(changed) <= set(pool.rows)
    assert len(changed) > len(pool.rows) / 2


def test_manipulations_that_repeat_another_are_not_averaged(opened):
    signals = np.arange(12.0).reshape(1, 3, 4)
    signals[:, 2] = np.nan
    assert robust(signals, opened.prober, opened.split).tolist() == [[2.0, 3.0, 4.0, 5.0]]
