"""Released means are noisy means, and one teacher moves their sum by at most 1."""

import numpy as np
import pytest
from opendp.domains import atom_domain
from opendp.measurements import make_gaussian
from opendp.metrics import absolute_distance

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Filter
from memaudit.privacy.noisy_means import STEPS, label_means


class Recorder:
    """Noise of zero that keeps its arguments."""

    def __call__(self, center, sigma):
        self.center, self.sigma = center, sigma
        return center


def test_without_noise_the_label_is_the_mean_of_clipped_predictions():
    predictions = np.array([[0.2, 0.4, 0.9], [-3.0, 0.5, 7.0]])
    means = label_means(predictions, 1.0, Filter(9.0), noise=Recorder())
    assert means == pytest.approx([0.5, 0.5], abs=1 / STEPS)


def test_one_changed_teacher_moves_the_sum_by_at_most_one_exactly():
    rng = np.random.default_rng(0)
    noise, moved = Recorder(), []
    for _ in range(300):
        predictions = rng.normal(0.5, 1, (1, 7))
        changed = predictions.copy()
        changed[0, rng.integers(7)] = rng.choice([-1e9, 1e9, rng.random()])
        centers = []
        for version in (predictions, changed):
            label_means(version, 2.5, Filter(9.0), noise=noise)
            centers.append(noise.center)
        moved.append(abs(centers[0] - centers[1]).item())
    assert max(moved) == STEPS
    assert noise.center.dtype == np.int64
    assert noise.sigma == 2.5 * STEPS


def test_the_cost_is_that_of_opendp_and_is_charged_before_the_noise_is_drawn():
    allowance = Filter(9.0)

    def interrupted(center, sigma):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        label_means(np.zeros((4, 3)), 2.5, allowance, noise=interrupted)
    own = make_gaussian(atom_domain(T="i64"), absolute_distance(T="i64"), scale=2.5 * STEPS).map(STEPS)
    assert allowance.spent == pytest.approx(4 * own, rel=1e-9)


def test_queries_stop_where_the_allowance_does():
    allowance = Filter(3.7 * 0.5)
    assert label_means(np.zeros((9, 3)), 1.0, allowance, noise=Recorder()).shape == (3,)
    assert allowance.spent == 1.5
    assert label_means(np.zeros((9, 3)), 1.0, allowance, noise=Recorder()).shape == (0,)


def test_noise_on_a_mean_is_sigma_over_the_number_of_teachers():
    means = label_means(np.full((4000, 50), 0.5), 3.0, Filter(1e6))
    assert means.mean() == pytest.approx(0.5, abs=6 * 0.06 / np.sqrt(4000))
    assert means.std() == pytest.approx(0.06, rel=6 / np.sqrt(8000))


def test_labels_stay_in_the_unit_interval():
    means = label_means(np.zeros((200, 2)), 5.0, Filter(1e6))
    assert means.min() == 0
    assert means.max() == 1


def test_predictions_that_are_no_numbers_and_noise_that_is_none_are_refused():
    with pytest.raises(AuditError, match="NaN"):
        label_means(np.array([[0.1, np.nan]]), 1.0, Filter(1.0))
    with pytest.raises(AuditError, match="sigma of 0"):
        label_means(np.zeros((1, 2)), 0.0, Filter(1.0))
