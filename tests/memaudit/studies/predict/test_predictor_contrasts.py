"""Contrasts of predictors: differences of what each has alone, narrower where the entries are the same."""

import numpy as np
import pytest
from simulated_predictions import judged, planted, values

from memaudit.studies.predict import prediction_metrics, predictor_contrasts


@pytest.fixture(scope="module")
def case():
    scores, memorized, _ = planted()
    noise = 0.2 * np.random.default_rng(5).normal(size=scores.shape)
    return {"psmi": scores, "loss": scores + noise, "lira": -scores}, memorized, judged(memorized)


def test_predictors_are_compared_on_the_same_entries_and_with_other_truths(case):
    scores, memorized, entries = case
    alone = prediction_metrics.judge(scores, entries)
    aucs = {name: values(found)["auc"] for name, found in alone.items()}
    found = dict(predictor_contrasts.between_predictors(scores, entries, None))
    assert found.keys() == {"loss"}
    gap = found["loss"]
    assert gap.estimate == pytest.approx(aucs["loss"] - aucs["psmi"])
    assert gap.high - gap.low < 0.7 * (alone["loss"][0].high - alone["loss"][0].low)
    fewer = judged(memorized & (scores["psmi"] > np.median(scores["psmi"][memorized])))
    against = dict(predictor_contrasts.between_predictors({"psmi": scores["psmi"]}, fewer, entries))["psmi"]
    assert against.metric == "auc difference from memorized"
    own = values(prediction_metrics.judge({"psmi": scores["psmi"]}, fewer)["psmi"])["auc"]
    assert against.estimate == pytest.approx(own - aucs["psmi"])
    assert against.low > 0


def test_an_estimate_less_itself_is_zero(case):
    scores, _, entries = case
    none = predictor_contrasts.from_psmi(scores["psmi"], scores["psmi"], entries)
    assert (none.estimate, none.low, none.high, none.null) == (0, 0, 0, 0)


def test_contrasts_at_thresholds_are_differences_of_rates(case):
    scores, _, entries = case
    found = {gap.metric: (keys, gap) for keys, gap in predictor_contrasts.at_thresholds(scores, entries, 0.5)}
    tpr, fpr = prediction_metrics.error_rates(scores["psmi"], entries, 0.0)
    early, _ = prediction_metrics.error_rates(scores["lira"], entries, 0.5)
    keys, youden = found["tpr less fpr"]
    assert (keys, youden.estimate) == ({"predictor": "psmi", "tau": "0"}, pytest.approx(tpr.estimate - fpr.estimate))
    assert youden.low < youden.estimate < youden.high
    keys, fewer = found["tpr difference from psmi"]
    assert (keys["predictor"], fewer.estimate) == ("lira", pytest.approx(early.estimate - tpr.estimate))
    memorized, others = prediction_metrics.means(-scores["psmi"], entries)
    assert found["psmi difference"][1].estimate == pytest.approx(memorized.estimate - others.estimate)


def test_contrasts_of_few_memorized_records_have_no_interval():
    rng, truth = np.random.default_rng(0), np.arange(60)[None] < 9
    entries = prediction_metrics.member_entries(truth, np.ones_like(truth), rng, replicates=50)
    first, second = rng.standard_normal((2, 1, 60))
    for one in (
        predictor_contrasts.from_psmi(first, second, entries),
        predictor_contrasts.class_gap(first, entries, "gap"),
    ):
        assert np.isfinite(one.estimate)
        assert np.isnan([one.low, one.high]).all()
