"""Theorem 1 as simulated, against closed forms and quadrature."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import load_script
from scipy.integrate import quad
from scipy.stats import norm

from memaudit.common.errors import AuditError
from memaudit.common.tidy import COLUMNS, expand

THEOREM = {"rates": [0.05, 0.2], "separations": [0, 6], "records": 600, "dimensions": 8, "directions": 60, "repeats": 6}


@pytest.fixture(scope="module")
def theorem(tmp_path_factory):
    path = tmp_path_factory.mktemp("theorem") / "tidy.parquet"
    job = SimpleNamespace(params=SimpleNamespace(seed=1, theorem=THEOREM), output=[str(path)])
    assert load_script("predict_simulate_theorem").main(job) == {"seed": 1}
    tidy = pd.read_parquet(path)
    assert list(tidy) == list(COLUMNS)
    return expand(tidy).set_index(["density", "rate", "separation", "metric"]).sort_index()


def test_the_theorem_holds_for_the_density_that_its_proof_uses(theorem):
    given = theorem.loc["given"]
    assert (given.xs("psmi_outliers", level="metric")["estimate"] == 0).all()
    rest = given.xs((6, "psmi_rest"), level=("separation", "metric"))
    assert (rest["low"] > 0.05).all()


@pytest.mark.parametrize("density", ["joint", "estimated"])
def test_outliers_are_below_zero_under_densities_that_do_not_know_them(theorem, density):
    for rate in THEOREM["rates"]:
        observed = theorem.loc[density, rate, 6]
        assert observed.loc["psmi_outliers", "high"] < 0 < observed.loc["psmi_rest", "low"]


def test_without_separation_there_are_no_outliers(theorem):
    assert theorem.loc["joint"].xs(0, level="separation")["estimate"].abs().max() < 1e-12
    # A record is part of its own fit, which raises its estimate by about 1 / records.
    lifted = theorem.loc["estimated"].xs((0, "psmi_rest"), level=("separation", "metric"))["estimate"]
    assert ((lifted > 0) & (lifted < 4 / THEOREM["records"])).all()


def test_the_true_psmi_of_outliers_is_minus_a_divergence():
    """Its mean over outliers, whose label is independent of their state, in one dimension by quadrature."""
    separation, rate = 3.0, 0.2
    rng = np.random.default_rng(0)
    states = rng.standard_normal((40000, 1)) + separation * (rng.integers(0, 2, (40000, 1)) - 0.5)
    label = rng.integers(0, 2, 40000)
    observed = load_script("predict_simulate_theorem").true_psmi(states, label, np.ones((1, 1)), separation, rate)

    def integrand(x, centre):
        either = (norm.pdf(x, -1.5) + norm.pdf(x, 1.5)) / 2
        return either * np.log(((1 - rate) * norm.pdf(x, centre) + rate * either) / either) / 2

    expected = sum(quad(integrand, -12, 12, args=(centre,))[0] for centre in (-1.5, 1.5))
    assert observed.mean() == pytest.approx(expected, abs=4 * observed.std() / 200)
    assert expected < -0.1


@pytest.mark.parametrize("rate", [0.0, 0.001, 1.0])
def test_a_rate_that_leaves_a_group_empty_is_an_error(rate):
    with pytest.raises(AuditError, match=f"rate {rate:g} of 100 records"):
        load_script("predict_simulate_theorem").simulate(
            rate, 6.0, THEOREM | {"records": 100}, np.random.default_rng(0)
        )
