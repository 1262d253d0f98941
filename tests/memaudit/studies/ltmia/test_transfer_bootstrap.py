"""The paired bootstrap of texts and combinations."""

import numpy as np
import pandas as pd
import pytest
from simulated_texts import FAMILIES, scores

from memaudit.studies.ltmia import transfer_bootstrap
from memaudit.studies.ltmia.transfer_bootstrap import CombinationWeights


def test_texts_are_resampled_alike_in_all_combinations_of_a_corpus():
    """The same scores under two models: their difference has no interval; of two corpora it has one."""
    one = scores(models=("a",), datasets=("prose",))
    both = pd.concat([one, one.assign(model="m"), one.assign(model="r", dataset="lines", id=one["id"] + "x")])
    metrics = transfer_bootstrap.attack_metrics(both, ["ez"], [0.1], np.random.default_rng(0), 50)
    samples = metrics.samples["ez"][..., 0]
    np.testing.assert_array_equal(samples[0], samples[1])
    assert np.ptp(samples[0] - samples[2]) > 0


def test_combinations_are_drawn_within_families_and_each_family_keeps_its_weight():
    weights = CombinationWeights.of(["x", "x", "x", "y"], 500, np.random.default_rng(0))
    assert weights.share.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    assert weights.weights.sum(1) == pytest.approx(np.ones(500))
    assert weights.weights[:, 3] == pytest.approx(np.full(500, 1 / 2))
    values = np.array([0.0, 1.0, 2.0, 5.0])[:, None]
    assert weights.mean(values) == pytest.approx([3.0])
    spread = weights.means(np.repeat(values[:, None], 500, 1))[:, 0].std()
    assert spread == pytest.approx(np.sqrt(1 / 3) / 2, rel=0.1)  # of a mean of three of deviation 1, at half the weight


def test_intervals_of_the_mean_cover_it():
    """Members one deviation above others: AUC Phi(1 / sqrt 2) = .760, in at least 18 of 20 intervals."""
    covered = 0
    for seed in range(20):
        table = scores(seed=seed)
        metrics = transfer_bootstrap.attack_metrics(
            table.drop(columns=["loss", "ref_loss", "lt_mia"]), ["ez"], [0.1], np.random.default_rng(seed), 60
        )
        weights = CombinationWeights.of(metrics.keys["model"].map(FAMILIES), 60, np.random.default_rng(seed))
        row = next(transfer_bootstrap.mean_rows(metrics, weights))
        covered += row["low"] <= 0.7602 <= row["high"]
    assert covered >= 17
