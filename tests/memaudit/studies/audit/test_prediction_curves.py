"""The ROC and the histogram of an attack on two files are of its AUC, and scales of halves do not matter."""

import numpy as np
import pytest

from memaudit.auditing.summaries.score_curves import Curves
from memaudit.statistics import two_file_attack as two_files
from memaudit.studies.audit.prediction_curves import curves


def attacked(shift=1.0, units=800, decimals=6, scale=1.0):
    """An attack by one score, higher by `shift` for members; scale: of the score in one half."""
    rng = np.random.default_rng(0)
    member = np.arange(units) % 2 == 0
    score = np.round(rng.normal(size=units) + shift * member, decimals)
    found = two_files.attack(lambda member, half: {"score": score * np.where(half, scale, 1)}, member, rng)
    return found, two_files.unit_weights(found, 40, rng)


def test_the_curve_lies_in_its_band_and_above_the_diagonal_with_a_leak():
    found = Curves.model_validate(curves(*attacked(), 0.01))
    assert found.roc[0].fpr == pytest.approx(0.01)  # two of 200 non-members of a half
    assert all(one.low <= one.tpr <= one.high for one in found.roc)
    assert all(one.low > one.fpr for one in found.roc if 0.05 < one.fpr < 0.9)
    assert np.trapezoid([one.tpr for one in found.roc], [one.fpr for one in found.roc]) == pytest.approx(0.76, abs=0.03)
    assert found.roc[-1].tpr == 1


def test_without_a_leak_the_band_holds_the_diagonal():
    points = Curves.model_validate(curves(*attacked(0.0), 0.01)).roc
    assert np.mean([one.low <= one.fpr <= one.high for one in points]) > 0.8


def test_shares_sum_to_one_and_a_half_of_another_scale_changes_nothing():
    found, other = (Curves.model_validate(curves(*attacked(scale=scale), 0.01)) for scale in (1.0, 100.0))
    assert found == other
    assert sum(one.members for one in found.scores.bins) == pytest.approx(1)
    assert found.scores.members == 400
    right = sum(one.nonmembers for one in found.scores.bins if one.low >= found.scores.threshold)
    assert right <= 0.01


def test_a_score_of_few_values_has_no_histogram():
    found = curves(*attacked(decimals=0), 0.01)
    assert found["scores"] is None
    assert found["distinct"] < 12
