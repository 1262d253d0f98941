"""Planted models: a lookup is found, a model without a leak is not."""

from types import SimpleNamespace

import numpy as np
import pytest
from attack_grids import passive
from audit_examples import ATTACKS, AUDIT

from memaudit.auditing.summaries import summarize_controls
from memaudit.common import tidy
from memaudit.studies.audit import audit_attacks, planted_checks, planted_effects
from memaudit.studies.audit.planted_effects import Answers

PARAMS = SimpleNamespace(attacks=ATTACKS, audit=AUDIT | {"threats": ["labels", "probabilities"]})


def strength(grid, threats=("labels", "probabilities"), seed=0):
    answers = Answers.of(grid, threats, ATTACKS["rmia"])
    keys = {"dataset": "wine", "model": "main"}
    rng = np.random.default_rng(seed)
    parts = planted_checks.lookups, planted_checks.innocents, planted_checks.smallest
    rows = [row for part in parts for row in part(answers, keys, PARAMS, rng)]
    return summarize_controls.strength(tidy.frame(rows), AUDIT["fpr"])


@pytest.fixture
def grid():
    return audit_attacks.first_variant(passive(np.random.default_rng(0)))


def test_the_checks_hold_and_the_smallest_leak_is_stated(grid):
    found = strength(grid)
    assert found.lookup.detected
    assert found.lookup.estimate > 0.95
    assert found.lookup_changed == 1
    assert not found.innocent_failed
    assert 3 <= found.innocents <= 5
    assert 0.5 < found.smallest_auc < 0.75
    assert 0.05 < found.auc_effect < 2
    assert found.units == 30


def test_a_broken_verdict_fails_the_check_of_innocent_models(grid, monkeypatch):
    always = [SimpleNamespace(detected=True)] * 2
    monkeypatch.setattr(planted_checks, "judge_redrawn", lambda _, number, **__: [always] * number)
    answers = Answers.of(grid, ["probabilities"], ATTACKS["rmia"])
    panel = answers.panel(answers.members.design.values, names=["lira"])
    assert planted_checks.innocents_found(panel, PARAMS, np.random.default_rng(0)) == [True] * 3


def test_answers_that_never_vary_have_no_smallest_leak(grid):
    constant = grid.assign(logits=(grid.logits.dims, np.repeat(grid.logits.values[:1], grid.sizes["model"], axis=0)))
    found = strength(constant)
    assert found.units is found.smallest_auc is None
    assert found.lookup.detected


def test_labels_that_are_always_right_do_not_show_a_lookup(grid):
    own = np.arange(2) == grid.label.values[:, None]
    logits = np.broadcast_to(np.where(own, 20.0, 0.0), grid.logits.shape) + 0.01 * grid.logits.values
    found = strength(grid.assign(logits=(grid.logits.dims, logits.astype(np.float32))), ["labels"])
    assert not found.lookup.detected
    assert found.lookup_changed == 0
    assert found.smallest_auc is None


def test_the_rows_do_not_depend_on_the_number_of_processes(grid, monkeypatch):
    # Two of the scores: their number does not matter here, and all of them take most of the time.
    monkeypatch.setattr(planted_effects, "names_on", lambda *_: ["lira", "signal alone"])
    params = SimpleNamespace(seed=1, attacks=PARAMS.attacks, audit=PARAMS.audit)
    alone, beside = (planted_checks.planted_rows(grid, params, threads)() for threads in (1, 2))
    assert tidy.frame(alone).equals(tidy.frame(beside))
    assert {row["setting"].count("planted") for row in alone} == {1}
    params.audit = params.audit | {"smallest": False}
    first = tidy.frame(planted_checks.planted_rows(grid, params, 2)())
    assert first.equals(tidy.frame([row for row in alone if "planted=smallest" not in row["setting"]]))
