"""Nulls find nothing where scores do not depend on the membership, and an attack that errs on one is named."""

import numpy as np
import pandas as pd
import pytest
from random_texts import rng
from simulated_texts import TEXTS, names, scores

from memaudit.common import tidy
from memaudit.statistics.intervals import clopper_pearson
from memaudit.statistics.membership_redraws import LEVEL
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.null_controls import NULL_WAYS, null_controls, null_rows

ATTACKS = ["loss", "ez"]
WAYS = {name: name for name in ("full", *NULL_WAYS)}
NULLS = {"others": names(("a", "b"), ["prose", "lines"], "other texts"), "base": names("m", ["prose"], "untrained")}


def table(strength=0.0, seed=0):
    """Scores of the nulls: `strength` is what the members of one of them are above others."""
    parts = [
        scores(("a", "b"), tuning="other texts", strength=strength, seed=seed),
        scores("m", ["prose"], "untrained", strength=0.0, seed=seed + 1000),
    ]
    return pd.concat([part.assign(ez=rng(f"ez {seed} {n}").normal(size=len(part))) for n, part in enumerate(parts)])


def found(own, nulls=NULLS):
    return tidy.expand(tidy.frame(null_rows(own, ATTACKS, nulls, 1))).set_index(["metric", "control", "attack"])


def test_nulls_are_the_controls_that_have_not_seen_their_members():
    controls = NULLS | {"shifted": names("a", ["moved"], "full")}
    assert null_controls(controls, WAYS) == NULLS


def test_an_auc_is_the_mean_over_the_combinations():
    own = table()
    areas = [
        auc(part["loss"].to_numpy(), part["member"].to_numpy())
        for name, part in own.groupby(["model", "dataset"])
        if name[0] != "m"
    ]
    row = found(own).loc[("null auc", "others", "loss")]
    assert row["estimate"] == pytest.approx(np.mean(areas))
    assert (row["null"], row["n"]) == (0.5, 4 * TEXTS)
    assert row["low"] < row["estimate"] < row["high"]


def test_an_attack_that_errs_on_a_null_is_found_and_the_others_are_not():
    p = found(table(strength=0.7)).loc["null p-value"]["estimate"]
    assert p[("others", "loss")] <= LEVEL
    assert (p.drop(("others", "loss")) > LEVEL).all()
    reverse = found(table(strength=-0.7)).loc["null p-value"]["estimate"]
    assert reverse[("others", "loss")] <= LEVEL


def test_one_study_in_twenty_errs_by_chance_at_most():
    """Four tests a study: without a correction every sixth would err."""
    lost = sum(found(table(seed=seed)).loc["null p-value"]["estimate"].min() <= LEVEL for seed in range(60))
    assert clopper_pearson(lost, 60)[0] <= LEVEL


def test_an_auc_as_large_as_the_detectable_one_is_found():
    detectable = found(table()).loc["detectable auc"]["estimate"]
    own = table(strength=0.55)  # an AUC of .65
    assert detectable[("others", "loss")] < 0.65
    assert detectable[("base", "loss")] > detectable[("others", "loss")]
    assert found(own).loc[("null p-value", "others", "loss"), "estimate"] <= LEVEL


def test_scores_that_are_all_equal_find_nothing_and_nothing_would_be_found():
    rows = found(table().assign(ez=0.0))
    assert rows.loc[("null auc", "base", "ez"), ["estimate", "low", "high"]].tolist() == [0.5, 0.5, 0.5]
    assert rows.loc[("null p-value", "base", "ez"), "estimate"] == 1
    assert ("detectable auc", "base", "ez") not in rows.index
