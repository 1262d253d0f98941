"""The rate of isolated members is read at a threshold whose precision is shown by the band of the ROC curve."""

from audit_examples import CURVES, a_summary

from memaudit.auditing.findings import singling_out
from memaudit.auditing.summaries.score_curves import RocPoint


def isolated(*points):
    summary = a_summary()  # its largest base rate is 0.1: the TPR must be 81 times the FPR
    curves = CURVES.model_copy(update={"roc": [RocPoint(fpr=f, tpr=t, low=low, high=t) for f, t, low in points]})
    (found,) = singling_out.isolated(summary.model_copy(update={"curves": curves}))
    return found


def test_the_least_strict_threshold_that_shows_the_precision_is_taken():
    found = isolated((0.001, 0.2, 0.1), (0.005, 0.6, 0.5), (0.01, 0.9, 0.7))
    assert (found.value.estimate, found.value.low) == (0.6, 0.5)
    assert "0.5 %" in found.power
    precision = 0.1 * 0.5 / (0.1 * 0.5 + 0.9 * 0.005)
    assert precision >= singling_out.PRECISION
    assert singling_out.PRECISION > 0.1 * 0.7 / (0.1 * 0.7 + 0.9 * 0.01)


def test_nobody_is_isolated_where_no_threshold_shows_it():
    found = isolated((0.01, 0.01, 0.005), (1, 1, 1))
    assert found.value.estimate == 0
    assert "no threshold" in found.power
    assert singling_out.isolated(a_summary().model_copy(update={"curves": None})) == []
