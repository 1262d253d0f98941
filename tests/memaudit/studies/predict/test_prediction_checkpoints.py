"""Where training is interrupted: the paper's own numbers, medians and ends."""

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.studies.predict.prediction_checkpoints import by_rule, interrupted, interruption

DROP = 0.95  # Section 4.3
# Table 2: how far the median training loss has fallen at epochs 0, 0.2, ..., 1, in percent.
TABLE_2 = {
    "ARC/Mistral": [0, 93.724, 98.015, 99.397, 98.907, 99.222],
    "ETHICS/Mistral": [0, 86.036, 95.198, 98.985, 99.665, 99.739],
    "MMLU/Mistral": [0, 98.967, 99.776, 99.916, 99.916, 99.895],
    "MMLU/Llama": [0, 91.674, 98.186, 99.329, 99.336, 99.267],
    "MMLU/Gemma": [0, 99.543, 99.606, 99.855, 99.980, 99.979],
}


@pytest.mark.parametrize(
    ("setting", "first", "closest"),
    [
        ("ARC/Mistral", 2, 1),
        ("ETHICS/Mistral", 2, 2),
        ("MMLU/Mistral", 1, 1),
        ("MMLU/Llama", 2, 2),
        ("MMLU/Gemma", 1, 1),
    ],
)
def test_training_is_interrupted_where_the_paper_did(setting, first, closest):
    """Appendix E: at the first checkpoint beyond 95 %, but for ARC at the closest, which lies before."""
    drops = np.array(TABLE_2[setting]) / 100
    observed = interruption(2.5 * (1 - drops)[:, None] * np.ones(7), DROP)
    np.testing.assert_allclose(observed.drops, drops, atol=1e-12)
    assert (observed.first, observed.closest) == (first, closest)


def test_the_median_falls_where_the_mean_does_not():
    losses = np.array([[1.0, 1, 1, 1, 1], [0.01, 0.02, 0.03, 1, 30], [0.0, 0, 0, 0, 0]])
    assert interruption(losses, DROP).first == 1


def test_the_end_of_training_is_no_interruption():
    """Nothing is left to predict: the baseline would be the ground truth."""
    observed = interruption(np.array([[2.0], [0.4], [0.1]]), DROP)
    assert (observed.first, observed.closest) == (None, 1)
    assert observed.drops[-1] == 0.95


def test_a_drop_that_is_never_reached_is_none_and_the_closest_is_known():
    observed = interruption(np.array([[2.0], [1.0], [0.4], [0.6]]), DROP)
    assert observed.first is None
    assert observed.closest == 2


def test_a_loss_that_cannot_fall_is_an_error():
    with pytest.raises(AuditError, match="median loss before training is 0"):
        interruption(np.zeros((3, 4)), DROP)


def test_targets_whose_loss_fell_too_little_are_left_out():
    """A target that is interrupted at 57 % is not predicted from at 95 %; more than 95 % is as in the paper."""
    drops = ([0, 0.5, 0.568, 0.57], [0, 0.9, 0.94, 0.99], [0, 0.5, 0.995, 1.0])
    candidates = [interruption(np.array([[1 - drop] for drop in of]), DROP) for of in drops]
    assert by_rule(candidates, "closest", DROP - 0.03) == [None, 2, 2]
    assert by_rule(candidates, "first", DROP - 0.03) == [None, None, 2]
    assert interrupted(candidates, "closest", "toy", DROP, 0.03).tolist() == [1, 2]
    with pytest.raises(AuditError, match=r"toy: .* falls by 56.800% at most before the end, not by 95.000%"):
        interrupted(candidates[:1], "closest", "toy", DROP, 0.03)
