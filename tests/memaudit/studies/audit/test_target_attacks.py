"""Attacks on some of an audit's records: each permitted one has rows and controls, none where sizes cannot tell."""

from types import SimpleNamespace

import numpy as np
import pytest
import random_targets
from attack_grids import ATTACKS, MEMBERS, passive, perturbed, poisoned

from memaudit.auditing.summaries import summarize_controls, summarize_results
from memaudit.common import tidy
from memaudit.common.io import read_grid, write_grid
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.scorable_redraws import redraw
from memaudit.studies.audit import planted_lookups, target_attacks


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("targets"), np.random.default_rng(0)
    grid = passive(rng)
    # Of labels alone eight targets would not show even a lookup.
    for name, made in {"perturbed": perturbed(grid, rng), "poisoned": poisoned(grid, rng, MEMBERS)}.items():
        write_grid(made, folder / f"{name}.nc")
    return {name: str(folder / f"{name}.nc") for name in ("perturbed", "poisoned")}


def job_of(inputs, threats, **settings):
    audit = {"threats": threats, "fpr": 0.1, "base_rates": [0.5]}
    params = SimpleNamespace(seed=1, attacks=ATTACKS | settings, audit=audit)
    return SimpleNamespace(input=inputs, params=params, wildcards=SimpleNamespace(dataset="wine"))


def rows(inputs, threats, **settings):
    return list(target_attacks.target_rows(job_of(inputs, threats, **settings)))


def attacks(results):
    return set(tidy.expand(tidy.frame(results))["attack"].dropna())


@pytest.fixture
def without_controls(monkeypatch):
    """No control is computed: for attacks whose controls another test computes."""
    monkeypatch.setattr(target_attacks, "_control_rows", lambda *_: ())


@pytest.fixture(scope="module")
def found(inputs):
    return rows(inputs, ["probabilities", "poison"])


def test_each_permitted_attack_has_rows(inputs, found, without_controls):
    labels = {"strongest labels", "boundary", "copies correct", "chosen poisons on labels"}
    assert attacks(rows(inputs, ["labels", "poison"])) == labels
    assert attacks(found) == labels | {"chosen poisons"}


@pytest.mark.parametrize(("threat", "calibrated"), [("labels", False), ("probabilities", True)])
def test_each_permitted_attack_of_many_queries_is_a_case_on_the_targets(inputs, threat, calibrated):
    cases = {one.name: one for one in target_attacks.target_cases(job_of(inputs, [threat]))}
    assert "perturbation" in cases
    assert ("lira poisoned" in cases) == calibrated
    assert {one.keys["records"] for one in cases.values()} == {"targets"}


def test_there_is_no_case_without_its_queries_or_of_sizes_that_cannot_tell(inputs):
    assert list(target_attacks.target_cases(job_of({}, ["labels"]))) == []
    assert list(target_attacks.target_cases(job_of(inputs, ["probabilities"], detectable=0.6))) == []


def test_a_planted_lookup_is_found_by_each_and_a_model_without_a_leak_by_none(found):
    controls = summarize_controls.controls(tidy.frame(found))
    of_labels = ["strongest labels", "boundary", "copies correct", "perturbation"]
    of_poisons = ["lira", "lira poisoned", "brainwash", "chosen poisons on labels", "chosen poisons"]
    assert [one.attack for one in controls] == of_labels + of_poisons
    for one in controls:
        assert one.lookup.detected
        assert one.lookup.estimate > 0.65
        assert one.innocents >= 3
        assert not one.innocent_failed


def test_an_attack_that_reads_nothing_misses_the_lookup(inputs, monkeypatch):
    monkeypatch.setattr(planted_lookups, "near_records", lambda grid: grid.assign(design=grid.design[::-1].variable))
    controls = summarize_controls.controls(tidy.frame(rows({"perturbed": inputs["perturbed"]}, ["labels"])))
    assert [one.lookup.detected for one in controls] == [False] * 4


def test_sizes_that_cannot_tell_have_no_numbers(inputs):
    assert rows(inputs, ["probabilities", "poison"], detectable=0.6) == []


SETS = 32
NEAR = {"targets": 40, "sets": SETS, "shard": SETS, "counts": [10], "scales": [0.1], "count": 10, "scale": 0.1}
NEAR |= {"directions": 2, "steps": 3}
POISONS = {"targets": 2, "sets": SETS, "shard": SETS, "budgets": [1], "most": 2, "scanned": 0.0}
POISONS |= {"grouped": 40, "together": 20, "copies": [1]}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """Folder with the score matrices of both attacks on the shipped model."""
    folder = tmp_path_factory.mktemp("shipped")
    random_targets.write(folder)
    random_targets.draw(folder, SETS)
    random_targets.query("attacks_query_perturbed", folder, "perturbed.nc", perturbation=NEAR)
    random_targets.query("attacks_query_poisoned", folder, "poisoned.nc", sets=SETS, active=POISONS)
    return folder


def judged(folder):
    """Tidy results of both score matrices in a folder."""
    paths = {name: str(folder / f"{name}.nc") for name in ("perturbed", "poisoned")}
    near = {name: NEAR[name] for name in ("count", "scale")}
    return tidy.frame(rows(paths, ["probabilities", "poison"], perturbation=near))


def areas(results):
    """AUC of each attack, and whether each of those that are tested is detected."""
    return {one.attack: one.auc for one in summarize_results.adversaries(results)}


def test_members_of_contexts_of_the_shipped_model_are_found_by_each(shipped):
    results = judged(shipped)
    controls = summarize_controls.controls(results)
    # The attacks with mislabelled copies have two targets here, too few to show even a lookup: they are withdrawn.
    assert [one.attack for one in controls if not one.lookup.detected] == ["lira", "lira poisoned", "brainwash"]
    assert not any(one.innocent_failed for one in controls)
    found = areas(results)
    for name in ("strongest labels", "chosen poisons", "chosen poisons on labels"):
        assert found[name].detected
    for name in ("boundary", "copies correct"):
        assert found[name].low > 0.55


def test_records_whose_membership_is_drawn_again_are_found_by_none(shipped, tmp_path, without_controls):
    for name, design in {"perturbed": "design", "poisoned": "chosen_design"}.items():
        grid = read_grid(shipped / f"{name}.nc")
        units = (grid.target_unit if name == "poisoned" else grid.unit).values
        again = redraw(Scheme.of(grid.attrs), grid[design].values, units, np.random.default_rng(3))
        write_grid(grid.assign({design: (grid[design].dims, again)}), tmp_path / f"{name}.nc")
    found = areas(judged(tmp_path))
    assert not any(one.detected for one in found.values())
    for name in ("boundary", "copies correct"):
        assert found[name].low < 0.5 < found[name].high
