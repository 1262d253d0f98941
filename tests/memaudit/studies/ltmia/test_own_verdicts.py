"""Verdicts on texts of one's own: what stands there with and without known non-members, and what is said of it."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.statistics.conformal_p_values import conformal_p_values
from memaudit.studies.ltmia.own_verdicts import check_range, statements, verdicts
from memaudit.studies.ltmia.target_combinations import error_rates

HELD_OUT = pd.DataFrame(
    {
        **{"model": ["rwkv"] * 3 + ["mamba2"] * 3, "dataset": "news", "tuning": "full"},
        "member": [True, False, False] * 2,
        "score": [3.0, 2.0, 0.0, 4.0, 1.0, -1.0],
        "outside": [0.1] * 6,
    }
)
SCORES = np.array([1.5, 4.5, 1.5, -2.0])
OUTSIDE = np.array([0.01, 0.02, 0.5, 0.0])
KNOWN = np.array([0.0, 1.0, 2.0])


def of(known=(), rate=None, outside=OUTSIDE):
    return verdicts(SCORES, np.array(known), outside, HELD_OUT, rate)


def test_without_known_non_members_there_is_a_score_and_its_rank_alone():
    table = of()
    assert list(table)[:2] == ["score", "rank"]
    assert table["rank"].tolist() == [2, 1, 2, 4]
    assert not {"probability", "p_value", "detected"} & set(table)
    lines = list(statements(table, 0, HELD_OUT, None))
    assert "no p-value and no verdict" in lines[0]
    assert "ltmia/attack/nonmembers" in lines[0]


def test_known_non_members_give_p_values_and_a_rate_gives_detections():
    table = of(KNOWN, 0.5)
    assert table["p_value"].tolist() == conformal_p_values(SCORES, KNOWN).tolist() == [2 / 4, 1 / 4, 2 / 4, 1.0]
    assert table["detected"].tolist() == [False] * 4, "0.25 is more than 0.5 / 4, and 0.5 than 0.5 * 3 / 4"
    assert of(KNOWN, 0.75)["detected"].tolist() == [True, True, True, False]
    assert "detected" not in of(KNOWN)
    lines = list(statements(table, 3, HELD_OUT, 0.5))
    assert "the smallest possible p-value is 0.25" in lines[0]
    assert "2 of 4 texts must have the smallest p-value" in lines[1]
    assert "none can be: that takes at least 19 known" in list(statements(of(KNOWN, 0.05), 3, HELD_OUT, 0.05))[1]


def test_error_rates_stand_only_at_texts_in_the_range_and_name_what_they_were_measured_on():
    table, expected = of(), error_rates(SCORES, HELD_OUT)
    assert table["unusual"].tolist() == [False, False, True, False]
    for name in expected:
        assert np.isnan(table[name][2])
        assert table[name][[0, 1, 3]].tolist() == expected[name][[0, 1, 3]].tolist()
    last = list(statements(table, 0, HELD_OUT, None))[-1]
    assert "1 of 4 texts have unusual features" in last
    assert "on the corpora news with the models rwkv, mamba2" in last


def test_a_run_is_refused_where_most_texts_are_outside_the_range():
    check_range(of()["unusual"], "mine")
    with pytest.raises(AuditError, match=r"^mine: 75% of the texts have features further outside .* ltmia/held_out$"):
        check_range(of(outside=np.array([0.0, 0.2, 0.2, 0.2]))["unusual"], "mine")
