"""Simulated runs of the study ICLMEM: signals with planted memorization, their facts, arrays and studies."""

import numpy as np
import pandas as pd
import xarray as xr

from memaudit.studies.iclmem.run_metrics import DIMS, SIGNALS, RunSignals, judge_run, split_draws
from memaudit.studies.iclmem.setting_summaries import apply_rules, describe
from memaudit.studies.iclmem.significance_tests import Study

RULES = {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}}
MEMBERS, MANIPULATIONS = 50, 5
ROLES = np.array(["query"] * MEMBERS + ["nonmember"] * MEMBERS)
IDS = np.array([f"{i:04x}" for i in range(len(ROLES))])
PAIR = np.tile(np.arange(MEMBERS), 2)


def signals(loss, rng):
    """(..., 4) of losses (...), the entropy with half of the signal."""
    entropy = 0.5 * loss + 0.5 * rng.normal(size=loss.shape)
    return np.stack([loss, entropy, np.exp(-loss), np.zeros(loss.shape)], axis=-1)


def run(fall, rng, common=0.0):
    """A run in which members' losses fall by `fall`, on top of a change (target,) that other runs have too."""
    base = 2 + rng.normal(size=len(ROLES))
    change = common + 0.2 * rng.normal(size=(MANIPULATIONS, len(ROLES))) - fall * (ROLES == "query")
    probed = signals((base + change).T, rng)
    reference = signals(np.broadcast_to(base, change.shape).T, rng)
    vanilla = signals(np.ones(len(ROLES)), rng)
    none, bits = np.zeros(len(ROLES), np.bool_), np.zeros(len(ROLES))
    groups = (ROLES == "query", none, ROLES == "nonmember")
    return RunSignals(probed, reference, vanilla, vanilla, vanilla, vanilla, *groups, bits, bits)


def draws(seed=0, split=0, permutations=99):
    return split_draws(IDS, PAIR, "wine", split, seed=seed, permutations=permutations, replicates=20)


def study(judgements, **about):
    """A Study of arrays from `judge_run`, one data set and condition; judgements: (split, epoch, facts, arrays)."""
    condition = {
        "model": "m", "learning_rate": 1e-3, "queries": 50, "context": 8, "labels": "normal", "pairs": "fixed",
        "joint": False, "adapter": None, "private": None, "placebo": False,
        "copies": None, "label_smoothing": None, "planted": False, "control": None, "against": None,
    }  # fmt: skip
    named = {"dataset": "wine", "arm": "a", **describe(condition | about), "task": "classification", "chance": 0.5}
    runs = pd.DataFrame([named | {"split": split, "epoch": epoch} | of for split, epoch, of, _ in judgements])
    names = ("observed", "permuted", "bootstrapped", "permuted_gap")
    arrays = {name: (("run", *DIMS[name]), np.stack([one[name] for *_, one in judgements])) for name in names}
    return Study(apply_rules(runs, RULES), xr.Dataset(arrays, {"signal": list(SIGNALS)}))


def judged(fall, splits=5, seed=0, common=0.0, **about):
    rng = np.random.default_rng(seed)
    lucky = common * rng.normal(size=(splits, 1)) * (ROLES == "query")
    judgements = [
        (split, epoch, *judge_run(run(fall, rng, lucky[split]), draws(split=split, permutations=199), (0.1,)))
        for split in range(splits)
        for epoch in (1, 10)
    ]
    return study(judgements, **about)
