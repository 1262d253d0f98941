"""The signed-rank test against its exact null distribution."""

import numpy as np
import pytest

from memaudit.statistics.signed_rank_test import signed_rank_rows


def test_differences_of_one_sign_have_the_smallest_exact_p_value():
    (row,) = signed_rank_rows("s", {"a": "b"}, np.arange(1.0, 9.0), "models")
    assert row["estimate"] == pytest.approx(2 / 2**8)
    assert (row["metric"], row["n"]) == ("wilcoxon p-value", 8)
    assert "over 8 models, two-sided" in row["method"]


def test_symmetric_differences_have_a_p_value_of_one():
    (row,) = signed_rank_rows("s", {}, np.array([-1.0, 1.5, -2.0, 2.5, -3.0, 3.5, -4.0, 4.5, 0.5, -0.6]), "models")
    assert row["estimate"] > 0.5


@pytest.mark.parametrize("differences", [np.arange(1.0, 5.0), np.zeros(9)])
def test_too_few_differences_and_none_at_all_have_no_row(differences):
    assert list(signed_rank_rows("s", {}, differences, "models")) == []
