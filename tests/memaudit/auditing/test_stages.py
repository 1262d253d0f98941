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
    assert sizes(110.0, white_box=True)["sets"] < sizes(110.0)["sets"]
    assert sizes(110.0, poison=True)["sets"] < sizes(110.0)["sets"]
    assert all(sizes(left)["sets"] % 16 == 0 for left in np.linspace(0, 500, 40))


@pytest.mark.parametrize("stage", ["quick", "full"])
@pytest.mark.parametrize("more", [{}, {"epsilons": [1.0, 10.0], "finetune": True, "threats": ["white-box"]}])
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
