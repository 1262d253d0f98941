"""The page of a user's own records says what a flag is worth, and what was not checked."""

import pandas as pd

from memaudit.report.own_records_page import describe

RATE = {"estimate": 0.5, "low": 0.25, "high": 0.75, "n": 40}
SETTING = {"predictor": "psmi", "threshold": 0.0, "chosen": "fixed", "layer": "last", "case": "here"}
SETTING |= {"tpr": RATE, "fpr": RATE | {"n": 900}, "targets": 4, "models": 64, "drop": 0.95, "least_drop": 0.93}
SETTING |= {"most_drop": 0.97, "memorized": {"estimate": 0.04, "null": 0.001}}
COUNTS = {"directions": 500, "dimensions": 8, "alone": 0, "sure": 1.96, "timing": "It was not checked."}


def page(setting=None, **counts):
    ranked = pd.DataFrame({"id": ["a", "b"], "flagged": [True, False], "near_threshold": [True, False]})
    ranked[["psmi", "loss", "mahalanobis"]] = 0.5
    return " ".join(describe(ranked, SETTING | (setting or {}), COUNTS | counts).split())


def test_rates_have_their_brackets_named():
    text = page()
    assert "2 training records, ranked by psmi; 1 are flagged" in text
    assert "true positive rate of 50% [25%, 75%] over 40 records" in text
    assert "Brackets are 95 % intervals over the targets and records of the study." in text
    assert "It was not checked. A flag is no proof" in text
    other = "95 % prediction intervals for other data, from 9 sources"
    assert f"Brackets are {other}." in page({"brackets": other})


def test_distances_that_are_limited_are_pointed_out():
    assert "limited" not in page()
    assert "8 principal components (limited for 3 records that alone spread" in page(alone=3)


def test_columns_that_are_there_are_explained():
    text = page()
    assert (
        "psmi: minus the pointwise sliced mutual information, in nats, with its standard error; loss: in nats;" in text
    )
    assert "logit_gap" not in text
    assert "gradient_norm" not in text


def test_the_page_states_the_fewest_models_of_its_settings():
    assert "ground truth by LiRA with at least 64 models" in page()


def test_a_learned_score_is_relative():
    text = page({"features": ["psmi", "loss"], "predictor": "learned"})
    assert "learned: the weighted sum of normal scores of psmi, loss" in text
    assert "Monte-Carlo" not in text
