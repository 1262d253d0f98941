"""Metrics of combinations: texts resampled alike, families that weigh alike, seeds of classifiers."""

import numpy as np
import pandas as pd
import pytest
from simulated_texts import FAMILIES, scores

from memaudit.statistics import roc
from memaudit.studies.ltmia import transfer_bootstrap


def test_texts_are_resampled_alike_in_all_combinations_of_a_corpus():
    """The same scores under two models: their difference has no interval; of two corpora it has one."""
    one = scores(models=("a",), datasets=("prose",))
    both = pd.concat([one, one.assign(model="m"), one.assign(model="r", dataset="lines", id=one["id"] + "x")])
    metrics = transfer_bootstrap.attack_metrics(both, ["ez"], [0.1], np.random.default_rng(0), 50)
    samples = metrics.samples["ez"][..., 0]
    np.testing.assert_array_equal(samples[0], samples[1])
    assert np.ptp(samples[0] - samples[2]) > 0


def test_families_weigh_alike_in_a_mean_and_combinations_of_a_family():
    keys = pd.DataFrame({"family": ["x", "x", "x", "y"], "model": list("abcd"), "dataset": ["one"] * 4})
    grid = transfer_bootstrap.grid_of(keys)
    assert grid.weights.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    assert grid.weights @ [0.0, 1.0, 2.0, 5.0] == pytest.approx(3)


def test_seeds_of_a_classifier_are_left_out_one_by_one():
    table = scores(models=("a",), datasets=("prose",)).assign(family="transformer")
    rng = np.random.default_rng(3)
    for seed in range(3):
        table[f"ez seed {seed}"] = table["ez"] + rng.normal(size=len(table))
    metrics = transfer_bootstrap.attack_metrics(table, ["ez", "loss"], [0.1], np.random.default_rng(0), 20)
    assert metrics.repeats["ez"].shape == (3, 1, 2)
    assert list(metrics.repeats) == ["ez"]
    without_first = (table["ez seed 1"] + table["ez seed 2"]).to_numpy()
    expected = roc.auc(without_first, table["member"].to_numpy())
    assert metrics.repeats["ez"][0, 0, 0] == pytest.approx(expected)
    with_seeds, without = metrics.means("ez")[0], metrics.means("loss")[0]
    assert with_seeds.interval()[0] < without.interval()[0]
    assert "classifier seeds or draws (3)" in with_seeds.method


def test_intervals_of_the_mean_cover_it():
    """Members one deviation above others: AUC Phi(1 / sqrt 2) = .760, in at least 18 of 20 intervals."""
    covered = 0
    for seed in range(20):
        table = scores(seed=seed).assign(family=lambda table: table["model"].map(FAMILIES))
        metrics = transfer_bootstrap.attack_metrics(
            table.drop(columns=["loss", "ref_loss", "lt_mia"]), ["ez"], [0.1], np.random.default_rng(seed), 60
        )
        row = next(transfer_bootstrap.mean_rows(metrics))
        covered += row["low"] <= 0.7602 <= row["high"]
    assert covered >= 17
