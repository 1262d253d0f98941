"""Predictors of a target's own records, NaN for others, and their places in the file of scores."""

import numpy as np
import xarray as xr

from memaudit.attacks import memorization_features
from memaudit.studies.predict.prediction_checkpoints import Interruption
from memaudit.studies.predict.target_scores import AT_STOP, OF_STATES, at_interruption, features, predictors

OWN = np.arange(40) % 4 > 0
RNG = np.random.default_rng(0)
STATES, CODE = RNG.normal(size=(30, 3)), np.arange(30) % 2


def test_predictors_are_of_own_records_and_psmi_takes_part_of_the_time():
    scoring = {"directions": 20, "accuracy": None, "dimensions": 3}
    values = predictors(STATES, CODE, OWN, np.random.default_rng(1), scoring)
    assert values.shape == (len(OF_STATES) + 2, 40)
    assert (np.isnan(values[: len(OF_STATES)]) == ~OWN).all()
    assert 0 <= values[-2, 0] <= values[-1, 0]


def test_features_at_the_interruption_are_the_librarys_at_its_last_checkpoint():
    losses, gaps = RNG.exponential(size=(5, 40)), RNG.normal(size=(5, 40))
    seen = xr.Dataset({name: (("checkpoint", "record"), of) for name, of in (("loss", losses), ("gap", gaps))})
    values = features(STATES, CODE, OWN, seen)
    assert (np.isnan(values[:-1]) == ~OWN).all()
    named = dict(zip(AT_STOP, values, strict=False))
    gradient = memorization_features.head_gradient_norm(losses[-1, OWN], STATES)
    np.testing.assert_array_equal(named["gradient_norm"][OWN], gradient)
    np.testing.assert_array_equal(named["share_wrong"][OWN], (gaps[:, OWN] <= 0).mean(0))
    neighbours = memorization_features.neighbour_scores(STATES, CODE)
    np.testing.assert_array_equal(named["neighbour_value"][OWN], neighbours.neighbour_value)
    fallen = Interruption(np.array([0, 0.2, 0.4, 0.8, 0.9]), None, 4)
    grid = xr.Dataset(at_interruption(np.stack([values, values]), np.array([2, 4]), [fallen, fallen]))
    assert grid.fallen.values.tolist() == [0.4, 0.9]
    np.testing.assert_array_equal(grid.mean_loss.values[1], named["mean_loss"])
    assert grid.interruption.values.tolist() == [2, 4]
    assert (grid.feature_seconds.values >= 0).all()
