"""Attacks of the study on a planted matrix, with their nulls, and the negative control."""

import pytest
from lira_grids import LIRA, call, results

from memaudit.attacks.registry import ON_ONE_MATRIX


@pytest.fixture(scope="module")
def made(grid_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacks")
    outputs = [f"{name}={folder / name}.parquet" for name in ("tidy", "roc")]
    call("lira_compare_attacks", [grid_path], outputs, lira=LIRA)
    return results(folder / "tidy.parquet"), results(folder / "roc.parquet")


def test_every_attack_of_the_registry_finds_the_planted_leak_but_the_signal_alone(made):
    rows = made[0]
    areas = rows[(rows.metric == "auc") & (rows.records == "members")].set_index("attack")
    assert set(areas.index) == set(ON_ONE_MATRIX)
    assert (areas.estimate > 0.75).drop("signal alone").all()
    found = rows[(rows.metric == "auc detected") & (rows.records == "members")].set_index("attack").estimate
    assert found.drop("signal alone").all()


def test_the_negative_control_finds_nothing(made):
    control = made[0][(made[0].records == "placebo") & (made[0].metric == "auc")].iloc[0]
    assert control.low < 0.5 < control.high


def test_roc_curves_of_two_strategies_and_of_the_best_record_rise_to_one(made):
    curves = made[1]
    assert set(curves.strategy) == {"naive", "pp", "best_record"}
    for _, curve in curves.groupby("strategy"):
        assert curve.sort_values("fpr").estimate.is_monotonic_increasing
        assert curve.estimate.max() == 1


def test_a_matrix_of_members_alone_has_no_control_and_no_attack_with_a_population(whole_path, made, tmp_path):
    outputs = [f"{name}={tmp_path / name}.parquet" for name in ("tidy", "roc")]
    call("lira_compare_attacks", [whole_path], outputs, lira=LIRA)
    rows, usual = results(tmp_path / "tidy.parquet"), made[0]
    assert set(rows.records) == {"members"}
    assert set(ON_ONE_MATRIX) - set(rows.attack) == {"rmia", "rmia offline", "rmia offline estimated", "combined"}
    assert set(rows.metric) == set(usual.metric)
    assert (rows[(rows.metric == "auc") & (rows.attack == "lira mean")].estimate > 0.75).all()
