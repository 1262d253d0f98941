"""The intake of users' tables: a fault is one line that names the place and the remedy, never a value."""

import gzip
import json
import os
import re
import stat
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml

from memaudit.auditing.reading import source_file
from memaudit.auditing.reading.intake import take_in
from memaudit.auditing.reading.request import Request
from memaudit.common.errors import AuditError

SECRET = "S3cret"
ROWS = 80


def frame(rows=ROWS, **columns):
    rng = np.random.default_rng(0)
    facts = {"age": rng.integers(18, 90, rows), "city": rng.choice(["a", "b", "c"], rows)}
    return pd.DataFrame(facts | {"churn": rng.choice(["no", "yes"], rows)} | columns)


def text(**columns):
    return frame(**columns).to_csv(index=False)


def lines(count, cell):
    return "\n".join(["x,churn", *(f"{i % 7},{cell(i)}" for i in range(count))])


# Content of the file, and a part of the error's line.
HOSTILE = {
    "empty": (b"", "the file is empty (0 bytes)"),
    "blank line": (b"\n", "the file is empty (0 rows, no header)"),
    "header alone": (b"age,churn\n", "a header, but no records"),
    "one column": (lines(70, str).replace(",", " "), "--target: the table has no column 'churn'"),
    "only the target": ("churn\n" + "yes\nno\n" * 40, "the table has one column only"),
    "no header": ("1,yes\n" * 70, "no column 'churn'"),
    "ragged": (text() + f"1,{SECRET},no,extra\n", f"line {ROWS + 2} has"),
    "missing target": (text().replace("churn", "left", 1), "--target: the table has no column 'churn'"),
    "constant target": (text(churn="yes"), "the same in all rows"),
    "all missing target": (text(churn=""), "missing in every row"),
    "all-unique target": (
        text(churn=[f"{SECRET}{i}" for i in range(ROWS)]),
        "--target 'churn': 80 of 80 classes have fewer than the 4 rows that are needed, the smallest 1 row (the "
        "class of data row 1); merge",
    ),
    "1000 classes": (lines(3000, lambda i: f"{SECRET}{i % 1000}"), "1000 classes"),
    "rare class": (
        text(churn=["x", *["yes", "no"] * 39, "no"]),
        "1 of 3 classes has fewer than the 4 rows that are needed, the smallest 1 row (the class of data row 1)",
    ),
    "empty column": (text(city=""), "column 'city': missing in every row"),
    "words among numbers": (text(age=[*range(70), *[SECRET] * 10]), "mixes 70 numbers with 10 words"),
    "infinite": (text(age=["inf", *range(79)]), "infinite values, the first in data row 1"),
    "not utf-8": (text().encode() + b"1,\xff\xfe,no\n", "is not utf-8; set"),
    "utf-16": (text().encode("utf-16"), "utf-8"),
    "duplicated names": (text().replace("city", "AGE", 1), "columns 1 and 2 are both called"),
    "nameless column": (text().replace("city", "", 1), "column 2 has no name"),
    "too few rows": (frame(20).to_csv(index=False), "20 rows with a target are too few"),
    "open quote": (text() + f'1,"{SECRET},no\n', "quote"),
    "no parquet": (b"PAR1 and then nothing", "not a readable Parquet file"),
    "damaged gzip": (gzip.compress(text().encode())[:-30], "cannot be read"),
    "free text alone": ("t,churn\n" + "".join(f"{SECRET} {i},{i % 2}\n" for i in range(80)), "no column is left"),
}


@pytest.fixture
def taken(tmp_path):
    """Write a table, and run the intake on it: its facts and its folder."""

    def take(content, name="table.csv", target="churn", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        folder = tmp_path / f"audit of {Path(name).name}"
        folder.mkdir(exist_ok=True)
        return take_in(Request(str(path), target, **options), folder), folder

    return take


@pytest.mark.parametrize("fault", HOSTILE)
def test_a_hostile_table_is_one_clear_line(taken, tmp_path, fault):
    content, message = HOSTILE[fault]
    with pytest.raises(AuditError) as error:
        taken(content)
    line = str(error.value)
    assert message in line
    assert "\n" not in line
    assert SECRET not in line
    assert not re.search("`(drop|missing|types|target|encoding|delimiter)`", line)  # keys of a config
    assert "source.csv" not in line  # the user's file has another name
    assert not list(tmp_path.rglob("*.part"))
    assert not list(tmp_path.rglob("table.parquet"))


def test_a_table_of_which_no_column_is_left_says_why(taken):
    words = pd.DataFrame({f"note{n}": [f"asked {i}, then {i * i}" for i in range(ROWS)] for n in range(7)})
    with pytest.raises(AuditError, match=r"\('note0': free text; .*'note4': free text; and 2 more\): write numbers"):
        taken(words.assign(churn=["no", "yes"] * (ROWS // 2)).to_csv(index=False))


@pytest.mark.parametrize("where", ["folder", "nothing", "a\0b"])
def test_a_path_that_is_not_a_file_is_refused(tmp_path, where):
    (tmp_path / "folder").mkdir()
    with pytest.raises(AuditError, match=r"is a folder|no such file|not a valid file name"):
        take_in(Request(str(tmp_path / where), "churn"), tmp_path / "audit")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path):
    (tmp_path / "table.csv").write_text(text())
    (tmp_path / "table.csv").chmod(0)
    with pytest.raises(AuditError, match="correct its permissions"):
        take_in(Request(str(tmp_path / "table.csv"), "churn"), tmp_path / "audit")


def test_columns_that_are_the_same_in_all_rows_are_named(taken):
    """Also of texts and of decimal commas, but not one with missing cells, nor one that differs where it counts."""
    same = {"land": "DE", "one": 7, "comma": "1,5"}
    others = {"gaps": ["x", *[None] * (ROWS - 1)], "all_but_one": [*["x"] * (ROWS - 1), "y"]}
    table = frame(**same, **others)
    facts, _ = taken(table.to_csv(index=False, sep=";"))
    assert sorted(facts["constant"]) == ["comma", "land", "one"]
    assert facts["readings"]["comma"] == "decimal comma"
    assert taken(text(), "other.csv")[0]["constant"] == []


NAMES = ["a{b}<c>$(touch p).csv", 'it\'s "quoted".csv', "a; rm -rf b.csv", "line\nbreak.csv", "*[x]?.csv", "-n.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_may_have_any_name(taken, tmp_path, name):
    facts, folder = taken(text(), name)
    assert facts["rows"] == facts["taken"] == ROWS
    assert facts["name"] == name
    assert not list(tmp_path.rglob("p"))
    assert source_file.stem(name).replace("-", "").replace("_", "").isalnum()
    copy = pd.read_parquet(folder / "table/table.parquet")
    assert list(copy.columns) == ["row", "target", "c0", "c1"]


@pytest.mark.parametrize(
    "name", ['"; DROP TABLE raw; --', "a b", "<script>alert(1)</script>", "${x}", "a\nb", "{0}", "id"]
)
def test_a_column_may_have_any_name_and_the_copy_does_not_hold_it(taken, name):
    table = frame().rename(columns={"city": name})
    facts, folder = taken(table.to_csv(index=False), by=[name])
    assert facts["columns"]["c1"] == {"name": name, "type": "categorical", "use": True}
    assert facts["by"] == ["c1"]
    assert name not in pd.read_parquet(folder / "table/table.parquet").columns


def test_rows_without_a_target_are_left_out_and_the_others_keep_their_number(taken):
    table = frame()
    table.loc[[0, 5], "churn"] = None
    facts, folder = taken(table.to_csv(index=False))
    copy = pd.read_parquet(folder / "table/table.parquet")
    assert (facts["rows"], facts["without_target"], facts["taken"]) == (ROWS, 2, ROWS - 2)
    kept = table.drop([0, 5])
    assert list(copy["row"]) == [i + 1 for i in kept.index]
    assert list(copy["c0"]) == list(kept["age"])
    assert list(copy["target"]) == list(kept["churn"])


def test_sorted_safe_names_keep_the_tables_order(taken):
    named = {f"x{place}": np.arange(ROWS) % (place + 3) for place in range(9, -1, -1)}
    facts = taken(text(**named))[0]
    table = frame(**named).drop(columns="churn")
    again = json.loads(json.dumps(facts, sort_keys=True))
    assert [column["name"] for column in again["columns"].values()] == list(table.columns)


def test_a_numeric_target_stays_a_number_and_row_numbers_are_left_out(taken):
    values = np.random.default_rng(1).normal(size=ROWS)
    facts, folder = taken(text(churn=values, number=range(7, 7 + ROWS)))
    copy = pd.read_parquet(folder / "table/table.parquet")
    np.testing.assert_allclose(copy["target"], values)
    assert (facts["kind"], facts["task"], facts["classes"]) == ("regression", "a number, predicted by regression", 0)
    assert facts["left_out"] == {"number": "numbers the rows"}


def test_a_large_table_is_sampled_by_unit_and_reproducibly(taken):
    table = text(household=np.repeat(np.arange(ROWS // 4), 4), pay=np.random.default_rng(1).normal(size=ROWS))
    facts, folder = taken(table, group="household", rows=63)
    first = pd.read_parquet(folder / "table/table.parquet")
    assert facts["taken"] == len(first) == 60  # 15 households, none cut
    assert (first.groupby("group").size() == 4).all()
    assert first["row"].is_monotonic_increasing
    (folder / "table/facts.json").unlink()
    again, _ = taken(table, group="household", rows=63)
    assert again["taken"] == 60
    assert pd.read_parquet(folder / "table/table.parquet").equals(first)


def test_two_tables_do_not_share_a_folder(taken, tmp_path):
    _, folder = taken(text(), "a.csv")
    (tmp_path / "b.csv").write_text(text())
    with pytest.raises(AuditError, match="holds the audit of another table"):
        take_in(Request(str(tmp_path / "b.csv"), "churn"), folder)
    assert source_file.stem("data.2023.csv") != source_file.stem("data.2024.csv.gz")


def test_a_refused_request_leaves_a_finished_audit_as_it_is(taken, tmp_path):
    _, folder = taken(text())
    private = folder / "table"
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in private.iterdir()}
    for wrong in ({"group": "nobody"}, {"infer": ["churn"]}, {"rows": 5}):
        with pytest.raises(AuditError):
            taken(text(), **wrong)
    with pytest.raises(AuditError, match="no column 'chrn'; did you mean"):
        take_in(Request(str(tmp_path / "table.csv"), "chrn"), folder)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in private.iterdir()} == before


def test_a_refused_request_does_not_change_the_next_one(taken):
    table = frame(other=np.resize(["a", "b", "c"], ROWS), note="same").to_csv(index=False)
    first, folder = taken(table, drop=["other", "note"])
    with pytest.raises(AuditError, match="left out, so its categories"):
        taken(table, target="other", drop=["churn", "note"], by=["note"])
    again, _ = taken(table, drop=["other", "note"])
    copy = pd.read_parquet(folder / "table/table.parquet")
    assert again["task"] == first["task"] == "2 classes"
    assert set(copy["target"]) == {"yes", "no"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "foo"}, "--encoding 'foo': is not an encoding"),
        ({"delimiter": "\\t"}, "--delimiter .*: must be one character"),
        ({"rows": 5}, "5 rows with a target are too few"),
    ],
)
def test_a_wrong_option_is_one_clear_line(taken, options, message):
    with pytest.raises(AuditError, match=message) as error:
        taken(text(), **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("rows", "options", "sampled"), [(50, {}, False), (80, {"rows": 5}, True)])
def test_too_few_rows_are_blamed_on_rows_only_where_it_is_the_cause(taken, rows, options, sampled):
    with pytest.raises(AuditError, match="at least 60 are needed") as error:
        taken(frame(rows).to_csv(index=False), **options)
    assert ("--rows" in str(error.value)) == sampled


def test_a_damaged_gzip_is_one_clear_line(taken):
    content = bytearray(gzip.compress(text().encode() * 200))
    content[200:260] = bytes(60)
    with pytest.raises(AuditError, match=r"cannot be read|damaged"):
        taken(bytes(content), "table.csv.gz")


def test_names_that_hold_sql_do_no_harm(taken, tmp_path):
    evil = "__index_level_a) FROM (SELECT 1 AS __index_level_a)) TO 'pwned.csv' (FORMAT csv); --"
    table = frame()
    table[evil] = np.arange(ROWS) % 5
    table["emb"] = [[0.1, 0.2]] * ROWS
    table.to_parquet(tmp_path / "evil.parquet", index=False)
    facts, _ = taken((tmp_path / "evil.parquet").read_bytes(), "t.parquet", drop=["emb"])
    assert [column["name"] for column in facts["columns"].values() if column["use"]] == ["age", "city"]
    assert not list(tmp_path.rglob("pwned.csv"))


def test_a_reserved_name_is_refused(taken):
    with pytest.raises(AuditError, match="rename it"):
        taken(frame(file_row_number=1).to_csv(index=False))


def test_a_name_that_begins_like_a_home_folder_is_kept(taken, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~$t.csv").write_text(text())
    assert take_in(Request("~$t.csv", "churn"), tmp_path / "audit")["rows"] == ROWS


def test_a_column_without_values_where_there_is_a_target_is_left_out(taken):
    table = frame(refund=np.nan)
    table.loc[:4, "refund"], table.loc[:4, "churn"] = 1.5, None
    facts, _ = taken(table.to_csv(index=False))
    assert facts["left_out"]["refund"] == "missing in every row"


def test_a_target_of_numbers_is_finite(taken):
    table = frame().assign(amount=[*range(30), float("-inf"), *range(ROWS - 31)])
    with pytest.raises(AuditError, match="--target 'amount': data row 31 holds a number beyond"):
        taken(table.to_csv(index=False), target="amount", drop=["churn"])


def test_the_users_task_replaces_that_of_the_values(taken):
    table = frame().assign(grade=np.arange(ROWS) % 5).to_csv(index=False)
    assert taken(table, target="grade", drop=["churn"])[0]["kind"] == "classification"
    assert taken(table, target="grade", drop=["churn"], task="regression")[0]["kind"] == "regression"


def test_a_household_larger_than_the_sample_is_refused(taken):
    with pytest.raises(AuditError, match="0 rows with a target are too few"):
        taken(text(household=1), group="household", rows=ROWS - 1)


def test_a_row_without_a_household_is_refused(taken):
    with pytest.raises(AuditError, match=r"--group 'household': missing in data row 3; .* or give --lone-rows"):
        taken(text(household=[1, 2, None, *range(77)]), group="household")


def test_rows_without_a_household_are_persons_of_their_own_on_request(taken):
    households = [1, 2, None, None, *range(76)]
    pay = np.random.default_rng(1).normal(size=ROWS)
    facts, folder = taken(text(household=households, pay=pay), group="household", lone_rows=True)
    assert facts["lone"] == 2
    units = pd.read_parquet(folder / "table/table.parquet")["group"]
    assert units.notna().all()
    alone = units[units.str.startswith("memaudit: ")]
    assert alone.nunique() == len(alone) == 2


def test_rare_classes_of_a_table_are_one_class_on_request(taken):
    facts, folder = taken(text(churn=["x", "y", "z", "w", *["yes", "no"] * 38]), merge_rare=True)
    assert (facts["task"], facts["classes"]) == ("3 classes, one of them 4 rare ones together (4 rows)", 3)
    assert facts["rare"] == dict.fromkeys("wxyz", 1)
    assert (pd.read_parquet(folder / "table/table.parquet")["target"] == "other classes").sum() == 4


def test_the_users_edits_of_the_schema_are_used(taken):
    _, folder = taken(text())
    path = folder / "schema.yaml"
    schema = yaml.safe_load(path.read_text())
    assert SECRET not in path.read_text()
    schema["columns"][0]["type"] = "categorical"
    schema["columns"][1]["use"] = False
    path.write_text(yaml.safe_dump(schema))
    facts, _ = taken(text())
    assert facts["columns"]["c0"]["type"] == "categorical"
    copy = duckdb.sql(f"DESCRIBE SELECT * FROM '{folder}/table/table.parquet'").fetchall()
    assert [(name, kind) for name, kind, *_ in copy] == [("row", "BIGINT"), ("target", "VARCHAR"), ("c0", "VARCHAR")]


def test_semicolons_gzip_and_parquet_are_read_alike(taken, tmp_path):
    whole = frame()
    _, folder = taken(whole.to_csv(index=False, sep=";"))
    plain = pd.read_parquet(folder / "table/table.parquet")
    taken(gzip.compress(whole.to_csv(index=False).encode()), "t.csv.gz")
    assert pd.read_parquet(folder / "table/table.parquet").equals(plain)
    whole.to_parquet(tmp_path / "t.parquet")
    taken((tmp_path / "t.parquet").read_bytes(), "t.parquet")
    assert pd.read_parquet(folder / "table/table.parquet").equals(plain)


def test_only_the_owner_can_read_the_copy(tmp_path):
    before = os.umask(0o077)
    try:
        (tmp_path / "t.csv").write_text(text())
        take_in(Request(str(tmp_path / "t.csv"), "churn"), tmp_path / "audit")
    finally:
        os.umask(before)
    for path in Path(tmp_path, "audit").rglob("*"):
        if not path.is_symlink():
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_a_huge_cell_is_reported_with_its_line(taken):
    with pytest.raises(AuditError, match="line 2 ") as error:
        taken(text(note=["x" * 10_000_000, *["y"] * (ROWS - 1)]))
    assert len(str(error.value)) < 400


def test_a_wide_table_is_read_and_a_wider_one_refused_at_once(taken):
    def wide(columns):
        cells = np.random.default_rng(0).integers(0, 9, (ROWS, columns))
        return frame().join(pd.DataFrame(cells).rename(columns="x{}".format)).to_csv(index=False)

    facts, folder = taken(wide(98))
    copy = pd.read_parquet(folder / "table/table.parquet")
    assert facts["taken"] == len(copy) == ROWS
    assert copy.shape[1] == 102
    with pytest.raises(AuditError, match="3002 columns besides the target, an audit reads at most 500"):
        taken(wide(3000), "wider.csv")


def test_rows_are_counted_without_duplicates(taken):
    table = pd.concat([frame(25)] * 8)
    with pytest.raises(AuditError, match="25 of 200 rows are left without duplicates"):
        taken(table.to_csv(index=False))
    disputed = pd.concat([frame(70), frame(70).assign(churn="yes"), frame(70).assign(churn="no")])
    assert taken(disputed.to_csv(index=False), "disputed.csv")[0]["taken"] == 210
    with pytest.raises(AuditError, match="0 of 210 rows are left without duplicates"):
        taken(disputed.assign(person=np.arange(210)).to_csv(index=False), "persons.csv", group="person")


def test_a_number_that_no_model_can_read_is_refused_under_its_columns_name(taken):
    with pytest.raises(AuditError, match=r"column 'age': data row 2 holds a number beyond 3.4e\+38"):
        taken(text(age=[1, "1e39", *range(78)]))
    assert taken(text(age=[1, "3e38", *range(78)]), "large.csv")[0]["taken"] == ROWS


def test_columns_that_the_tool_leaves_out_stay_so_when_the_schema_is_edited(taken):
    table = {"number": range(ROWS), "pay": [i * i / 7 for i in range(ROWS)], "gone": "x"}
    table |= {"note": [f"asked {i}, then {i * i}" for i in range(ROWS)]}
    facts, folder = taken(text(**table), drop=["gone"])
    reasons = {"number": "numbers the rows", "note": "free text", "gone": "by your choice"}
    assert facts["left_out"] == reasons
    path = folder / "schema.yaml"
    schema = yaml.safe_load(path.read_text())
    next(column for column in schema["columns"] if column["name"] == "age")["use"] = False
    path.write_text(yaml.safe_dump(schema))
    assert taken(text(**table), drop=["gone"])[0]["left_out"] == reasons | {"age": "by your choice"}


def test_words_are_left_out_for_what_they_are(taken):
    table = {"code": [f"K{85_000 + 7 * i}" for i in range(ROWS)]}
    table |= {"firm": [f"Firm No. {i // 2}" for i in range(ROWS)], "badge": [f"P{i // 2}" for i in range(ROWS)]}
    table |= {"note": [f"asked {i}, then {i * i}" for i in range(ROWS)]}
    table |= {"story": [f"{i // 2} " + "came and went " * 5 for i in range(ROWS)]}
    assert taken(text(**table))[0]["left_out"] == {
        "code": "an identifier: hardly any value repeats",
        "firm": f"too many categories ({ROWS // 2})",
        "badge": f"too many categories ({ROWS // 2})",
        "note": "free text",
        "story": "free text",
    }


def test_a_column_that_the_user_calls_text_is_not_said_to_have_too_many_categories(taken):
    path = taken(text())[1] / "schema.yaml"
    schema = yaml.safe_load(path.read_text())
    next(column for column in schema["columns"] if column["name"] == "city")["type"] = "text"
    path.write_text(yaml.safe_dump(schema))
    assert taken(text())[0]["left_out"] == {"city": "free text"}


def test_columns_left_out_by_choice_are_among_the_facts(taken):
    facts, folder = taken(text(note="same"), drop=["note"])
    assert facts["columns"]["c3"] == {"name": "note", "type": None, "use": False}
    assert facts["left_out"]["note"] == "by your choice"
    assert "note" not in (folder / "schema.yaml").read_text()


@pytest.mark.parametrize(
    ("infer", "more", "message"),
    [
        (["incme"], {}, "--infer: the table has no column 'incme'"),
        (["churn"], {}, "--infer 'churn' is the --target"),
        (["household"], {"group": "household"}, "--infer 'household' is the --group"),
        (["same"], {}, "--infer 'same': "),
        (["wage", "wage"], {}, "--infer: a column is named twice"),
        (["wage"], {"drop": ["wage"]}, "--infer 'wage': the model never sees this column"),
    ],
)
def test_a_column_that_cannot_be_inferred_is_refused(taken, infer, more, message):
    rng = np.random.default_rng(0)
    facts = {"wage": rng.normal(size=120).round(3), "age": rng.normal(size=120).round(3), "same": ["a"] * 120}
    facts |= {"household": [f"h{number // 2}" for number in range(120)], "churn": ["yes", "no"] * 60}
    content = pd.DataFrame(facts).to_csv(index=False)
    with pytest.raises(AuditError) as error:
        taken(content, infer=infer, target="churn", **more)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
