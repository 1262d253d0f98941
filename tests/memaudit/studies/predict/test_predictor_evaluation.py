"""Results of one setting: interruption, planted records, and every figure's rows."""

import numpy as np
import pandas as pd
import pytest
from result_rows import chosen

from memaudit.common.tidy import expand

pytestmark = pytest.mark.usefixtures("one_thread")


def test_planted_records_are_memorized_and_predicted(run, results):
    """Mislabelled records and canaries are memorized, and rank high before."""
    by_record = expand(pd.read_parquet(run.judged["records"]))
    at_end = by_record[by_record["metric"] == "log-lira at the end"].groupby("kind")["estimate"].median()
    assert at_end["mislabelled"] > 2 > at_end["natural"]
    judged = chosen(results, metric="auc", rule="first", records="all").set_index(["truth", "predictor"])["estimate"]
    for predictor in ("psmi", "loss", "logit_gap"):
        assert judged["mislabelled", predictor] > 0.7
        assert judged["memorized", predictor] > 0.75
    assert judged["mislabelled", "loss"] > judged["mislabelled", "mahalanobis"]


def test_memorized_records_are_not_yet_so_at_the_interruption(results):
    early = chosen(chosen(results, metric="tpr"), predictor="lira").iloc[0]
    assert early["estimate"] < 0.75
    share = chosen(results, metric="already memorized", cells="memorized").sort_values("epoch")["estimate"]
    assert share.iloc[-1] == 1
    assert share.iloc[0] < 0.2
    assert chosen(results, metric="already memorized", cells="others").sort_values("epoch")["estimate"].iloc[-1] == 0


def test_the_highest_threshold_that_enough_records_reach_is_paired_with_the_lowest(results):
    """The difference is that of the two rows, with an interval of its own; what too few reach is no end of it."""
    swept = chosen(results, metric="auc", predictor="psmi").dropna(subset=["threshold"]).set_index("threshold")
    gap = chosen(results, metric="auc difference over thresholds", predictor="psmi").iloc[0]
    judged = swept[swept["judged"].isna()]
    assert (gap["threshold"], gap["less"]) == (judged.index.max(), judged.index.min()) == (2.0, 0.5)
    assert swept["judged"].to_dict()[4.0] == "no"
    assert swept["low"].isna().tolist() == swept["judged"].eq("no").tolist()
    assert np.isfinite(gap[["low", "high"]].astype(float)).all()
    assert gap["estimate"] == pytest.approx(swept["estimate"][gap["threshold"]] - swept["estimate"][gap["less"]])
    assert "common weights" in gap["method"]


def test_every_figure_and_table_of_the_section_has_its_rows(results):
    assert set(chosen(results, metric="auc").dropna(subset=["layer"])["layer"]) == {1, 2}
    assert set(chosen(results, metric="memorized")["threshold"]) == {0.5, 2, 4}
    assert {"tpr", "fpr", "precision", "prevalence"} <= set(chosen(results, predictor="psmi", tau=0.0)["metric"])
    flag = chosen(results, predictor="lira", tau=2.0).set_index("metric")["estimate"]
    assert flag["fpr by precision"] == pytest.approx(flag["fpr"])  # an identity: Appendix D, Eq. 29
    assert set(results["profile"].dropna()) == {"practitioners", "researchers"}
    assert chosen(results, metric="spearman")["estimate"].iloc[0] > 0.3
    assert {"memorized", "mislabelled", "canary", "memorized later"} == set(results["truth"].dropna())
    assert {"auc difference", "fpr@tpr0.75", "tpr@0.1"} <= set(chosen(results, predictor="loss")["metric"])
