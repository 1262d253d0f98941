"""Rows of mitigations: leakage and its change on planted score matrices, or the reason why there is none."""

from types import SimpleNamespace

import numpy as np
import pytest
from attack_grids import SETS, passive, perturbed

from memaudit.attacks.attack_entry import WHITE_BOX
from memaudit.common import tidy
from memaudit.common.io import write_grid
from memaudit.statistics.chosen_attacks import STRONGEST_LABELS
from memaudit.statistics.mitigation_verdicts import QUERIES
from memaudit.studies.audit import mitigated_answers, mitigation_rows
from memaudit.studies.audit.audit_attacks import first_variant

ATTACKS = {"fpr": [0.2, 0.1], "replicates": 20, "perturbation": {"scale": 0.1, "count": 10}}


@pytest.fixture
def job():
    params = SimpleNamespace(seed=1, attacks=ATTACKS, audit={"fpr": 0.1})
    return SimpleNamespace(params=params, wildcards=SimpleNamespace(dataset="wine"), input={})


@pytest.fixture(scope="module")
def grid():
    return first_variant(passive(np.random.default_rng(0)))


@pytest.fixture(scope="module")
def whole(grid):
    usual = mitigated_answers.passive(["probabilities"], {"gamma": 1.0, "offline_a": 0.3})
    return mitigated_answers.strongest(grid, usual, 0.1)


def by_metric(results):
    return tidy.expand(tidy.frame(results)).set_index("metric")


def test_leakage_has_every_fpr_once_and_the_score_of_most_contexts(job, whole):
    table = by_metric(mitigation_rows.leakage_rows("none", whole, job))
    assert list(table.index) == ["auc", "tpr@0.2", "tpr@0.1", "chosen"]
    assert table.loc["auc", "estimate"] > 0.7
    assert tuple(table.loc["chosen", ["score", "estimate"]]) == whole.most_chosen()
    assert table.loc["chosen", "n"] == SETS
    assert set(table["attack"]) == {"strongest"}


def test_the_same_answers_have_no_change(job, whole):
    found = mitigation_rows.changes("same", whole, whole, job)
    assert [one.metric for one in found] == ["auc difference", "tpr@0.2 difference", "tpr@0.1 difference"]
    assert all((one.estimate, one.low, one.high) == (0, 0, 0) for one in found)


def test_streams_differ_by_name_and_a_reason_is_one_row(job):
    first, second = (mitigation_rows.stream(job, name).random() for name in ("a", "b"))
    assert first != second
    assert first == mitigation_rows.stream(job, "a").random()
    (row,) = mitigation_rows.not_tested_rows("keys", "as deployed", job, WHITE_BOX)
    table = by_metric([row])
    assert tuple(table.loc["tested", ["estimate", "method", "attack"]]) == (0, "as deployed", "white-box")
    assert mitigation_rows.keys_of("keys", job, WHITE_BOX).items() <= table.loc["tested"].to_dict().items()


def test_many_queries_have_leakage_and_changes_or_the_reason(job, grid, whole, tmp_path):
    copies = perturbed(passive(np.random.default_rng(0)), np.random.default_rng(1))
    write_grid(copies.assign_attrs(dataset="wine"), tmp_path / "perturbed.nc")
    job.input["perturbed"] = str(tmp_path / "perturbed.nc")
    table = by_metric(mitigation_rows.queried_label_rows(grid, whole, job))
    metrics = ["auc", "tpr@0.2", "tpr@0.1"]
    assert list(table.index) == [*metrics, "chosen", *(f"{name} difference" for name in metrics)]
    assert set(table["attack"]) == {QUERIES} == {STRONGEST_LABELS}
    job.params.attacks = ATTACKS | {"perturbation": {"scale": 0.1, "count": 99}}
    table = by_metric(mitigation_rows.queried_label_rows(grid, whole, job))
    assert list(table.index) == ["tested"]
    assert "no 99 copies" in table.loc["tested", "method"]
