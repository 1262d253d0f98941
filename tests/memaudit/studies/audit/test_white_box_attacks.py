"""Tidy rows of the white-box adversary: a planted leak of attention alone is found, and controls are not."""

from types import SimpleNamespace

import numpy as np
import pytest
from attack_grids import passive
from audit_examples import ATTACKS, AUDIT

from memaudit.attacks.attention_statistics import STATISTICS
from memaudit.auditing.summaries import summarize_controls, summarize_results
from memaudit.common import tidy
from memaudit.studies.audit import audit_attacks
from memaudit.studies.audit.white_box_attacks import white_box_rows

PARAMS = SimpleNamespace(seed=1, attacks=ATTACKS, audit=AUDIT)


def judged(gap, units=None):
    grid = audit_attacks.first_variant(passive(np.random.default_rng(0)))
    rng = np.random.default_rng(5)
    if units:
        places = np.arange(grid.sizes["record"])
        owner = np.where(grid.member, places // units, 100 + places)
        design = grid.design.values[:, np.unique(owner, return_index=True)[1]]
        design = design[:, np.unique(owner, return_inverse=True)[1]]
        grid = grid.assign(design=(grid.counts.dims, design)).assign_coords(unit=("record", owner))
    values = rng.normal(size=(*grid.design.shape, len(STATISTICS))) + gap * grid.design.values[..., None]
    grid = grid.assign(attention=(("model", "record", "statistic"), values)).assign_coords(statistic=list(STATISTICS))
    return tidy.frame(list(white_box_rows(grid, PARAMS)))


@pytest.fixture(scope="module")
def found():
    return judged(2.0)


def auc(results, **keys):
    table = tidy.expand(results)
    for key, value in keys.items():
        table = table[table[key] == value]
    return table.set_index("metric")["estimate"][["auc", "auc detected"]].to_list()


def test_a_leak_of_attention_is_found_and_the_controls_are_not(found):
    area, detected = auc(found, attack="strongest", records="members")
    assert area > 0.9
    assert detected
    for control in ("placebo", "companions"):
        area, detected = auc(found, records=control)
        assert 0.3 < area < 0.7
        assert not detected


def test_a_planted_lookup_of_attention_is_found(found):
    (control,) = summarize_controls.controls(found)
    assert control.attack == "white-box"
    assert control.lookup.detected
    assert control.lookup.estimate > 0.95


def test_every_score_has_its_rows_under_the_white_box_threat(found):
    table = tidy.expand(found)
    table = table[table["attack"].notna()]
    assert set(table["threat"]) == {"white-box passive"}
    assert set(table["attack"]) == {"strongest", "attention", "lira attention", "attention combined"}
    rates = table[(table["metric"] == "precision") & (table["records"] == "members")].groupby("attack")["base rate"]
    assert all(set(found) == set(AUDIT["base_rates"]) for _, found in rates)


def test_persons_are_judged_where_one_has_several_records():
    table = tidy.expand(judged(1.0, units=3))
    best = table[(table["attack"] == "strongest") & (table["metric"] == "auc")].set_index("records")
    assert best.loc["persons", "n"] == 32 * 10
    assert "members" not in best.index


def test_the_results_are_a_headline_of_their_own(found):
    adversaries = summarize_results.adversaries(found)
    assert len([one for one in adversaries if one.is_white_box()]) == len(adversaries) == 6
    assert summarize_results._of_headline(found).empty
