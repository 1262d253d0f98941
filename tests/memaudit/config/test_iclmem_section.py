"""The section `iclmem` of the config: every fault is named by its key."""

import numpy as np
import pytest
from config_faults import REMOVE, each, refuses
from conftest import load
from iclmem_settings import settings
from pydantic import ValidationError
from scipy.stats import norm
from wine_probes import SUITE

from memaudit.config.iclmem_section import iclmem_faults
from memaudit.statistics.detection_power import smallest_mean_excess

TRUTH = {"datasets": ["wine"], "arms": ["usual"], "models": 12, "models_per_job": 6, "targets": 21, "controls": 10}

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
        ({"ground_truth": TRUTH}, "iclmem/ground_truth/targets: 31 pairs with the controls, usual has 30"),
        ({"arms": {"lr1e-3": {"learning_rate": 0.1}}}, "iclmem/arms/lr1e-3: call an arm by letters"),
        ({"manipulations": SUITE[:1] * 2}, "iclmem/manipulations: baseline stands twice"),
        ({"manipulations": SUITE[1:]}, "iclmem/manipulations: 0 are of the category baseline"),
        (
            {"manipulations": [*SUITE, {"name": "odd", "category": "x", "steps": [{"drop": 1, "noise": 1}]}]},
            "iclmem/manipulations/odd/steps/0: a step has one key, this one has 2",
        ),
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


@pytest.mark.parametrize("tests", [1, 12, 200])
def test_the_splits_of_the_evidence_show_an_auc_of_58_with_probability_90(tests):
    section = load("iclmem")["iclmem"]
    pairs, splits = section["targets"]["queries"], section["splits"]
    assert pairs >= 50
    # Mann and Whitney (1947); beside other tests a detection needs a smaller p-value, at worst by Bonferroni.
    spread = np.sqrt((2 * pairs + 1) / (12 * pairs**2))
    threshold = norm.ppf(1 - 0.05 / tests) * spread / np.sqrt(splits)
    assert round(0.5 + smallest_mean_excess(spread, splits, threshold=threshold), 2) <= 0.58
