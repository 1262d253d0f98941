"""Strategies from a planted matrix: rows of every strategy, their nulls, and paired differences."""

import numpy as np
import pytest
from lira_grids import LIRA, MEMBERS, call, results

from memaudit.common.io import read_table
from memaudit.studies.lira.strategy_thresholds import STRATEGIES

LINE = ["access", "models", "fpr", "strategy"]


@pytest.fixture(scope="module")
def made(grid_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("strategies")
    names = ("strategies", "calibration", "sample_fpr")
    outputs = [f"{name}={folder / name}.parquet" for name in names]
    assert call("lira_evaluate_strategies", [grid_path], outputs, lira=LIRA) == {"seed": 1}
    return [results(folder / "strategies.parquet"), results(folder / "calibration.parquet")], folder


def test_every_strategy_has_a_tpr_at_64_models_and_a_null_near_the_fpr(made):
    (rows, _), _ = made
    largest = rows[(rows.models == 64) & (rows.fpr == 0.1)]
    assert set(largest[largest.metric == "tpr"].strategy) == set(STRATEGIES)
    nulls = largest[(largest.metric == "null_tpr") & (largest.access == "efficient")].set_index("strategy")
    assert nulls.loc["per_sample_crossfit"].estimate == pytest.approx(0.1, abs=0.02)
    assert nulls.loc["per_sample"].estimate < 0.08
    assert not rows.duplicated([*LINE, "metric", "defence"]).any()


def test_the_null_of_a_tpr_is_that_of_redrawn_membership(made):
    (rows, _), _ = made
    tpr, null = (rows[rows.metric == metric].set_index(LINE) for metric in ("tpr", "null_tpr"))
    np.testing.assert_allclose(tpr.null, null.estimate.loc[tpr.index])
    assert (tpr[tpr.index.get_level_values("fpr") == 0.1].estimate > 0.25).all()


def test_differences_are_those_of_the_tprs(made):
    (rows, _), _ = made
    tpr = rows[rows.metric == "tpr"].set_index(LINE).estimate
    for row in rows[rows.metric == "tpr_difference"].itertuples():
        one, two = row.strategy.split("-")
        expected = tpr[row.access, row.models, row.fpr, one] - tpr[row.access, row.models, row.fpr, two]
        assert row.estimate == pytest.approx(expected)
    assert "pp-per_sample_crossfit" in set(rows.strategy)


def test_calibration_and_fprs_of_records_are_there_for_every_strategy(made):
    (_, rows), folder = made
    assert set(rows.metric) == {"realised_fpr", "fpr_spread", "fpr_share_above_2x"}
    each = read_table(folder / "sample_fpr.parquet")
    assert (each.groupby(["access", "fpr", "strategy"]).size() == MEMBERS).all()


def at(table, **keys):
    for key, value in keys.items():
        table = table[table[key] == value]
    assert len(table) == 1, keys
    return table.iloc[0]


def test_a_difference_is_that_of_both_strategies_on_the_same_models_and_records(made):
    (strategies, calibration), _ = made
    keys = {"access": "efficient", "models": 64, "fpr": 0.1}
    naive, pp = (at(strategies, **keys, metric="tpr", strategy=name) for name in ("naive", "pp"))
    gap = at(strategies, **keys, metric="tpr_difference", strategy="naive-pp")
    assert gap["estimate"] == pytest.approx(naive["estimate"] - pp["estimate"])
    for metric in ("fpr_spread", "fpr_share_above_2x"):
        naive, pp, gap = (at(calibration, **keys, metric=metric, strategy=name) for name in ("naive", "pp", "pp-naive"))
        assert gap["estimate"] == pytest.approx(pp["estimate"] - naive["estimate"])
        assert gap["null"] == 0
        assert gap["low"] <= gap["estimate"] <= gap["high"]


def test_both_defences_are_ranked_at_the_largest_number_of_models(made):
    (strategies, _), _ = made
    order = at(strategies, metric="order reversal", fpr=0.1)
    assert (order["models"], order["fpr"], order["defence"]) == (64, 0.1, "opposite order")
    gap = at(strategies, metric="defence difference", strategy="pp", fpr=0.1)
    assert order["estimate"] <= abs(gap["estimate"]) + 1e-12


def test_oracle_access_may_have_fewer_models(grid_path, made, tmp_path):
    outputs = [f"{name}={tmp_path / name}.parquet" for name in ("strategies", "calibration", "sample_fpr")]
    call("lira_evaluate_strategies", [grid_path], outputs, lira=LIRA | {"sizes": [16, 32, 64], "oracle_models": 32})
    rows = results(tmp_path / "strategies.parquet")
    of_tpr = rows[rows.metric == "tpr"].set_index("access").models
    assert (set(of_tpr["efficient"]), set(of_tpr["oracle"])) == ({16, 32, 64}, {16, 32})
    assert set(rows[rows.metric == "defended tpr"].models) == {64}
    each = read_table(tmp_path / "sample_fpr.parquet")
    assert {(row.access, row.models) for row in each.itertuples()} == {("efficient", 64), ("oracle", 32)}
    # Fits on the first half of the models are others than on all of them, for the same 16 models.
    wide = made[0][0]
    keys = {"metric": "tpr", "access": "oracle", "models": 16, "fpr": 0.1, "strategy": "pp"}
    assert at(rows, **keys).estimate != at(wide, **keys).estimate
