"""The section `iclmem` of the config: every fault is named by its key."""

from functools import cache
from types import SimpleNamespace

import pytest
from config_faults import REMOVE, each, refuses
from conftest import load
from pydantic import ValidationError
from wine_probes import SUITE

from memaudit.config.iclmem_section import Arm, Iclmem, iclmem_faults
from memaudit.config.shared_keys import Dataset, Model

FAULTS = [
    ({"iclmem/datasets": ["wyne"]}, "iclmem/datasets: unknown dataset 'wyne'; did you mean `wine`?"),
    ({"iclmem/fpr": [0.1, 0.1]}, "iclmem/fpr: a value stands twice"),
    ({"iclmem/epochs": [10, 1]}, "iclmem/epochs: must increase, without repeats"),
    ({"iclmem/models/classification": "tabicl-small-regression"}, "tabicl-small-regression is for regression"),
    ({"iclmem/models/classification": REMOVE}, "iclmem/models/classification: missing;"),
    ({"iclmem/targets/context": 100_000}, "and iclmem/targets/context wants 100000 of them probed"),
    ({"iclmem/manipulations": []}, "iclmem/manipulations: "),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)


@cache
def catalogues():
    return load()


def settings(**changes):
    """A section and the keys that all studies share; arm: changes of the condition `usual`."""
    arm = {"learning_rate": 1e-3} | changes.pop("arm", {})
    section = {"datasets": ["wine", "diabetes"], "models": {"classification": "small", "regression": "numbers"}}
    section |= {"splits": 5, "splits_per_job": 5, "queries": 30, "context": 40, "epochs": [1, 10], "copies": 1}
    section |= {"targets": {"queries": None, "context": 4}, "candidates": 3, "free_text": "refuse", "fpr": [0.1]}
    section |= {"keep_checkpoints": False, "replicates": 20, "permutations": 19, "bins": 5}
    section |= {"rules": {"as_written": {"auc": 0.5}}, "arms": {"usual": arm}, "manipulations": SUITE}
    catalogue = catalogues()
    models = {name: Model(**entry) for name, entry in catalogue["models"].items()}
    models |= {"small": models["tabicl-small"], "numbers": models["tabicl-small-regression"]}
    datasets = {name: Dataset(**entry) for name, entry in catalogue["datasets"].items()}
    shared = SimpleNamespace(models=models, datasets=datasets, accept_licences=[])
    return Iclmem.model_validate(section | changes), shared


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"datasets": ["wein"]}, "iclmem/datasets: unknown dataset 'wein'; did you mean `wine`?"),
        (
            {"models": {"classification": "smal", "regression": "numbers"}},
            "iclmem/models/classification: unknown model",
        ),
        ({"models": {"classification": "small"}}, "iclmem/models/regression: missing; diabetes needs one"),
        (
            {"models": {"classification": "text-small", "regression": "numbers"}},
            "text-small cannot be queried without its",
        ),
        (
            {"models": {"classification": "tabpfn-v2", "regression": "numbers"}},
            "tabpfn-v2 cannot be queried without its",
        ),
        (
            {"models": {"classification": "numbers", "regression": "numbers"}},
            "classification: numbers is for regression",
        ),
        ({"context": 150}, "wine has 178 records; 30 query members, as many non-members, 0 negative controls and 150"),
        ({"epochs": [1, 10, 5]}, "iclmem/epochs: must increase"),
        ({"arm": {"epochs": [3, 3]}}, "iclmem/arms/usual/epochs: must increase"),
        ({"queries": 10}, "iclmem/queries: two groups of 10 numbers differ by a KS of 1/10, not below datasets"),
        ({"arm": {"joint": True, "datasets": ["wine"]}}, "iclmem/arms/usual/joint: it has one table alone"),
        ({"arm": {"joint": True}}, "iclmem/arms/usual/datasets: one model cannot have classification and regression"),
        ({"arm": {"context": 3}}, "iclmem/arms/usual/context: 3 rows, and iclmem/targets/context wants 4"),
        (
            {"arm": {"private": {"epsilon": 1.0, "delta": 0.01}}},
            "iclmem/arms/usual/epochs: a private model is probed once",
        ),
        ({"arms": {"lr1e-3": {"learning_rate": 0.1}}}, "iclmem/arms/lr1e-3: call an arm by letters"),
        ({"manipulations": SUITE[:1] * 2}, "iclmem/manipulations: baseline stands twice"),
        ({"manipulations": SUITE[1:]}, "iclmem/manipulations: 0 are of the category baseline"),
        (
            {"manipulations": [*SUITE, {"name": "odd", "category": "x", "steps": [{"drop": 1, "noise": 1}]}]},
            "iclmem/manipulations/odd/steps/0: a step has one key, this one has 2",
        ),
        ({"arm": {"placebo": True, "control": "positive"}}, "iclmem/arms/usual/control: a positive control cannot be"),
        ({"arm": {"pairs": "random_contexts"}}, "iclmem/arms/usual/context: missing; random contexts have fewer rows"),
        ({"arm": {"copies": 4}}, "iclmem/arms/usual/copies: all 30 queries are probed"),
        ({"arm": {"copies": 4, "pairs": "random"}}, "iclmem/arms/usual/copies: are of the same queries in all epochs"),
        ({"arm": {"label_smoothing": 0.1}}, "iclmem/arms/usual/label_smoothing: is for classes"),
        (
            {"arm": {"label_smoothing": 0.1, "epochs": [2], "private": {"epsilon": 1.0, "delta": 1e-3}}},
            "iclmem/arms/usual/label_smoothing: is no part of private fine-tuning",
        ),
        ({"arm": {"planted": True}}, "iclmem/arms/usual/planted: is for positive controls on the same queries"),
        ({"arm": {"placebo": True, "pairs": "random"}}, "iclmem/arms/usual/placebo: is a plain arm on fixed pairs"),
        ({"arm": {"placebo": True}, "queries": 50}, "50 negative controls and 40 context rows are 190: ask for fewer"),
    ],
)
def test_a_fault_of_the_settings_is_named_by_its_key(changes, fault):
    assert any(fault in found for found in iclmem_faults(*settings(**changes)))


@pytest.mark.parametrize(
    ("step", "where"),
    [
        ({"shufle": "random"}, r"steps\.0\.shufle"),
        ({"shuffle": "middle"}, r"steps\.0\.shuffle"),
        ({"uniform": 1}, r"steps\.0\.uniform"),
        ({"mixed": {"correct": 2}}, r"steps\.0\.mixed\.incorrect"),
    ],
)
def test_an_unknown_step_of_a_manipulation_is_refused_before_any_job(step, where):
    with pytest.raises(ValidationError, match=where):
        settings(manipulations=[*SUITE, {"name": "odd", "category": "x", "steps": [step]}])


def test_valid_settings_have_no_fault_and_epoch_0_is_refused():
    assert list(iclmem_faults(*settings())) == []
    assert list(iclmem_faults(*settings(datasets=[]))) == []
    with pytest.raises(ValidationError, match=r"epochs\.0"):
        settings(epochs=[0, 1])


SMOOTH = {"learning_rate": 1e-3, "label_smoothing": 0.1, "datasets": ["wine"], "against": "usual"}


def of_arms(doses=None, **arms):
    changes = {"arms": {"usual": Arm(learning_rate=1e-3).model_dump(), **arms}, "doses": doses or {}}
    return "\n".join(iclmem_faults(*settings(**changes)))


@pytest.mark.parametrize(
    ("doses", "fault"),
    [
        (["usual", "slow", "fst"], "iclmem/doses/learning_rate: unknown arm 'fst'; did you mean `fast`?"),
        (["usual", "slow", "wide"], "usual and wide differ in queries, too; let them differ in learning_rate alone"),
        (["usual", "slow", "again"], "iclmem/doses/learning_rate: two arms have the same learning_rate"),
        (["usual", "slow", "late"], "iclmem/doses/learning_rate: usual, slow, late have no common value in epochs"),
        (["usual", "slow", "houses"], "usual, slow, houses have no common value in datasets"),
        (["usual", "slow", "fast"], ""),
    ],
)
def test_conditions_of_an_axis_differ_in_the_dose_alone(doses, fault):
    more = {"slow": 1e-4, "fast": 1e-2, "again": 1e-3}
    arms = {name: {"learning_rate": rate, "datasets": ["wine"]} for name, rate in more.items()}
    arms |= {"wide": {"learning_rate": 1e-2, "queries": 25}, "late": {"learning_rate": 1e-2, "epochs": [30]}}
    found = of_arms({"learning_rate": doses}, **arms, houses={"learning_rate": 1e-2, "datasets": ["diabetes"]})
    assert found == "" if not fault else fault in found


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"against": "usua"}, "iclmem/arms/defended/against: usua is no other arm"),
        (
            {"learning_rate": 1e-4},
            "defended and usual differ in label_smoothing, learning_rate; let them differ in one",
        ),
        ({"label_smoothing": None}, "defended and usual differ in nothing"),
        ({"epochs": [5]}, "iclmem/arms/defended/against: defended, usual have no common value in epochs"),
        ({"epochs": [10]}, ""),
        ({"label_smoothing": None, "adapter": {"rank": 4, "alpha": 8.0}}, ""),
    ],
)
def test_a_defence_is_compared_with_the_same_arm_without_it(changes, fault):
    found = of_arms(defended=SMOOTH | changes)
    assert found == "" if not fault else fault in found


def test_a_defence_is_not_compared_with_an_arm_that_has_another_degree_of_it():
    found = of_arms(one=SMOOTH, two=SMOOTH | {"label_smoothing": 0.2, "against": "one"})
    assert "iclmem/arms/two/against: one has label_smoothing, too; name the arm without it" in found
