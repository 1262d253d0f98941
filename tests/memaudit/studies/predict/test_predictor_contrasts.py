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
    later = scores["lira"] + 1
    found = {gap.metric: (keys, gap) for keys, gap in predictor_contrasts.at_thresholds(scores, entries, 0.5, later)}
    tpr, fpr = prediction_metrics.error_rates(scores["psmi"], entries, 0.0)
    early, _ = prediction_metrics.error_rates(scores["lira"], entries, 0.5)
    keys, youden = found["tpr less fpr"]
    assert (keys, youden.estimate) == ({"predictor": "psmi", "tau": "0"}, pytest.approx(tpr.estimate - fpr.estimate))
    assert youden.low < youden.estimate < youden.high
    keys, fewer = found["tpr difference from psmi"]
    assert (keys["predictor"], fewer.estimate) == ("lira", pytest.approx(early.estimate - tpr.estimate))
    afterwards, _ = prediction_metrics.error_rates(later, entries, 0.5)
    keys, fewer = found["tpr difference from later"]
    assert (keys["predictor"], fewer.estimate) == ("lira", pytest.approx(early.estimate - afterwards.estimate))
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


def test_every_two_predictors_are_compared_on_the_same_records(case):
    scores, _, entries = case
    found = dict(predictor_contrasts.pairs(scores, entries))
    names = list(scores)
    assert list(found) == [f"{one} - {other}" for place, one in enumerate(names) for other in names[place + 1 :]]
    areas = {name: prediction_metrics.auc_samples(values, entries)[0] for name, values in scores.items()}
    for name, gap in found.items():
        one, other = name.split(" - ")
        assert gap.estimate == pytest.approx(areas[one] - areas[other])
        assert gap.low <= gap.estimate <= gap.high


def test_truths_of_two_halves_agree_where_records_differ_and_share_nothing_by_chance():
    rng = np.random.default_rng(0)
    member = np.ones((8, 400), bool)
    lasting = np.where(rng.random(400) < 0.1, 5.0, 0.0) * np.ones((8, 1))
    entries = prediction_metrics.member_entries(lasting >= 4, member, rng, replicates=50)
    assert predictor_contrasts.truth_agreement((lasting, lasting), entries, 4).estimate == 1
    alone = [np.where(rng.random(member.shape) < 0.1, 5.0, 0.0) for _ in range(2)]
    found = predictor_contrasts.truth_agreement((alone[0], alone[1]), entries, 4)
    assert found.null == pytest.approx(0.1, abs=0.01)
    assert found.low < found.null < found.high
