"""Every case of the module gives outcomes of one kind with a known truth."""

import pytest
from coverage_cases import check_case, names_of

from memaudit.studies.coverage import calibrated_score_cases


@pytest.mark.parametrize("name", names_of(calibrated_score_cases))
def test_a_case_gives_outcomes_of_one_kind(name, monkeypatch):
    expected = calibrated_score_cases.expected_of_scores
    monkeypatch.setattr(calibrated_score_cases, "expected_of_scores", lambda population: expected(population, 2))
    check_case(name)
