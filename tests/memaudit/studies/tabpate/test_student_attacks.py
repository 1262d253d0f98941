"""Results of attacks on PATE students, on planted effects of known size."""

import numpy as np
import pytest
from scipy.special import ndtr

from memaudit.attacks.attack_entry import Attack
from memaudit.data import membership_matrices
from memaudit.statistics.attacked_records import Attacked
from memaudit.statistics.epsilon_bounds import gaussian_toy
from memaudit.statistics.threat_models import fewest_poisons, ratio
from memaudit.studies.tabpate.student_attacks import AttackedCondition, Judge

JUDGE = Judge(fpr=(0.1,), replicates=40, permutations=19, delta=1e-5, seed=1)
KEYS = {"dataset": "wine", "arm": "private", "epsilon": "1", "attack": "lira", "records": "members"}


def attacked(found, design, budgets=0, **keys):
    names = np.arange(design.shape[1])
    return AttackedCondition(KEYS | keys, Attacked(names.astype(str), found, design, names), budgets)


def planted(gap, sets=32, records=60, seed=0):
    rng = np.random.default_rng(seed)
    design = membership_matrices.balanced(sets, records, rng, block=8)
    return rng.normal(size=records) + rng.normal(size=design.shape) + gap * design, design


def only(rows, metric):
    (row,) = [row for row in rows if row["metric"] == metric]
    return row


def test_a_leak_of_known_size_comes_out_and_none_does_not():
    for gap, expected in ((0.0, 0.5), (1.5, ndtr(1.5 / np.sqrt(2)))):
        signals, design = planted(gap)
        rows = list(JUDGE.results(attacked(ratio(signals), design)))
        assert only(rows, "auc")["estimate"] == pytest.approx(expected, abs=0.03)
        assert only(rows, "auc detected")["estimate"] == (gap > 0)
        assert rows[0]["study"] == "tabpate"


@pytest.mark.parametrize("epsilon", [4.0, 10.0])
def test_the_refuted_epsilon_stays_below_a_true_one_and_comes_near(epsilon):
    signals, design = gaussian_toy(epsilon, 1e-5, 256, np.random.default_rng(0), np.ones(40))
    bound = only(JUDGE.audit(attacked(ratio(signals), design)), "epsilon lower bound")
    assert 0.15 * epsilon < bound["estimate"] < epsilon
    assert bound["low"] == bound["estimate"]
    assert "fpr=0.1" in bound["setting"]


def test_a_condition_is_compared_with_the_same_attack_without_privacy():
    (leaky, design), (silent, _) = planted(2.0), planted(0.0, seed=0)
    other = attacked(ratio(leaky), design, arm="non_private", epsilon="inf")
    control = attacked(ratio(leaky), design, arm="non_private", epsilon="inf", records="placebo")
    condition = attacked(ratio(silent), design)
    assert condition.beside([condition, control, other]) == [other]
    assert other.beside([condition, control, other]) == []
    assert attacked(ratio(silent), design, records="placebo").beside([control]) == []
    rows = list(JUDGE.differences(condition, other))
    gap = only(rows, "auc difference")
    assert "arm=private - non_private, epsilon=1" in gap["setting"]
    assert gap["high"] < 0
    aucs = [only(JUDGE.results(one), "auc")["estimate"] for one in (condition, other)]
    assert gap["estimate"] == pytest.approx(aucs[0] - aucs[1])
    with pytest.raises(ValueError, match="same records and shadow contexts"):
        next(JUDGE.differences(condition, attacked(ratio(leaky), ~design)))


def test_the_published_mechanism_stands_beside_prompt_pate_at_its_epsilon():
    leaky, design = planted(2.0)
    case, near, far = (
        attacked(ratio(leaky), design, arm=arm, epsilon=epsilon)
        for arm, epsilon in (("as_published", "1"), ("prompt_pate", "1"), ("prompt_pate", "10"))
    )
    assert case.beside([case, near, far]) == [near]
    assert near.beside([case, near, far]) == []


def test_brainwash_says_how_often_copies_were_not_needed_or_not_enough():
    rng = np.random.default_rng(0)
    design = membership_matrices.balanced(32, 20, rng, block=8)
    places = np.clip(rng.integers(0, 4, design.shape) + design, 0, 4)
    rows = list(JUDGE.results(attacked(fewest_poisons(places), design, budgets=4, attack="brainwash")))
    assert only(rows, "auc")["low"] > 0.5
    assert only(rows, "censored")["estimate"] == (places == 4).mean()
    assert only(rows, "already wrong")["estimate"] == (places == 0).mean()


def test_a_curve_ends_where_all_are_flagged():
    signals, design = planted(1.0)
    rows = list(JUDGE.curve(attacked(ratio(signals), design)))
    assert len(rows) == 31
    assert rows[-1]["estimate"] == 1
    assert {row["metric"] for row in rows} == {"roc_tpr"}
    raw = list(JUDGE.curve(attacked(Attack(design.astype(float), "raw"), design)))
    assert all(row["estimate"] == 1 for row in raw), "the design itself is a perfect score"
