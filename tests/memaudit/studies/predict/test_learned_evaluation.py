"""Rows of learned predictors: a gain where features add up, none where one says all, and what is not judged."""

import numpy as np
import pandas as pd
import pytest
from learned_settings import SECONDS, setting, settings

from memaudit.attacks.learned_memorization import ALL, ONE_CHECKPOINT, Combination
from memaudit.common import tidy
from memaudit.studies.predict.learned_evaluation import FROM_PUBLISHED, FROM_SINGLE, PUBLISHED, LearnedEvaluation

EACH = dict.fromkeys(("psmi", "logit_gap", "mahalanobis", "neighbour_value"), 0.7)


def results(evaluation):
    return tidy.expand(tidy.frame(list(evaluation.results())))


@pytest.fixture(scope="module")
def gain():
    return LearnedEvaluation(settings(6, EACH), 1)


@pytest.fixture(scope="module")
def rows(gain):
    return results(gain)


def one(rows, **keys):
    for key, value in keys.items():
        rows = rows[rows[key] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def test_a_gain_is_found_where_features_add_up(rows):
    """Four independent shifts of .7 make one of 1.4: AUC .84 instead of .69."""
    gap = one(rows, case="mean", predictor="learned", metric=FROM_SINGLE)
    assert gap["low"] > 0
    assert gap["estimate"] == pytest.approx(0.13, abs=0.05)
    assert one(rows, case="mean", predictor="learned", metric="auc")["estimate"] == pytest.approx(0.84, abs=0.04)
    detectable = one(rows, case="mean", predictor="learned", metric="smallest detectable difference")["estimate"]
    assert detectable == pytest.approx(1.6539 * (gap["estimate"] - gap["low"]), rel=1e-3)


def test_no_gain_is_found_where_one_feature_says_all():
    gap = one(
        results(LearnedEvaluation(settings(5, {"psmi": 1.0}), 1)), case="mean", predictor="learned", metric=FROM_SINGLE
    )
    assert gap["low"] < 0.005
    assert abs(gap["estimate"]) < 0.04


def test_shuffled_truths_are_at_chance(rows):
    null = one(rows, case="mean", predictor="learned", metric="auc of shuffled truths")
    assert null["low"] < 0.5 < null["high"]
    assert null["null"] == 0.5


def test_every_setting_has_every_predictor_and_its_costs(rows):
    of_setting = rows[(rows["case"] == "s0") & (rows["metric"] == "auc")]
    assert set(of_setting["predictor"]) == {*ALL, "learned", "learned_checkpoints"}
    assert of_setting["high"].notna().all()
    ratio = one(rows, case="s0", predictor="learned_checkpoints", metric="cost ratio")
    best = of_setting[of_setting["predictor"].isin(ALL)].sort_values("estimate").iloc[-1]["predictor"]
    assert best in ratio["method"]
    assert ratio["estimate"] == pytest.approx(sum(SECONDS.values()) / setting(0, EACH).cost((best,)))


def test_every_new_predictor_is_compared_with_the_published_ones(rows):
    compared = rows[(rows["metric"] == FROM_PUBLISHED) & (rows["case"] == "mean")]
    assert set(compared["predictor"]) == {*ALL, "learned", "learned_checkpoints"} - {*PUBLISHED}
    aucs = rows[(rows["metric"] == "auc") & (rows["case"] == "mean")].set_index("predictor")["estimate"]
    gap = aucs["neighbour_value"] - max(aucs[name] for name in PUBLISHED)
    observed = compared.set_index("predictor").loc["neighbour_value"]
    assert observed["estimate"] == pytest.approx(gap)
    assert observed["low"] < observed["estimate"] < observed["high"]


def test_settings_at_chance_or_with_few_positives_are_not_judged():
    odd = [setting(7, EACH, chance=0.1), setting(8, EACH, share=0.01)]
    rows = results(LearnedEvaluation([*settings(2, EACH), *odd], 1))
    judged = rows[rows["metric"] == "memorized"].set_index("case")["judged"]
    assert judged.to_dict() == {"s0": "yes", "s1": "yes", "s7": "no", "s8": "no"}
    assert set(rows.loc[rows["metric"] == "auc", "case"]) == {"s0", "s1", "mean"}


@pytest.mark.parametrize("count", [0, 1])
def test_of_fewer_than_two_settings_nothing_is_judged_or_recommended(count):
    evaluation = LearnedEvaluation(settings(count, EACH), 1)
    rows = list(evaluation.results())
    assert [row["metric"] for row in rows] == ["memorized"] * count
    assert all(row["method"].startswith("not judged: no setting of other data") for row in rows)
    assert evaluation.recommended() == []


def test_settings_of_the_same_data_are_left_out_together_and_count_as_one():
    same = [setting(number, EACH, source="a") for number in (0, 1, 2)]
    assert LearnedEvaluation(same, 1).recommended() == []
    evaluation = LearnedEvaluation([*same, setting(3, EACH), setting(4, EACH)], 1)
    assert [one.name for one in evaluation._without(1)] == ["s3", "s4"]
    np.testing.assert_allclose(evaluation._by_source(np.array([1.0, 2, 6, 4, 5])), [3, 4, 5])


def test_the_recommendation_has_the_rates_on_settings_left_out(gain, rows):
    psmi, learned, checkpoints = gain.recommended()
    assert (psmi["profile"], psmi["threshold"], learned["profile"]) == ("practitioners", 0.0, "learned")
    for metric in ("tpr", "fpr"):
        assert learned[metric]["estimate"] == one(rows, case="mean", predictor="learned", metric=metric)["estimate"]
    assert learned["tpr"]["n"] + learned["fpr"]["n"] == sum(len(each.judged.memorized) for each in gain.judged)
    assert checkpoints["predictor"] == checkpoints["profile"] == "learned_checkpoints"
    assert tuple(checkpoints["features"]) == ALL
    combination = Combination.read(learned, "here")
    assert combination.features == ONE_CHECKPOINT
    weights = dict(zip(combination.features, combination.weights, strict=True))
    assert min(weights[name] for name in EACH) > 2 * abs(weights["loss"])
    # The threshold holds for scores of a fresh setting.
    fresh = setting(50, EACH, records=2000)
    flagged = combination.of_normal_scores(fresh.normal)[fresh.judged.target, fresh.judged.record]
    share = (flagged >= learned["threshold"])[fresh.judged.memorized].mean()
    assert learned["tpr"]["low"] < share < learned["tpr"]["high"]


def test_rows_are_the_same_each_time(rows):
    again = results(LearnedEvaluation(settings(6, EACH), 1))
    pd.testing.assert_frame_equal(rows, again)
    assert np.isfinite(rows["estimate"]).all()
