"""Comparison of scores: the records that few models serve, intervals that cover a known AUC, and nulls."""

import numpy as np
import pytest
from scipy.stats import norm

from memaudit.attacks.registry import REGISTRY
from memaudit.common import tidy
from memaudit.data.membership_matrices import Scheme, balanced
from memaudit.studies.lira.score_comparison import BASELINE, OF_POPULATION, SCORES, Matrix, compare, computable

OPTIONS = {"rmia": {"gamma": 1.0, "offline_a": 0.3}, "fprs": (0.1,), "replicates": 50}


def matrix(seed, models=64, records=60, gap=1.0):
    rng = np.random.default_rng(seed)
    membership = balanced(models, records, rng, block=16)
    signals = rng.normal(size=membership.shape) + gap * membership
    return Matrix(signals, membership, rng.normal(size=(models, 20)), np.arange(records), Scheme(block=16))


def rows(of, seed=0):
    return tidy.expand(tidy.frame(list(compare(of, {"dataset": "wine"}, np.random.default_rng(seed), **OPTIONS))))


def test_scores_are_entries_of_the_registry():
    assert set(SCORES.values()) <= set(REGISTRY)
    assert next(iter(SCORES)) == BASELINE


def test_few_models_keep_the_records_that_have_shadow_models():
    few = matrix(0).first(8)
    inside = few.membership.sum(0)
    assert few.signals.shape == few.membership.shape == (8, len(few.units))
    assert np.minimum(inside, 8 - inside).min() >= 3
    assert few.population.shape == (8, 20)
    assert few.scheme.block is None
    assert matrix(0).first(32).scheme.block == 16


def test_intervals_cover_the_auc_of_known_gaussians(monkeypatch):
    """One gap and one variance for all records: the AUC of a pooled variance is Phi(1 / sqrt 2), less the estimates."""
    monkeypatch.setattr("memaudit.studies.lira.score_comparison.MOST_REDRAWS", 1)
    found = [rows(matrix(seed, 128, 30), seed).query("metric == 'auc'").set_index("attack") for seed in range(20)]
    for name in ("lira fixed variance", "lira shared variance", "combined"):
        inside = [of.low[name] <= norm.cdf(0.5**0.5) <= of.high[name] for of in found]
        assert sum(inside) >= 17, name


def test_nulls_are_those_of_chance_and_a_difference_has_none():
    found = rows(matrix(0))
    nulls = found[found.attack.isin(SCORES)].groupby("metric").null
    assert (nulls.mean() - [0.5, 0.1]).abs().max() < 0.02
    assert (found[found.metric == "auc difference"].null == 0).all()
    assert found[found.metric == "auc difference"].attack.nunique() == len(SCORES) - 1


def test_equal_seeds_give_equal_rows():
    assert rows(matrix(1)).equals(rows(matrix(1)))
    assert rows(matrix(1)).estimate.to_list() == pytest.approx(rows(matrix(1), 5).estimate.to_list())


def test_entries_that_need_a_population_are_left_out_where_there_is_none():
    assert computable(SCORES, np.zeros((4, 1))) == SCORES
    kept = computable(SCORES, np.zeros((4, 0)))
    assert set(SCORES.values()) - set(kept.values()) == OF_POPULATION
    assert {name for name in REGISTRY if name.startswith("rmia") or name == "combined"} == OF_POPULATION
