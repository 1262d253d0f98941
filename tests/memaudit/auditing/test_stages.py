"""Sizes follow from the time budget, and the overlays are valid configs."""

import numpy as np
import pytest
import yaml
from audit_examples import CHOSEN, FACTS, HOSTILE
from conftest import load
from snakemake.utils import update_config

from memaudit.auditing import model_choice, stages
from memaudit.common.errors import AuditError
from memaudit.config.check_config import checked


def sizes(left, seconds=0.1, records=5000, **how):
    return stages.full_sizes(records, 1000, seconds, left, **{"cores": 2, "models": 1, "poison": False} | how)


def test_sizes_follow_from_the_seconds_that_are_left():
    assert sizes(0.0)["sets"] == stages.FEWEST_SETS
    assert sizes(1e6) == sizes(1e6) | {"sets": stages.MOST_SETS, "records": 5000}
    assert sizes(100.0)["records"] == 1000
    assert sizes(100.0, seconds=0.2)["sets"] < sizes(100.0)["sets"]
    assert sizes(110.0, poison=True)["sets"] < sizes(110.0)["sets"]
    assert all(sizes(left)["sets"] % 16 == 0 for left in np.linspace(0, 500, 40))


@pytest.mark.parametrize("stage", ["quick", "full"])
@pytest.mark.parametrize("more", [{}, {"epsilons": [1.0, 10.0], "finetune": True}], ids=["contexts", "everything"])
def test_the_config_of_a_stage_is_valid_and_names_no_column(stage, more):
    labels = ["tabicl-small", "sklearn.naive_bayes.GaussianNB"]
    chosen, catalogue = CHOSEN | {"model_labels": labels} | more, model_choice.entries(labels)
    overlay = stages.overlay(stage, FACTS, {"sets": 48, "records": 500}, chosen, catalogue)
    assert HOSTILE not in yaml.safe_dump(overlay)
    merged = load()
    update_config(merged, overlay)
    assert checked(merged)["audit"]["complete"] == (stage == "full")


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


def test_the_expected_time_of_the_second_stage_grows_with_what_it_does():
    sizes = {"sets": 256, "records": 1000, "seconds per set": 0.05}
    kinds = {"cores": 2, "models": 1, "poison": False}
    usual = stages.full_seconds(sizes, 1000, 20.0, **kinds)
    assert 60 < usual < 180
    assert stages.full_seconds(sizes, 1000, 20.0, **kinds | {"cores": 1}) > usual
    assert stages.full_seconds(sizes, 1000, 20.0, **kinds | {"models": 3}) > usual
    assert stages.full_seconds(sizes | {"records": 4000}, 1000, 20.0, **kinds) > 2 * usual
    assert stages.full_seconds(sizes, 1000, 20.0, **kinds, seconds_elsewhere=100) == usual + 50


def test_before_anything_is_measured_the_budget_is_expected_to_be_spent():
    assert sum(stages.guessed_seconds(3, False).values()) == 180
    assert stages.guessed_seconds(0.1, False)["full"] > 0
    assert list(stages.guessed_seconds(3, True)) == ["quick"]
