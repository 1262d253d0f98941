"""Shares, demands and limits of measured gains where the truth is known."""

import numpy as np
import pytest

from memaudit.statistics.private_gains import (
    BASELINES,
    PLAIN,
    best_method,
    demand,
    limit,
    mean_difference,
    mean_share,
    samples_like,
    tables_of,
)

REPEATS, NOISE = 4, 0.004
METHODS = ("good", "poor", *BASELINES)


def parts(kept, sizes=(500, 1000, 5000), exact=1.0, name="town", gain=0.3, seed=0):
    """Repeats of a table of two classes; kept: by method, or by (method, size), the share; exact: without noise."""
    rng = np.random.default_rng(seed)

    def cell(method, epsilon, size, share):
        rule = 0.5 + share * gain + rng.normal(0, NOISE)
        return {"method": method, "epsilon": epsilon, "n": size, "largest": rule, "by share": rule - 0.05}

    for repeat in range(REPEATS):
        cells = [cell("non-private", None, size, 1.0) for size in sizes]
        cells += [
            cell(method, epsilon, size, kept.get((method, size), kept.get(method, 0.5)))
            for epsilon in (1.0, 10.0) for size in sizes for method in METHODS
        ]  # fmt: skip
        cells.append(cell("without noise", None, sizes[-1], exact))
        yield {"table": name, "repeat": repeat, "classes": 2, "features": 7, "cells": cells}


def table(kept, **options):
    (found,) = tables_of(parts(kept, **options))
    return found


@pytest.mark.parametrize(("size", "shares"), [(250, (0.75, 0.95)), (1000, (0.75, 0.95)), (5000, (0.9, 0.95))])
def test_demands(size, shares):
    assert (demand(1.0, size), demand(10.0, size)) == shares


def test_a_share_is_that_of_the_gain_over_chance():
    share = table({"good": 0.8}).share("good", 1.0, 1000)
    assert share.low < 0.8 < share.high
    assert share.high - share.low < 0.15


def test_the_demand_is_met_from_the_size_on_at_which_every_larger_one_meets_it():
    rising = {("good", 500): 0.5, ("good", 1000): 0.95, ("good", 5000): 1.1}
    assert table(rising).met_from("good", 1.0) == 1000
    assert table({("good", 500): 1.0, ("good", 1000): 0.5, ("good", 5000): 1.1}).met_from("good", 1.0) == 5000
    assert table({"good": 0.8}).met_from("good", 1.0) is None
    assert table({"good": 0.8}).met_from("good", 1.0, by_estimate=True) is None


@pytest.mark.parametrize(
    ("kept", "exact", "said"),
    [(1.2, 1.2, ""), (0.6, 0.6, "the form of the context"), (0.6, 1.2, "the noise, so the number of records")],
)
def test_the_limit_is_the_noise_where_no_noise_would_do_and_else_the_context(kept, exact, said):
    found = limit(table({"good": kept}, exact=exact), "good", 1.0)
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_a_method_s_difference_from_another_is_that_of_its_gains():
    (found,) = tables_of(parts({"good": 0.9, "poor": 0.4}))
    mean, low, high = mean_difference([found], "good", "poor", 1.0, 1000)
    assert low < 0.15 < high
    assert mean == pytest.approx(found.differences("good", "poor", 1.0, 1000).mean())


def test_the_best_method_is_no_baseline_and_beats_what_is_worse_alone():
    tables = tables_of(
        [*parts({"good": 0.9, "dp_sgd": 1.2}), *parts({"good": 0.9, "dp_sgd": 1.2}, name="city", seed=1)]
    )
    assert best_method(tables, 1.0) == "good"
    assert mean_difference(tables, "good", "dp_linear", 1.0)[1] > 0
    assert mean_difference(tables, "good", "dp_sgd", 1.0, 1000)[2] < 0
    _, low, high = mean_difference(tables, "poor", "dp_linear", 10.0)
    assert low < 0 < high


def test_the_mean_share_leaves_out_tables_without_a_gain():
    gainless = list(parts({"good": 0.9}, gain=0.0, name="city"))
    tables = tables_of([*parts({"good": 0.9}), *gainless])
    assert mean_share(tables, "good", 1.0)[0] == pytest.approx(0.9, abs=0.05)
    assert np.isnan(mean_share(tables_of(gainless), "good", 1.0)[0])


def test_reference_and_baselines_have_the_better_rule_and_contexts_the_first():
    given = list(parts({"good": 0.8}))
    for cell in (cell for part in given for cell in part["cells"]):
        cell["by share"] = cell["largest"] + 0.1
    (found,) = tables_of(given)
    gains = {method: found.gains[method, 1.0, 1000].mean() for method in ("good", "dp_sgd")}
    assert gains["good"] == pytest.approx(0.24, abs=0.01)
    assert gains["dp_sgd"] == pytest.approx(0.25, abs=0.01)
    assert found.gains["dp_sgd" + PLAIN, 1.0, 1000].mean() == pytest.approx(0.15, abs=0.01)
    assert found.gains["non-private", None, 1000].mean() == pytest.approx(0.4, abs=0.01)


def test_a_table_with_one_repeat_has_no_interval_and_is_left_out():
    assert tables_of(list(parts({}))[:1]) == []


@pytest.mark.parametrize(
    ("records", "chosen"),
    [(900, {"small": 1000, "large": 1000}), (4000, {"large": 5000}), (10**6, {"large": 5000}), (10, {"small": 500})],
)
def test_samples_like_a_table_are_within_a_factor_of_two_of_the_nearest(records, chosen):
    small, large = table({}, name="small", sizes=(500, 1000)), table({}, name="large", sizes=(1000, 5000))
    if records == 10:
        large = table({}, name="large", sizes=(5000,))
    assert {one.table: size for one, size in samples_like([small, large], records)} == chosen
