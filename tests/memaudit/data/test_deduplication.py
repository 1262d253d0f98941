"""From a raw table to records: types, ids, copies, and one line for each kind of bad data."""

import hashlib
import hmac
import json
import os
import stat
import uuid

import numpy as np
import pandas as pd
import pytest

from memaudit.data.deduplication import Policy, deduplicate
from memaudit.data.record_encoding import encode
from memaudit.data.record_ids import keep_private, make_key, read_key
from memaudit.errors import AuditError

KEY = b"a key for tests"


def made(frame, tmp_path, key=KEY, name="records", **policy):
    """Records, schema and counts of a table; the target is `y`, a class, unless the policy says otherwise."""
    frame = pd.DataFrame(frame)
    frame.to_parquet(tmp_path / "raw.parquet", index=False)
    settings = {"task": "classification", "target": "y", "types": {}, "conflicts": "keep"} | policy
    path = tmp_path / f"{name}.parquet"
    schema, rows = deduplicate(tmp_path / "raw.parquet", path, key, Policy(**settings), "people")
    return pd.read_parquet(path), schema, {row["metric"]: row["estimate"] for row in rows}


def types(schema):
    return {column["name"]: column["type"] for column in schema["columns"]}


def people(n=40, **columns):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.permutation(n) + 18.0, "job": ["cook", "nurse"] * (n // 2)})
    return frame.assign(y=["low", "high", "high", "low"] * (n // 4), **columns)


# --- types -------------------------------------------------------------------------------------------------------


def test_types_of_text_columns(tmp_path):
    n = 100
    frame = pd.DataFrame(
        {
            "number": [f" {i}.50" for i in range(n)],
            "few": ["a", "b"] * (n // 2),
            "flag": ["true", "false"] * (n // 2),
            "day": [f"2024-01-{i % 28 + 1:02d}" for i in range(n)],
            "essay": [f"an essay about {i}" for i in range(n)],
            "y": ["0", "1"] * (n // 2),
        }
    )
    records, schema, _ = made(frame, tmp_path)
    assert types(schema) == {
        "number": "numeric", "few": "categorical", "flag": "categorical", "day": "date", "essay": "text"
    }  # fmt: skip
    assert records["number"].tolist()[:2] == [0.5, 1.5]
    assert schema["columns"][1]["categories"] == ["a", "b"]


def test_text_of_a_typed_source_is_no_number_and_no_date(tmp_path):
    day, mixed = ["2024-01-01", "2024-01-02"] * 20, ["10-12", "8"] * 20
    frame = people(zip=[f"0{i}" for i in range(40)], day=day, mixed=mixed)
    _, schema, _ = made(frame, tmp_path, typed=True)
    assert types(schema) == {
        "age": "numeric", "job": "categorical", "zip": "text", "day": "categorical", "mixed": "categorical"
    }  # fmt: skip


def test_a_wide_table_is_read(tmp_path):
    pixels = pd.DataFrame(rng_pixels := np.random.default_rng(0).integers(0, 256, (20, 1100)))
    records, schema, _ = made(pixels.rename(columns=str).assign(y=["cat", "dog"] * 10), tmp_path)
    assert len(schema["columns"]) == 1100
    np.testing.assert_array_equal(encode(records, schema)[0], rng_pixels)


def test_native_types_and_declared_types(tmp_path):
    frame = people(day=pd.date_range("2024-01-01", periods=40), code=np.arange(40) % 3, yes=np.arange(40) % 2 == 0)
    _, schema, _ = made(frame, tmp_path, types={"code": "categorical"})
    assert types(schema) == {
        "age": "numeric", "job": "categorical", "day": "date", "code": "categorical", "yes": "categorical"
    }  # fmt: skip
    assert schema["columns"][3]["categories"] == ["0", "1", "2"], "whole numbers, as a reader writes them"


def test_marks_of_missing_values_become_missing(tmp_path):
    frame = people(pay=["?", "", "NA", " nan ", None, *map(str, range(35))])
    records, schema, _ = made(frame, tmp_path)
    assert types(schema)["pay"] == "numeric"
    assert schema["columns"][2]["missing"] == records["pay"].isna().sum() == 5
    _, schema, _ = made(people(job=["-", *["cook"] * 39]), tmp_path, missing=["-"])
    assert schema["columns"][1]["categories"] == ["cook"]


def test_classes_and_categories_are_sorted_numbers_by_size(tmp_path):
    frame = pd.DataFrame({"x": range(24), "y": [str(i % 12) for i in range(24)]})
    _, schema, _ = made(frame, tmp_path)
    assert schema["target"]["categories"] == [str(i) for i in range(12)]


def test_features_named_like_our_columns_get_other_names(tmp_path):
    frame = people(id=range(40), group=range(40), side=range(40), target=range(40), target_=range(40))
    records, schema, _ = made(frame, tmp_path)
    assert [column["source"] for column in schema["columns"]][2:] == ["id", "group", "side", "target", "target_"]
    assert list(records)[3:-1] == ["id_", "group_", "side_", "target__", "target_"]
    assert records["id"].str.fullmatch("[0-9a-f]{32}").all()


# --- bad data ----------------------------------------------------------------------------------------------------

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


def test_mixed_columns_pass_once_the_user_says_what_they_are(tmp_path):
    frame = people(pay=["none", *map(str, range(39))])
    assert types(made(frame, tmp_path, types={"pay": "categorical"})[1])["pay"] == "categorical"
    assert types(made(frame, tmp_path, missing=["none"])[1])["pay"] == "numeric"
    assert "pay" not in types(made(frame, tmp_path, drop=["pay"])[1])


def test_rows_without_target_are_dropped_on_demand_and_counted(tmp_path):
    records, _, counts = made(people().assign(y=["a", None, *["b"] * 38]), tmp_path, missing_target="drop")
    assert (len(records), counts["without_target"]) == (39, 1)


# --- ids ---------------------------------------------------------------------------------------------------------


def test_an_id_is_hmac_sha256_of_the_typed_content(tmp_path):
    frame = pd.DataFrame({"b": [1.0, np.nan, 2.0], "a": ["x", "", "yz"], "y": ["n", "m", "n"]})
    records, *_ = made(frame, tmp_path)
    key = hmac.digest(KEY, json.dumps(["a", "b", "y"]).encode(), "sha256")

    def keyed(text):
        return uuid.UUID(hmac.digest(key, text.encode(), "sha256").hex()[:32])

    content = keyed("1:x" + "3:1.0")
    assert records["id"][0] == keyed(f"{content}1:n").hex
    content = keyed("-" + "-")
    assert records["id"][1] == keyed(f"{content}1:m").hex


def test_ids_depend_on_content_alone(tmp_path):
    frame = people()
    shuffled = frame.sample(frac=1, random_state=1)[["y", "job", "age"]]
    first, second = made(frame, tmp_path)[0], made(shuffled, tmp_path, name="other")[0]
    both = first.merge(second, on=["age", "job", "target"], suffixes=("", "_other"))
    assert (both["id"] == both["id_other"]).all()
    as_text = made(frame.astype(str), tmp_path, name="text")[0]
    assert (as_text["id"] == first["id"]).all(), "31 and 31.0 of a numeric column are one number"


def test_ids_differ_by_key_and_tell_alike_rows_apart(tmp_path):
    # Few distinct values: all text, so that nothing but the boundaries differs.
    rows = [("a", "bc"), ("ab", "c"), ("abc", None), (None, "abc"), ("1:a", "bc"), ("a", "1:bc"), ("-", "abc")]
    frame = pd.DataFrame(rows, columns=["u", "v"]).assign(y=["m", "n", *["m"] * 5])
    records, *_ = made(frame, tmp_path, types={"u": "text", "v": "text"})
    assert records["id"].nunique() == len(rows)
    others, *_ = made(frame, tmp_path, key=b"another", types={"u": "text", "v": "text"})
    assert not set(records["id"]) & set(others["id"])


def test_minus_zero_is_zero_and_a_float_keeps_every_digit(tmp_path):
    frame = {"x": [0.0, -0.0, 0.1 + 0.2, 0.3], "y": ["a", "a", "b", "b"]}
    records, _, counts = made(frame, tmp_path)
    assert (len(records), counts["duplicates"]) == (3, 1)


def test_a_key_is_secret_unless_it_is_public(tmp_path):
    make_key(tmp_path / "one")
    make_key(tmp_path / "two")
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o600
    assert read_key(tmp_path / "one") != read_key(tmp_path / "two")
    make_key(tmp_path / "one", "public")
    assert read_key(tmp_path / "one") == b"public"
    (tmp_path / "one").write_bytes(b"")
    with pytest.raises(AuditError, match="a key has 1 to 64 bytes"):
        read_key(tmp_path / "one")


def test_the_key_stands_in_no_file_of_the_result(tmp_path):
    made(people(), tmp_path)
    inner = hmac.digest(KEY, json.dumps(["age", "job", "y"]).encode(), "sha256")
    content = b"".join(path.read_bytes() for path in tmp_path.rglob("*.parquet"))
    assert not any(secret in content for secret in (KEY, inner, hashlib.sha256(KEY).digest()))


def test_a_users_files_are_theirs_alone(tmp_path):
    before = os.umask(0o022)
    try:
        keep_private(tmp_path / "data" / "records.parquet")
        (tmp_path / "data" / "records.parquet").write_text("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "data" / "records.parquet").stat().st_mode) == 0o600


# --- copies ------------------------------------------------------------------------------------------------------

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


def test_copies_of_two_persons_are_found_and_cannot_be_kept(tmp_path):
    frame = COPIES.assign(who=[1, 2, 3, 4, 5, 6, 7])
    records, *_ = made(frame, tmp_path, group="who", conflicts="drop_both")
    assert len(records) == 3
    with pytest.raises(AuditError, match="1 sets of duplicates belong to several values of group 'who'"):
        made(frame, tmp_path, group="who", conflicts="keep")


def test_nothing_left(tmp_path):
    with pytest.raises(AuditError, match="no records are left"):
        made({"x": [1, 1], "y": ["a", "b"]}, tmp_path, conflicts="drop_both")


# --- encoding ----------------------------------------------------------------------------------------------------


def test_encode_numbers_categories_dates_and_missing(tmp_path):
    frame = pd.DataFrame(
        {
            "x": [1.5, None, 2.0],
            "c": ["b", None, "a"],
            "d": pd.to_datetime(["1970-01-02", None, "1970-01-01 12:00"], format="ISO8601"),
            "y": ["no", "yes", "no"],
        }
    )
    records, schema, _ = made(frame, tmp_path, conflicts="drop_both")
    features, target = encode(records, schema)
    assert features.dtype == np.float32
    np.testing.assert_array_equal(features, [[1.5, 1, 1], [np.nan] * 3, [2, 0, 0.5]])
    assert (target.dtype, target.tolist()) == (np.int64, [0, 1, 0])


def test_encode_keeps_regression_targets_and_a_category_outside_the_list_is_missing(tmp_path):
    records, schema, _ = made(people().assign(y=np.arange(40) / 3), tmp_path, task="regression")
    features, target = encode(records.assign(job="astronaut"), schema)
    assert np.isnan(features[:, 1]).all()
    np.testing.assert_array_equal(target, np.arange(40) / 3)


def test_encode_refuses_numbers_that_float32_would_make_infinite(tmp_path):
    records, schema, _ = made(people(), tmp_path)
    with pytest.raises(AuditError, match=r"column 'age' has numbers beyond 3\.4e38"):
        encode(records.assign(age=1e39), schema)


def test_encode_refuses_text_and_unknown_classes(tmp_path):
    essays = people(essay=[f"essay {i}" for i in range(40)])
    records, schema, _ = made(essays, tmp_path)
    with pytest.raises(AuditError, match="column 'essay' is free text"):
        encode(records, schema)
    records, schema, _ = made(people(), tmp_path)
    with pytest.raises(AuditError, match="a target class that their schema does not know"):
        encode(records.assign(target="unheard of"), schema)
