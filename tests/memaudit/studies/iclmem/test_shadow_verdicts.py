"""Rows of the ground truth: a probe that misses, one that sees, nothing to miss, controls, and too few models."""

import numpy as np
import pandas as pd
from shadow_grids import shadow_grid

from memaudit.common import tidy
from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.studies.iclmem.shadow_ground_truth import ATTACKS, LIRA, PROBE_LIRA, join_models
from memaudit.studies.iclmem.shadow_verdicts import verdict_rows

KEYS = {"dataset": "wine", "arm": "slow", "labels": "normal"}
SETTINGS = {"seed": 1, "permutations": 499, "replicates": 50}


def rows(seed=0, drop=0, **planted):
    grid = shadow_grid(np.random.default_rng(seed), **planted)
    grid.probe[:drop] = np.nan
    return tidy.expand(tidy.frame(list(verdict_rows(join_models([grid]), 24, KEYS, SETTINGS))))


def of(table, metric, records="trained"):
    return table[(table["metric"] == metric) & (table["records"] == records)].set_index("signal")


def verdict(table):
    return table.loc[table["metric"] == "auc of the ground truth", "probe"].tolist()


def test_a_blind_probe_misses_what_lira_sees():
    tables = [rows(seed, in_context=1.0) for seed in range(6)]
    # Of six blind probes one has a p-value below .05 by chance.
    assert [verdict(table) for table in tables].count(["misses"]) >= 5
    table = tables[1]
    p = of(table, "shadow auc p-value")["estimate"]
    assert p[LIRA] <= 0.05
    assert (p[["loss", "entropy", "confidence"]] > 0.05).all()
    gap = of(table, "shadow auc less LiRA")
    assert LIRA not in gap.index
    assert gap.loc["loss", "high"] < 0
    auc = of(table, "shadow auc")
    assert auc.loc["loss", "estimate"] - auc.loc[LIRA, "estimate"] == gap.loc["loss", "estimate"]


def test_a_probe_that_sees_misses_nothing():
    assert verdict(rows(in_context=1.0, probe=1.0)) == ["misses none"]


def test_what_the_probe_is_held_against_is_the_strongest_detected_attack():
    table = rows(probe=0.5)
    found = table[table["metric"] == "auc of the ground truth"].iloc[0]
    assert (found["probe"], found["signal"]) == ("misses none", PROBE_LIRA)
    assert found["estimate"] == of(table, "shadow auc").loc[PROBE_LIRA, "estimate"]


def test_where_lira_sees_nothing_there_is_nothing_to_miss():
    table = rows()
    assert verdict(table) == ["has nothing to miss"]
    assert of(table, "memorized records").loc[LIRA, "estimate"] == 0


def test_controls_show_nothing_while_their_models_memorize():
    table = rows(in_context=2.0, probe=2.0)
    assert of(table, "memorized records").loc[LIRA, "estimate"] > 20
    assert of(table, "memorized records", "control").loc[LIRA, "estimate"] == 0
    assert (of(table, "shadow auc p-value", "control")["estimate"] > 0.05).all()
    assert (of(table, "shadow auc", "control")["n"] == 24 * 14).all()


def test_every_attack_has_its_power_and_every_signal_its_correlation_with_power():
    table = rows(in_context=1.0, epochs=(2, 10))
    for metric in ("shadow auc", "shadow auc p-value", "smallest detectable shadow auc"):
        found = table[(table["metric"] == metric) & (table["records"] == "trained")]
        assert found.groupby("epoch")["signal"].apply(set).tolist() == [set(ATTACKS)] * 2
        assert found["estimate"].between(0, 1).all()
    for metric in ("rank correlation", "rank correlation p-value", "smallest detectable correlation"):
        found = table[table["metric"] == metric]
        assert found.groupby("epoch")["signal"].apply(set).tolist() == [set(SIGNALS)] * 2
    assert f"max-T over {2 * len(ATTACKS)} epochs and attacks" in of(table, "shadow auc p-value")["method"].iloc[0]


def test_too_few_models_that_did_not_diverge_leave_only_their_number():
    table = rows(drop=14, in_context=1.0)
    assert table["metric"].tolist() == ["shadow models"]
    assert table[["estimate", "n"]].iloc[0].tolist() == [10, 24]


def test_the_same_seed_gives_the_same_rows():
    pd.testing.assert_frame_equal(rows(in_context=1.0), rows(in_context=1.0))
