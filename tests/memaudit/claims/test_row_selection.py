"""Selection of rows of expanded tidy results by metric and keys."""

import pandas as pd
import pytest
from pydantic import ValidationError

from memaudit.claims.row_selection import Selection, select

TABLE = pd.DataFrame(
    {
        "metric": ["auc", "auc", "auc", "tpr@0.1"],
        "models": [16.0, 32.0, 64.0, 64.0],
        "mode": ["raw", None, "As_Deployed", "raw"],
    }
)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ({}, [0, 1, 2]),
        ({"models": "largest"}, [2]),
        ({"models": "second_largest"}, [1]),
        ({"models": "smallest"}, [0]),
        ({"models": "any"}, [0, 1, 2]),
        ({"models": {"at_least": 32}}, [1, 2]),
        ({"models": {"at_least": 17, "at_most": 32}}, [1]),
        ({"models": [16, 64]}, [0, 2]),
        ({"mode": None}, [1]),
        ({"mode": "as_deployed"}, [2]),
        ({"absent": None}, [0, 1, 2]),
        ({"absent": "largest"}, []),
    ],
)
def test_rows_match_scalars_lists_ranges_positions_and_missing_keys(where, rows):
    assert select(TABLE, Selection(metric="auc", where=where), {}).index.tolist() == rows


def test_the_selections_own_keys_override_the_common_ones():
    own = Selection(metric="auc", where={"models": 16})
    assert select(TABLE, own, {"models": 64, "mode": "raw"}).index.tolist() == [0]


def test_a_position_is_among_the_rows_that_fulfil_all_other_conditions():
    own = Selection(metric="auc", where={"models": "largest", "mode": "raw"})
    assert TABLE.loc[select(TABLE, own, {}).index, "models"].tolist() == [16]


def test_the_second_largest_of_one_value_selects_nothing():
    assert select(TABLE.iloc[:1], Selection(metric="auc", where={"models": "second_largest"}), {}).empty


def test_unknown_keys_of_a_selection_are_refused():
    with pytest.raises(ValidationError, match="Extra inputs"):
        Selection.model_validate({"metric": "auc", "which": {}})
