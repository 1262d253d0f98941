"""The attacks of an audit on planted score matrices."""

from types import SimpleNamespace

import numpy as np
import pytest
from attack_grids import MEMBERS, SETS, passive
from regression_grids import RECORDS, fitted, raw, regressor

from memaudit.attacks import registry
from memaudit.attacks.score_matrices import variant
from memaudit.common import tidy
from memaudit.statistics.strongest_score import choose
from memaudit.studies.audit import audit_attacks, strongest_attack


@pytest.fixture
def grid():
    return audit_attacks.first_variant(passive(np.random.default_rng(0)))


RMIA = {"gamma": 1.0, "offline_a": 0.3}


def test_threats_decide_what_is_read():
    assert audit_attacks.permitted(["labels"]) == audit_attacks.permitted(["labels", "poison"]) == "label-only"
    assert (
        audit_attacks.permitted(["labels", "probabilities"]) == audit_attacks.permitted(["poison"]) == "probabilities"
    )
    assert audit_attacks.permits(["labels"], "brainwash")
    assert not audit_attacks.permits(["labels"], "lira poisoned")
    assert (audit_attacks.compared(["labels"]), audit_attacks.compared(["probabilities"])) == (
        "lira correctness",
        "lira",
    )


def test_the_candidates_are_all_permitted_scores_of_the_registry(grid):
    for threats, reads in {("labels",): "label-only", ("labels", "probabilities"): "probabilities"}.items():
        found = audit_attacks.panels(grid, threats, RMIA)["members"].attacks
        assert list(found) == registry.of_one_query(reads)
        assert all(audit_attacks.permits(threats, name) for name in found)
        assert all(one.signals.shape == (SETS, MEMBERS) for one in found.values())
    assert {"rmia offline estimated", "lira shrunk variance", "lira shared variance", "combined"} <= set(found)


def test_persons_are_judged_where_one_has_several_records(grid):
    assert list(audit_attacks.panels(grid, ["labels"], RMIA)) == ["members"]
    halves = grid.assign_coords(unit=("record", grid.unit.values // 2))
    persons = audit_attacks.panels(halves, ["labels"], RMIA)["persons"]
    assert persons.membership.shape == (SETS, MEMBERS // 2)


def test_a_smaller_model_is_compared_on_as_many_shadow_contexts(grid):
    case = audit_attacks.main_alike(grid, grid.isel(model=slice(16)), "model_2", ["probabilities"])
    assert case.membership.shape == (16, MEMBERS)
    assert (case.keys["model"], case.keys["records"], case.name) == ("model_2", "main alike", "lira")
    assert audit_attacks.on_members(grid, "main", ["labels"]).name == "lira correctness"


KEYS = {"dataset": "simulated", "model": "main", "records": "members"}
SETTINGS = {"fpr": [0.1, 0.01], "replicates": 20, "permutations": 19}


def judged(grid, seed, threats=("labels", "probabilities")):
    """AUC, its verdict and the attacks of an audit of a score matrix."""
    panel = audit_attacks.panels(grid, threats, RMIA)["members"]
    audit = {"fpr": 0.01, "base_rates": [0.5], "threats": list(threats)}
    params = SimpleNamespace(seed=seed, attacks=SETTINGS, audit=audit)
    found, _ = strongest_attack.judged(panel, choose(panel, 0.01), KEYS, params, control=False)
    table = tidy.expand(tidy.frame(found))
    rows = table[table["attack"] == "strongest"].set_index("metric")["estimate"]
    return rows["auc"], bool(rows["auc detected"]), panel.attacks


@pytest.mark.parametrize("threats", [("labels",), ("labels", "probabilities")])
def test_a_regressor_that_memorizes_is_found(threats):
    """The nearest neighbour of a record in a context is the record itself."""
    lookup = regressor("sklearn.neighbors.KNeighborsRegressor", n_neighbors=1)
    for seed in range(2):
        auc, detected, attacks = judged(fitted(lookup, seed), seed, threats)
        assert auc > 0.99
        assert detected
        reads = "label-only" if threats == ("labels",) else "probabilities"
        assert list(attacks) == registry.of_one_query(reads, "regression")


def test_a_regressor_that_cannot_leak_is_not_found():
    """Its predictions do not depend on the context, although the spread of a context's targets does."""
    constant = regressor("sklearn.dummy.DummyRegressor", strategy="constant", constant=9e3)
    for seed in range(4):
        auc, detected, _ = judged(fitted(constant, seed), seed)
        assert auc == 0.5
        assert not detected


def test_independent_predictions_are_found_in_few_runs():
    """Predictions that vary between contexts, with deviations of each record, and do not depend on membership."""
    found = 0
    for seed in range(8):
        rng = np.random.default_rng(1000 + seed)
        level, spread = rng.normal(1e4, 2e3, RECORDS), 500 * np.exp(rng.normal(0, 0.7, RECORDS))
        noise = raw(lambda x, y, queries: level + spread * rng.standard_t(4, len(queries)), seed)  # noqa: B023
        found += judged(variant(noise, "usual"), seed)[1]
    assert found <= 2


def test_models_of_numbers_are_compared_by_lira_on_the_density_or_the_error():
    grid = fitted(regressor("sklearn.linear_model.LinearRegression"))
    assert audit_attacks.on_members(grid, "main", ["probabilities"]).name == "lira"
    assert audit_attacks.on_members(grid, "main", ["labels"]).name == "lira error"
