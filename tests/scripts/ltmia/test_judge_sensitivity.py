"""Numbers of training combinations and groups of features, judged apart from all attacks."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import load_script
from ltmia_pipeline import HELD_OUT

from memaudit.common import tidy
from memaudit.common.io import read_table, write_table
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION, is_combination

pytestmark = pytest.mark.usefixtures("one_thread")


def judged(made, part):
    return tidy.expand(read_table(made / f"{part}_results.parquet"))


def mean_auc(table):
    """The mean over combinations of the AUC of column `score`."""
    return np.mean(
        [auc(one["score"].to_numpy(), one["member"].to_numpy(dtype=bool)) for _, one in table.groupby(COMBINATION)]
    )


def test_aucs_by_the_number_of_combinations_are_means_over_draws(made):
    drawn = read_table(made / "diversity.parquet")
    drawn = drawn[is_combination(drawn, HELD_OUT)]
    found = judged(made, "diversity")
    found = found[(found["metric"] == "auc") & (found["records"] == "held out")].set_index("combinations")
    for count, of_count in drawn.groupby("combinations"):
        expected = np.mean([mean_auc(of_draw) for _, of_draw in of_count.groupby("draw")])
        assert found.loc[count, "estimate"] == pytest.approx(expected)
        assert found.loc[count, "samples"] == 20


def test_the_loss_without_a_group_is_the_difference_of_aucs(made):
    permuted = read_table(made / "permuted.parquet")
    permuted = permuted[is_combination(permuted, HELD_OUT)]
    whole = mean_auc(permuted[(permuted["permuted"] == "none")])
    found = judged(made, "importance")
    found = found[(found["metric"] == "auc drop") & (found["family"] == "mean")].set_index("features")
    for group in ("comparison", "target", "reference"):
        own = permuted[permuted["permuted"] == group]
        lost = whole - np.mean([mean_auc(one) for _, one in own.groupby("repeat")])
        assert found.loc[group, "estimate"] == pytest.approx(lost)


def test_nothing_is_judged_where_nothing_was_measured(tmp_path):
    write_table(pd.DataFrame(), tmp_path / "scores.parquet")
    job = {"input": SimpleNamespace(scores=tmp_path / "scores.parquet"), "output": [tmp_path / "none.parquet"]}
    load_script("ltmia_judge_sensitivity").main(SimpleNamespace(**job, params=SimpleNamespace(seed=1)))
    assert read_table(tmp_path / "none.parquet").empty


def test_targets_that_fail_the_blind_check_are_read_from_the_results():
    names = [["gpt2", "letters", "full"], ["gpt2", "2024", "full"]]
    rows = [
        tidy.row("ltmia", dict(zip(COMBINATION, name, strict=True)), "fit for attacks", fit)
        for name, fit in zip(names, (1, 0), strict=True)
    ]
    rows.append(tidy.row("ltmia", {"model": "gpt2"}, "auc", 0.0))
    assert load_script("ltmia_judge_sensitivity").unfit(tidy.frame(rows)) == [names[1]]
    assert load_script("ltmia_judge_sensitivity").unfit(pd.concat([tidy.frame(rows[:1])])) == []
