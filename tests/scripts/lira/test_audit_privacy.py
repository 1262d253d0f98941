"""The audit of LiRA prints bounds on epsilon and mu for thresholds, the best record, and one context."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import load_script
from lira_grids import LIRA, call, results

from memaudit.common import tidy
from memaudit.common.io import read_table

AUDIT = {"delta": 1e-5, "toy_epsilons": [4.0], "toy_models": 128, "toy_records": 60}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "audit.parquet"
    params = SimpleNamespace(seed=1, fpr=[0.1], audit=AUDIT)
    load_script("lira_audit_privacy").main(SimpleNamespace(input=[], output=[path], params=params))
    return tidy.expand(read_table(path))


def test_no_bound_exceeds_what_the_mechanism_has(rows):
    bounds = rows[rows["metric"] == "epsilon"].set_index("score")["estimate"]
    assert set(bounds.index) == {"naive", "pp", "best_record", "one_context"}
    assert (bounds <= 4).all()
    assert bounds.max() > 0.2


def test_every_epsilon_has_its_mu(rows):
    bounds = rows[rows["metric"].isin(["epsilon", "mu"])].pivot(index="score", columns="metric", values="estimate")
    assert bounds.notna().all().all()
    assert (bounds["mu"] < bounds["epsilon"].clip(lower=0.3)).all()


def canaries(draw):
    rng = np.random.default_rng(2)
    design = rng.random((60, 300)) < 0.5
    keys = {"delta": 1e-5}
    return load_script("lira_audit_privacy")._one_run(
        10 * design + rng.standard_normal(design.shape), design, keys, draw
    )


def test_one_context_in_which_all_is_plain_refutes_a_large_epsilon():
    for draw, score in (("bernoulli", "LiRA"), ("balanced", "raw signal")):
        epsilon, mu = canaries(draw)
        assert epsilon["estimate"] > 3
        assert mu["estimate"] > 1
        assert re.fullmatch(rf"{score}, (\d+) of \1 guesses correct: Steinke et al. 2023", epsilon["method"])


def test_records_of_fixed_size_draws_are_not_independent_canaries():
    assert canaries("fixed_size") == []


def test_bounds_refute_a_leak_of_a_real_grid(grid_path, tmp_path):
    small = AUDIT | {"toy_epsilons": [1.0], "toy_records": 20}
    call(
        "lira_audit_privacy", [grid_path], [tmp_path / "audit.parquet"], fpr=LIRA["fpr"], audit=small, rmia=LIRA["rmia"]
    )
    rows = results(tmp_path / "audit.parquet")
    bounds = rows[(rows.metric == "epsilon") & (rows.dataset == "wine")]
    assert set(bounds.score) == {"naive", "pp", "combined", "best_record", "one_context"}
    assert bounds.estimate.max() > 0.5
    assert set(bounds.adjacency) == {"add/remove"}


def test_a_matrix_without_a_population_has_no_bound_of_the_combined_score(grid_path, whole_path, tmp_path):
    found = {}
    for name, path in {"usual": grid_path, "whole": whole_path}.items():
        params = SimpleNamespace(seed=1, fpr=[0.1], audit=AUDIT | {"toy_epsilons": []}, rmia=LIRA["rmia"])
        job = SimpleNamespace(input=[path], output=[tmp_path / f"{name}.parquet"], params=params)
        load_script("lira_audit_privacy").main(job)
        found[name] = set(tidy.expand(read_table(tmp_path / f"{name}.parquet"))["score"])
    assert found["usual"] - found["whole"] == {"combined"}
    assert found["whole"] == {"naive", "pp", "best_record", "one_context"}
