"""Every case of the module gives outcomes of one kind with a known truth."""

import pytest
from coverage_cases import check_case, names_of

from memaudit.studies.coverage import extrapolation_cases


@pytest.mark.parametrize("name", names_of(extrapolation_cases))
def test_a_case_gives_outcomes_of_one_kind(name):
    check_case(name)
