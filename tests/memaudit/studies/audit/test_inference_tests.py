"""An excess of members is found where a record's presence changes the answers, and not where it changes nothing."""

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import Scheme
from memaudit.studies.audit import inference_tests
from memaudit.studies.audit.inference_tests import Drawn
from memaudit.studies.audit.inferred_answers import CALIBRATED, WITHOUT_TARGET, Answers

MODELS, RECORDS, BINS = 16, 40, 4
SCHEME = Scheme("columns", 8)


def planted(effect, seed=0, level=0.0):
    """Answers with noise; effect: of presence on the true value, level: of the true value for everybody."""
    rng = np.random.default_rng(seed)
    drawn = Drawn(membership_matrices.balanced(MODELS, RECORDS, rng, 8), SCHEME, np.arange(RECORDS))
    truth = rng.integers(0, BINS, RECORDS)
    right = truth[:, None] == np.arange(BINS)
    own = -3 + rng.normal(size=(MODELS, RECORDS, BINS)) + right * (level + effect * drawn.membership[..., None])
    prior = np.full((RECORDS, BINS), 1 / BINS)
    return Answers(own, own, np.arange(BINS), truth, prior, prior, np.arange(RECORDS)), drawn


def judged(answers, drawn, permutations=19):
    rng = np.random.default_rng(1)
    found = inference_tests.judged({"c0": answers}, drawn, rng, 50, permutations)
    return {key: {one.metric: one for one in estimates} for key, estimates in found.items()}


def test_an_effect_of_presence_is_found_by_the_adversaries_who_can_see_it():
    found = judged(*planted(2.0))["c0", CALIBRATED]
    assert found["members"].estimate > 0.6
    assert found["non-members"].estimate == pytest.approx(0.25, abs=0.1)
    assert found["accuracy excess"].detected
    assert found["probability excess"].detected
    assert found["accuracy excess"].low <= found["accuracy excess"].estimate <= found["accuracy excess"].high


def test_what_the_model_tells_about_everybody_is_a_gain_and_no_excess():
    answers, drawn = planted(0.0, level=2.0)
    found = judged(answers, drawn)
    likelihood = found["c0", "likelihood"]
    assert likelihood["gain"].low > 0.1
    assert likelihood["members"].estimate > likelihood["without model"].estimate + 0.1
    assert not any(one[name].detected for one in found.values() for name in ("accuracy excess", "probability excess"))


def test_without_an_effect_one_family_of_tests_in_twenty_finds_one():
    drawn = [planted(0.0, seed) for seed in range(60)]
    least = []
    for answers, membership in drawn:
        tested = inference_tests.excess_test({"c0": answers}, membership, np.random.default_rng(2), 19)
        least.append(min(one.min() for one in tested.p_values.values()))
    assert np.mean(np.array(least) <= 0.05) <= 0.15  # of 60 at 5 %: at most 9 with probability .997


def test_questions_may_leave_targets_out():
    answers, drawn = planted(2.0)
    part = np.arange(0, RECORDS, 2)
    fewer = Answers(
        answers.own[:, part], None, answers.bin, answers.truth[part], answers.known[part], answers.unknown[part], part
    )
    found = inference_tests.judged({"a": answers, "b": fewer}, drawn, np.random.default_rng(0), 20, 19)
    assert ("b", WITHOUT_TARGET) not in found
    assert found["b", CALIBRATED][0].n == drawn.membership[:, part].sum()


def test_too_few_redraws_are_refused():
    answers, drawn = planted(0.0)
    with pytest.raises(AuditError, match="cannot give p"):
        inference_tests.excess_test({"c0": answers}, drawn, np.random.default_rng(0), 5)
