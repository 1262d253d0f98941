"""Contrasts are differences and ratios of what both sides find on the same texts, and narrower than either."""

import numpy as np
import pytest
from simulated_texts import ATTACKS, rows, scores, study

from memaudit.common import tidy
from memaudit.statistics.crossed_intervals import LARGEST, Crossed, CrossedGrid
from memaudit.studies.ltmia.paired_contrasts import (
    classifier_rows,
    contrast_row,
    diversity_rows,
    importance_rows,
    ratio_row,
)

COMBINATIONS = 12  # 4 models on 3 corpora
HARD = np.random.default_rng(0).normal(scale=0.05, size=(COMBINATIONS, 400))  # what all find hard
EASE = np.random.default_rng(9).normal(scale=0.05, size=COMBINATIONS)
GRID = CrossedGrid.of_mean(np.full(12, 1 / 12), models=np.repeat(list("abcd"), 3), corpora=np.tile(list("xyz"), 4))


def value(observed, seed=1):
    own = np.random.default_rng(seed).normal(scale=0.002, size=(COMBINATIONS, 401))
    values = observed + EASE - EASE.mean() + own[:, 400] - own[:, 400].mean()
    return Crossed.mean(values, values[:, None] + HARD + own[:, :400], GRID, 500)


def table(found):
    return tidy.expand(tidy.frame(list(found)))


def test_a_paired_difference_cancels_what_both_find_hard():
    alone = contrast_row("auc", value(0.9))
    gap = table(classifier_rows({"transformer": value(0.9), "mean_mlp": value(0.88, 2)}, "held out")).iloc[0]
    assert gap["classifier"] == "transformer - mean_mlp"
    assert gap["estimate"] == pytest.approx(0.02)
    assert 0 == gap["null"] < gap["low"] < gap["high"]
    assert gap["high"] - gap["low"] < 0.1 * (alone["high"] - alone["low"])


def test_diversity_compares_the_most_with_the_fewest_combinations_and_the_gaps_of_both():
    aucs = {
        (1, "training"): value(0.998), (1, "held out"): value(0.796),
        (3, "training"): value(0.9), (3, "held out"): value(0.82),
        (30, "training"): value(0.862), (30, "held out"): value(0.860),
    }  # fmt: skip
    found = table(diversity_rows(aucs, 18000))
    gaps = found[found["metric"] == "generalization gap"].set_index("combinations")["estimate"]
    assert gaps.to_dict() == pytest.approx({1: 0.202, 3: 0.08, 30: 0.002})
    ends = found[found["less"] == 1].set_index("metric")
    assert (ends["combinations"] == 30).all()
    assert ends["estimate"].to_dict() == pytest.approx({"auc difference": 0.064, "generalization gap difference": -0.2})


def test_groups_of_features_are_compared_in_the_order_of_the_papers_hierarchy():
    lost = {"reference": value(0.185), "comparison": value(0.39), "target": value(0.259)}
    found = table(importance_rows(lost, "transformer")).set_index("features")["estimate"]
    expected = {"comparison - target": 0.131, "comparison - reference": 0.205, "target - reference": 0.074}
    assert found.to_dict() == pytest.approx(expected)


def test_ratios_of_tprs_name_the_fewest_non_members_and_grow_from_the_largest_to_the_smallest_fpr():
    names = {"ez": "ez_published"}
    evaluation = study(scores().rename(columns=names), fpr=[0.1, 0.05])
    found = list(evaluation.attacks([names.get(name, name) for name in ATTACKS]))
    mean = {"role": "held out", "family": "mean"}
    ratios = rows(found, **mean, attack="lt_mia / ez_published").set_index("metric")
    tprs = rows(found, **mean, model=None, dataset=None).set_index(["attack", "metric"])["estimate"]
    for fpr in ("tpr@0.1", "tpr@0.05"):
        expected = tprs["lt_mia", fpr] / tprs["ez_published", fpr]
        assert ratios.loc[f"{fpr} ratio", "estimate"] == pytest.approx(expected)
    growth = ratios.loc["tpr@0.05 ratio", "estimate"] / ratios.loc["tpr@0.1 ratio", "estimate"]
    assert ratios.loc["ratio growth", "estimate"] == pytest.approx(growth)
    outside = scores().query("not member").groupby(["model", "dataset"]).size().min()
    assert (ratios["nonmembers"] == outside).all()
    assert (ratios["null"] == 1).all()


def test_a_ratio_to_no_true_positive_is_the_largest_and_has_no_interval():
    none = Crossed.mean(np.zeros(12), np.zeros((12, 4)), GRID, 5).logarithm()
    some = Crossed.mean(np.full(12, 0.1), np.full((12, 4), 0.1), GRID, 5).logarithm()
    row = ratio_row("tpr@0.001 ratio", some - none)
    assert row["estimate"] == LARGEST
    assert np.isnan([row["low"], row["high"]]).all()
    assert np.isnan(ratio_row("tpr@0.001 ratio", none - none)["estimate"])
