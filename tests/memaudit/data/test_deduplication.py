"""From a raw table to records: duplicates, conflicts, groups, and one line for each kind of bad data."""

import numpy as np
import pandas as pd
import pytest
from raw_tables import made, people, types

from memaudit.common.errors import AuditError
from memaudit.data.deduplication import policy_of

BAD = {
    "no such target": (people(), {"target": "pay"}, "target: there is no column 'pay'; the table has age, job, y"),
    "no such type": (people(), {"types": {"pay": "text"}}, "types: there is no column 'pay'"),
    "no such drop": (people(), {"drop": ["pay"]}, "drop: there is no column 'pay'"),
    "missing target": (people().assign(y=["a", None, *["b"] * 38]), {}, "missing in 1 rows, the first is data row 2"),
    "no target at all": (people().assign(y=None), {}, "target 'y' is missing in every row"),
    "one class": (people().assign(y="a"), {}, "people: target 'y' has only one class"),
    "constant target": (people().assign(y=1.5), {"task": "regression"}, "people: target 'y' is constant"),
    "words as numbers": (people(), {"task": "regression"}, "column 'y' must be numeric, but data row 1"),
    "all missing": (people(pay=None, tax="?"), {}, "column 'pay', 'tax': missing in every row; `drop` it"),
    "infinite": (people(pay=[np.inf, *range(39)]), {}, "column 'pay' has 1 infinite values, the first in data row 1"),
    "infinite target": (people().assign(y=[-np.inf, *range(39)]), {"task": "regression"}, "'y' has 1 infinite"),
    "infinite text": (people(pay=["1", "-inf", *map(str, range(38))]), {}, "1 infinite values, .* data row 2"),
    "mixed": (people(pay=["4711 secret", *map(str, range(39))]), {}, "39 numbers with 1 words, .* data row 1;"),
    "underscores": (people(pay=["4711_", *map(str, range(39))]), {}, "'pay' mixes 39 numbers with 1 words"),
    "no date": (people(day=["4711 secret"] * 40), {"types": {"day": "date"}}, "date, but data row 1 is no ISO"),
    "no features": (people()[["y"]], {}, "no features are left"),
    "nested": (people(tags=[[1, 2]] * 40), {}, r"column 'tags' holds BIGINT\[\]"),
    "group missing": (people(who=[None, *range(39)]), {"group": "who"}, "group 'who' is missing in data row 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_data_gets_one_line_without_values(tmp_path, case):
    frame, policy, line = BAD[case]
    with pytest.raises(AuditError, match=line) as error:
        made(frame, tmp_path, **policy)
    assert "\n" not in str(error.value)
    assert "4711" not in str(error.value), "values must not reach a log"
    assert not (tmp_path / "records.parquet").exists()
    assert not list(tmp_path.glob(".*")), "no half-written file, no spill folder stays"


def test_rows_without_target_are_dropped_on_demand_and_counted(tmp_path):
    records, _, counts = made(people().assign(y=["a", None, *["b"] * 38]), tmp_path, missing_target="drop")
    assert (len(records), counts["without_target"]) == (39, 1)


COPIES = pd.DataFrame({"x": [1, 2, 1, 3, 2, 2, 4], "y": ["a", "b", "a", "a", "c", "b", "c"]})


@pytest.mark.parametrize(
    ("duplicates", "conflicts", "kept"),
    [
        ("drop", "drop_both", [(1, "a"), (3, "a"), (4, "c")]),
        ("drop", "keep_first", [(1, "a"), (2, "b"), (3, "a"), (4, "c")]),
        ("drop", "keep", [(1, "a"), (2, "b"), (3, "a"), (2, "c"), (4, "c")]),
        ("keep", "drop_both", [(1, "a"), (1, "a"), (3, "a"), (4, "c")]),
        ("keep", "keep_first", [(1, "a"), (2, "b"), (1, "a"), (3, "a"), (2, "b"), (4, "c")]),
        ("keep", "keep", list(COPIES.itertuples(index=False, name=None))),
    ],
)
def test_policies_of_copies(tmp_path, duplicates, conflicts, kept):
    records, schema, counts = made(COPIES, tmp_path, duplicates=duplicates, conflicts=conflicts)
    assert list(zip(records["x"], records["target"], strict=True)) == kept, "in the raw table's order"
    assert records["id"].is_unique
    assert (counts["duplicates"], counts["conflicting_sets"]) == (2, 1)
    assert counts["conflicting_records"] == (2 if duplicates == "drop" else 3)
    assert counts["records"] == schema["records"] == len(kept)


def test_copies_that_are_kept_are_one_unit(tmp_path):
    records, schema, _ = made(COPIES, tmp_path, duplicates="keep", conflicts="keep")
    assert records.groupby("x")["group"].nunique().eq(1).all()
    assert schema["units"] == records["group"].nunique() == 4
    records, schema, _ = made(COPIES, tmp_path, conflicts="drop_both")
    assert "group" not in records
    assert (schema["grouped"], schema["units"]) == (False, 3)


def test_removing_one_record_of_a_conflict_changes_nothing_else_only_if_both_are_dropped(tmp_path):
    without = COPIES.drop(index=[1, 5])
    both = [set(made(frame, tmp_path, conflicts="drop_both")[0]["id"]) for frame in (COPIES, without)]
    assert len(both[0] ^ both[1]) == 1
    first = [set(made(frame, tmp_path, conflicts="keep_first")[0]["id"]) for frame in (COPIES, without)]
    assert len(first[0] ^ first[1]) == 2, "the other record takes its place"


def test_groups_are_hashed_units_and_no_feature(tmp_path):
    records, schema, counts = made(people(who=np.arange(40) // 4), tmp_path, group="who", conflicts="drop_both")
    assert "who" not in records
    assert "who" not in types(schema)
    assert records.groupby(np.arange(40) // 4)["group"].nunique().eq(1).all()
    assert counts["units"] == schema["units"] == 10
    assert records["group"].str.fullmatch("[0-9a-f]{32}").all()


def test_duplicates_of_two_persons_are_detected_and_cannot_be_kept(tmp_path):
    frame = COPIES.assign(who=[1, 2, 3, 4, 5, 6, 7])
    records, *_ = made(frame, tmp_path, group="who", conflicts="drop_both")
    assert len(records) == 3
    with pytest.raises(AuditError, match="1 sets of duplicates belong to several values of group 'who'"):
        made(frame, tmp_path, group="who", conflicts="keep")


def test_a_column_that_the_source_leaves_out_may_be_dropped_as_well():
    facts = {"types": {}, "target": "y", "typed": True, "own": False, "delimiter": None, "ignored": ["Id"]}
    entry = {"task": "regression", "drop": ["Id", "job"]}
    assert policy_of(facts, entry).drop == ["job"]
    assert policy_of({**facts, "ignored": []}, entry).drop == ["Id", "job"]


def test_nothing_left(tmp_path):
    with pytest.raises(AuditError, match="no records are left"):
        made({"x": [1, 1], "y": ["a", "b"]}, tmp_path, conflicts="drop_both")
