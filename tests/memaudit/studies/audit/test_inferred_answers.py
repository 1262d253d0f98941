"""Posteriors follow Bayes' rule, and calibration leaves out the context itself."""

import numpy as np
import pytest
import xarray as xr

from memaudit.studies.audit import inferred_answers
from memaudit.studies.audit.inferred_answers import CALIBRATED, LIKELIHOOD, WITHOUT_TARGET, Answers


def grid(own, truth=(1, -1), other=None):
    """Answers (model, record, level) to a question of three levels in two bins."""
    own = np.asarray(own, dtype=float)[:, None]
    dimensions = ("model", "question", "record", "level")
    found = xr.Dataset({"own": (dimensions, own), "other": (dimensions, own if other is None else other)})
    found["bin"], found["truth"] = (("question", "level"), [[0, 0, 1]]), (("question", "record"), [list(truth)])
    for name in ("prior_known", "prior_unknown"):
        found[name] = (("question", "record", "bin_number"), [[[0.8, 0.2], [0.5, 0.5]]])
    return found.assign_coords(question=["c0"])


def test_the_likelihood_is_averaged_over_the_values_of_a_bin_and_weighed_by_the_prior():
    probabilities = np.full((3, 2, 3), 0.5)
    probabilities[0, 0] = 0.2, 0.4, 0.9
    answers = Answers.of(grid(np.log(probabilities)), "c0", numbers=False)
    assert answers.records.tolist() == [0]
    found = answers.posterior(LIKELIHOOD, np.ones((3, 1), dtype=bool))
    assert found[0, 0, 1] == pytest.approx(0.2 * 0.9 / (0.2 * 0.9 + 0.8 * 0.3))


def test_a_context_is_compared_with_the_other_contexts_without_the_record():
    own = np.zeros((4, 2, 3))
    own[:, 0, 2] = -1.0, -2.0, -3.0, -4.0
    member = np.array([[True], [False], [False], [False]])
    answers = Answers.of(grid(own), "c0", numbers=False)
    found = answers.posterior(CALIBRATED, member)[:, 0, 1]
    for context, out in enumerate([(1, 2, 3), (2, 3), (1, 3), (1, 2)]):
        odds = 0.25 * np.exp(own[context, 0, 2] - own[list(out), 0, 2].mean())
        assert found[context] == pytest.approx(odds / (1 + odds))


def test_a_regressor_of_points_gets_one_width_for_all_contexts():
    error = np.array([[[[0.0, 1.0, 3.0], [1.0, 1.0, 1.0]]]] * 3)
    answers = Answers.of(grid(np.full((3, 2, 3), np.nan), other=error), "c0", numbers=True)
    assert WITHOUT_TARGET not in answers.adversaries
    assert answers.own[0, 0] == pytest.approx(-0.5 * error[0, 0, 0] ** 2 / np.mean(error[:, 0, 0] ** 2))


def test_a_planted_lookup_is_certain_of_its_members():
    answers = Answers.of(grid(np.log(np.full((3, 2, 3), 0.5))), "c0", numbers=False)
    member = np.array([[True], [False], [True]])
    planted = answers.looked_up(member)
    assert planted.own[0, 0].tolist() == [inferred_answers.LEAST, inferred_answers.LEAST, 0.0]
    assert (planted.own[1] == answers.own[1]).all()
    assert (planted.largest == planted.own).all()  # both adversaries can see it
