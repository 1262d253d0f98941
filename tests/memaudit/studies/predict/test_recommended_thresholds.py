"""Recommended settings: Table 1, thresholds from other records, and their facts."""

import numpy as np
import pytest
from scipy.special import ndtr
from simulated_predictions import judged, planted, values

from memaudit.studies.predict import prediction_metrics
from memaudit.studies.predict.recommended_thresholds import best_threshold, recommended


def test_recommended_settings_are_the_two_lines_of_table_1():
    scores, memorized, member = planted(2000, share=0.4, shift=2.0)
    known = judged(memorized, member)
    practitioners, researchers = recommended(scores - 1, scores, known, np.random.default_rng(0))
    assert (practitioners.predictor, practitioners.threshold, practitioners.layer) == ("psmi", 0.0, "last")
    assert values(practitioners.rates) == values(prediction_metrics.error_rates(scores - 1, known, 0.0))
    assert researchers.predictor == "loss"
    # Two Gaussians of one deviation are parted best halfway.
    assert researchers.threshold == pytest.approx(1.0, abs=0.35)
    assert values(researchers.rates)["tpr"] == pytest.approx(ndtr(2 - researchers.threshold), abs=0.06)
    assert sum(rate.n for rate in researchers.rates) == pytest.approx(known.memorized.size / 2, rel=0.1)


def test_a_threshold_is_judged_on_other_records_than_it_was_chosen_on():
    """Chosen and evaluated on the same records, an uninformative loss gains .15 here."""
    gains = []
    for seed in range(60):
        scores, memorized, _ = planted(120, shift=0.0, seed=seed)
        rates = recommended(scores, scores, judged(memorized, replicates=2), np.random.default_rng(seed))[1].rates
        gains.append(rates[0].estimate - rates[1].estimate)
    assert np.mean(gains) == pytest.approx(0, abs=0.05)


def test_without_memorized_records_nothing_is_optimised():
    scores, memorized, _ = planted()
    settings = recommended(scores, scores, judged(np.zeros_like(memorized)), np.random.default_rng(0))
    assert [setting.profile for setting in settings] == ["practitioners"]
    assert np.isnan(settings[0].rates[0].estimate)


def test_a_settings_facts_hold_its_rates():
    scores, memorized, _ = planted()
    facts = recommended(scores, scores, judged(memorized), np.random.default_rng(0))[0].facts()
    tpr = prediction_metrics.error_rates(scores, judged(memorized), 0.0)[0]
    assert facts["tpr"] == {"estimate": tpr.estimate, "low": tpr.low, "high": tpr.high, "n": tpr.n}
    assert (facts["profile"], facts["layer"], facts["chosen"]) == ("practitioners", "last", "fixed")


def test_the_best_threshold_is_that_of_the_largest_tpr_less_fpr():
    scores, memorized = np.array([0.1, 0.4, 0.5, 0.8, 0.9]), np.array([False, True, False, True, True])
    gains = {one: (scores[memorized] >= one).mean() - (scores[~memorized] >= one).mean() for one in scores}
    assert best_threshold(scores, memorized) == max(gains, key=gains.get) == 0.8
    heavy = np.array([1.0, 9.0, 0.1, 1.0, 1.0])  # the memorized record below counts most
    assert best_threshold(scores, memorized, heavy) == 0.4
