"""Sizes follow from the time budget, and the overlays are valid configs."""

import numpy as np
import pytest
import yaml
from audit_examples import CHOSEN, FACTS, HOSTILE
from conftest import load
from snakemake.utils import update_config

from memaudit.auditing import argument_names, command_line
from memaudit.auditing.reading import model_choice
from memaudit.auditing.running import stages
from memaudit.common.errors import AuditError
from memaudit.config.check_config import checked


def cost(seconds=0.1, **how):
    return stages.Cost(**{"quick_records": 1000, "seconds": seconds, "rating": 12.0, "cores": 2} | how)


def sizes(left, records=5000, **how):
    return stages.full_sizes(records, left, cost(**how))


def test_sizes_follow_from_the_seconds_that_are_left():
    assert sizes(0.0)["sets"] == stages.FEWEST_SETS
    assert sizes(1e6) == sizes(1e6) | {"sets": stages.MOST_SETS, "records": 5000}
    assert sizes(100.0)["records"] == 1000
    assert sizes(160.0, seconds=0.2)["sets"] < sizes(160.0)["sets"]
    assert sizes(160.0, records=1000, poison=True)["sets"] < sizes(160.0, records=1000)["sets"]
    assert sizes(160.0, records=1000, white_box=True)["sets"] < sizes(160.0, records=1000)["sets"]
    assert sizes(160.0, records=1000, questions=2)["sets"] < sizes(160.0, records=1000)["sets"]
    assert sizes(160.0, rating=20.0)["sets"] < sizes(160.0)["sets"]
    assert all(sizes(left)["sets"] % 16 == 0 for left in np.linspace(0, 500, 40))


@pytest.mark.parametrize("left", [150, 300, 1200])
@pytest.mark.parametrize("seconds", [0.02, 0.1, 0.3])
def test_the_expected_seconds_fit_the_budget_where_the_fewest_contexts_do(left, seconds):
    found = sizes(left, records=40_000, seconds=seconds)
    assert found["seconds expected"] <= max(left, cost(seconds).of(stages.FEWEST_SETS, 1000) + 0.1)
    assert found["seconds expected"] == pytest.approx(cost(seconds).of(found["sets"], found["records"]), abs=0.1)


def test_an_audit_that_took_long_is_predicted():
    """176 contexts of 4000 records of a regression table: 280 CPU seconds of queries, 280 of statistics, on 2 cores."""
    assert cost(0.0312, rating=15.5).of(176, 4000) == pytest.approx(stages.FIXED_SECONDS + 560 / 2, rel=0.15)


@pytest.mark.parametrize("stage", ["quick", "full"])
@pytest.mark.parametrize("more", [{}, {"epsilons": [1.0, 10.0], "finetune": True, "threats": ["white-box"]}])
def test_the_config_of_a_stage_is_valid_and_names_no_column(stage, more):
    labels = ["tabicl-small", "sklearn.naive_bayes.GaussianNB"]
    chosen, catalogue = CHOSEN | {"model_labels": labels} | more, model_choice.entries(labels)
    overlay = stages.overlay(stage, FACTS, {"sets": 48, "records": 500}, chosen, catalogue)
    assert HOSTILE not in yaml.safe_dump(overlay)
    merged = load()
    update_config(merged, overlay)
    assert checked(merged)["audit"]["complete"] == checked(merged)["audit"]["smallest"] == (stage == "full")


def test_first_numbers_that_are_the_last_come_with_the_smallest_leak():
    catalogue = model_choice.entries(["tabicl-small"])
    overlay = stages.overlay("quick", FACTS, {"sets": 32, "records": 500}, CHOSEN | {"quick": True}, catalogue)
    assert overlay["audit"]["smallest"]


def test_shares_of_classes_may_differ_by_rounding():
    assert stages._limits(2, 100)["tvd"] == stages._limits(20, 1000)["tvd"] == 0.1
    assert stages._limits(20, 160)["tvd"] == pytest.approx(20 / 32)


def test_a_number_is_predicted_by_regressors():
    facts = FACTS | {"kind": "regression", "classes": 0}
    labels = ["tabicl-small", "sklearn.linear_model.Ridge"]
    catalogue = model_choice.entries(labels, {}, "regression")
    chosen = CHOSEN | {"model_labels": model_choice.labels(labels, catalogue[1])}
    overlay = stages.overlay("full", facts, {"sets": 48, "records": 500}, chosen, catalogue)
    merged = load()
    update_config(merged, overlay)
    config = checked(merged)
    assert config["datasets"]["table"]["task"] == "regression"
    assert config["attacks"]["arms"]["main"]["model"] == "tabicl-small-regression"
    merged["attacks"]["arms"]["main"]["model"] = "tabicl-small"
    with pytest.raises(AuditError, match="attacks/arms/main/model: tabicl-small is no regressor"):
        checked(merged)


@pytest.mark.parametrize("mode", ["raw", "as_deployed"])
def test_attention_is_read_of_at_most_so_many_contexts_of_the_raw_model(mode):
    chosen = CHOSEN | {"threats": ["probabilities", "white-box"]}
    given = {"family": "tabicl", "path": "/x.ckpt", "mode": mode, "licence": "the user's"}
    catalogue = {"given": given}, ["given"]
    for sets, seen in ((48, 48), (256, stages.ATTENTION_SETS)):
        overlay = stages.overlay("full", FACTS, {"sets": sets, "records": 500}, chosen, catalogue)
        attention = overlay["attacks"]["attention"]
        assert (attention["datasets"], attention["sets"]) == ([stages.NAME], seen)
        assert overlay["models"][attention["model"]]["mode"] == "raw"
    assert "attention" not in stages.overlay("quick", FACTS, {"sets": 32, "records": 500}, chosen, catalogue)["attacks"]


def test_before_anything_is_measured_the_budget_is_expected_to_be_spent():
    assert sum(stages.guessed_seconds(3, False).values()) == 180
    assert stages.guessed_seconds(0.1, False)["full"] > 0
    assert list(stages.guessed_seconds(3, True)) == ["quick"]


def found(expected, left):
    return {"seconds expected": expected, "seconds left": left}


def test_a_second_stage_is_left_out_where_the_audit_would_take_half_as_long_again_as_its_budget():
    assert not stages.fits(1.0, found(110.0, 25.0))
    assert stages.fits(2.0, found(110.0, 85.0))
    assert stages.fits(3.0, found(150.0, 60.0))
    assert not stages.fits(3.0, found(151.0, 60.0))
    assert stages.too_short(1.0)
    assert not stages.too_short(1.5)


@pytest.mark.parametrize("minutes", [0.1, 1.0, 1.7])
def test_the_minutes_that_are_named_are_enough(minutes):
    sizes = found(200.0, 60 * minutes - 40)
    needed = stages.enough(minutes, sizes)
    assert minutes < needed < minutes + 4
    assert stages.fits(needed, found(200.0, 60 * needed - 40))
    assert stages.full_sizes(5000, 60.0 * needed, cost())["seconds expected"] <= max(
        60 * needed, cost().of(stages.FEWEST_SETS, 1000)
    )
    line = stages.left_out(minutes, needed)
    assert f"mitigations and the rest would take about {needed} minutes on this machine" in line
    assert argument_names.as_arguments(line).count(f"minutes={needed} has them, whole=True has them") == 1


@pytest.mark.parametrize(
    ("seconds", "expected", "said"),
    [
        (240.0, 300.0, None),
        (378.0, 150.0, "took 6.3 minutes where 2 were asked: the smallest second stage of this request was expected"),
        (378.0, 60.0, "took 6.3 minutes where 2 were asked: the second stage was expected to take 1.0 minutes, by the"),
    ],
)
def test_an_audit_of_more_than_twice_its_budget_says_why(seconds, expected, said, capsys):
    line = stages.overrun(seconds, 2.0, {"seconds expected": expected, "seconds left": 88.0})
    assert (line is None) == (said is None)
    if line:
        command_line.report("late", line)
        assert capsys.readouterr().out.startswith(f"memaudit: {said}")
