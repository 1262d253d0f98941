"""Exposures of planted labels: known memory, none, and only conditions whose labels are planted."""

import numpy as np
import pandas as pd
import pytest
from simulated_runs import ROLES, draws, run

from memaudit.common import tidy
from memaudit.config.iclmem_section import PLANTED
from memaudit.studies.iclmem.canary_exposure import exposure_rows, run_exposure
from memaudit.studies.iclmem.setting_summaries import describe

CONDITION = {"model": "m", "learning_rate": 1e-3, "queries": 50, "context": 8, "pairs": "fixed", "joint": False}
CONDITION |= {"adapter": None, "private": None, "placebo": False, "copies": None, "label_smoothing": None}
CONDITION |= {"planted": False, "control": None, "against": None}
CANDIDATES = 16


def exposed(gain, rng):
    """A run whose members' canaries rise by so many bits over those of non-members, which have about 1."""
    bits = np.clip(1 + 0.5 * rng.normal(size=len(ROLES)), 0, 4)
    return run(0.0, rng)._replace(exposure=bits + gain * (ROLES == "query"), base_exposure=0 * bits)


def rows(gains, labels="canaries", splits=5, seed=0):
    rng, lines, permuted = np.random.default_rng(seed), [], []
    for split in range(splits):
        for epoch, gain in gains.items():
            facts, null = run_exposure(exposed(gain, rng), draws(split=split, permutations=199))
            about = {"dataset": "wine", "arm": "a", **describe(CONDITION | {"labels": labels})}
            lines.append(about | {"split": split, "epoch": epoch, "exposure_candidates": CANDIDATES} | facts)
            permuted.append(null)
    return tidy.expand(tidy.frame(list(exposure_rows(pd.DataFrame(lines), permuted, PLANTED))))


def of(table, metric, records="query"):
    return table[(table["metric"] == metric) & (table["records"] == records)].set_index("epoch")


def test_a_run_has_the_means_of_its_groups_and_the_null_of_permuted_pairs():
    one = exposed(2.0, np.random.default_rng(0))
    facts, null = run_exposure(one, draws(permutations=199))
    assert facts["exposure_query"] == one.exposure[ROLES == "query"].mean()
    assert facts["exposure_gap"] == pytest.approx(2.0, abs=0.3)
    assert facts["base_exposure_nonmember"] == 0
    assert abs(null.mean()) < 0.2 < null.std()


def test_memory_shows_at_the_epoch_at_which_it_is_and_the_bound_is_reported():
    table = rows({1: 0.0, 10: 1.0})
    gap = of(table, "exposure less non-members")
    assert gap.loc[10, "estimate"] == pytest.approx(1.0, abs=0.2)
    assert gap.loc[10, "low"] > 0
    p = of(table, "exposure p-value")["estimate"]
    assert p[10] <= 0.05 < p[1]
    assert (of(table, "largest possible exposure")["estimate"] == 4).all()
    assert of(table, "exposure", "nonmember").loc[10, "estimate"] == pytest.approx(1.0, abs=0.2)
    assert (of(table, "exposure of the base")["estimate"] == 0).all()
    assert (of(table, "smallest detectable exposure")["estimate"] > 0).all()
    assert (table[table["metric"] != "exposure p-value"]["unit"] == "bits").all()


def test_without_memory_p_values_reject_at_the_nominal_rate():
    p = [of(rows({1: 0.0, 10: 0.0}, seed=seed), "exposure p-value")["estimate"].min() for seed in range(100)]
    assert 0 < np.mean(np.array(p) <= 0.05) <= 0.11


def test_labels_that_are_not_planted_have_no_exposure():
    assert len(rows({1: 1.0}, labels="shuffled_all")) > 0
    assert rows({1: 1.0}, labels="normal").empty


def test_runs_that_diverged_are_left_out_and_an_epoch_where_all_did_has_no_rows():
    rng = np.random.default_rng(0)
    lost = exposed(0.0, rng)._replace(exposure=np.full(len(ROLES), np.nan))
    facts, null = run_exposure(lost, draws())
    assert np.isnan(facts["exposure_gap"])
    assert np.isnan(null).all()
    about = {"dataset": "wine", "arm": "a", **describe(CONDITION | {"labels": "canaries"}), "exposure_candidates": 16}
    runs = [about | {"split": split, "epoch": 1} | facts for split in range(5)]
    assert not list(exposure_rows(pd.DataFrame(runs), [null] * 5, PLANTED))
