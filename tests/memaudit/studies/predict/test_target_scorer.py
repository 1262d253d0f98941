"""Scores of targets are those of their own states, from the file that has them."""

import numpy as np
import pytest
import xarray as xr
from predict_pipeline import SCORING

from memaudit.attacks.memorization_predictors import mahalanobis
from memaudit.attacks.score_matrices import gather
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid
from memaudit.studies.predict.target_scorer import TargetScorer

pytestmark = pytest.mark.usefixtures("one_thread")


def scorer(run, states):
    signals = gather(str(run.folder / "0.nc"))
    return TargetScorer(read_grid(run.ready["records"]), signals, [str(states)], SCORING, 3)


def test_scores_are_of_the_targets_own_states(run):
    scores = scorer(run, run.folder / "0.states.nc")
    assert scores.layers == 2
    own = scores.prepared.membership.values[1]
    states = xr.load_dataset(run.folder / "0.states.nc")["target1_layer1"].values[4][own]
    found = scores.score(1, 4, 1)
    np.testing.assert_allclose(found[1, own], mahalanobis(states).scores)
    assert np.isnan(found[:3, ~own]).all()
    assert np.isnan(scores.untrained(1)[~own]).all()
    np.testing.assert_array_equal(found[:3], scores.score(1, 4, 1)[:3])


def test_a_target_without_states_is_named(run):
    with pytest.raises(AuditError, match="no file has target7_layer0; train its shard again"):
        scorer(run, run.folder / "0.states.nc").score(7, 0, 0)
