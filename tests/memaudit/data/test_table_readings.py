"""Tables as people have them, through the intake: features, target, types of Parquet files, and schema.yaml."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import yaml

from memaudit.auditing import command_line
from memaudit.auditing.reading.intake import take_in
from memaudit.auditing.reading.request import Request
from memaudit.common.errors import AuditError
from memaudit.data.column_readings import Choices
from memaudit.data.column_schema import Roles
from memaudit.data.deduplication import deduplicate, policy_of
from memaudit.data.duckdb_engine import connect
from memaudit.data.table_readings import read_table
from memaudit.data.table_sources import fetch

ROWS = 90
RNG = np.random.default_rng(1)
PAY = RNG.integers(10_000, 9_999_999, ROWS) / 100
DAYS = pd.Timestamp("2001-02-03") + pd.to_timedelta(RNG.integers(0, 5000, ROWS), "D")
THREE = [f"{1 + i % 9},{100 + i}" for i in range(ROWS)]


def frame(**columns):
    facts = {
        "pay": [f"{value:.2f} €".replace(".", ",") for value in PAY],
        "since": DAYS.strftime("%d.%m.%Y"),
        "plz": [f"{i % 7:05d}" for i in range(ROWS)],
        "churn": RNG.choice(["ja", "nein"], ROWS),
    }
    return pd.DataFrame(facts | columns)


@pytest.fixture
def taken(tmp_path):
    """Write a table, and run the intake on it: its facts, its copy and its schema."""

    def take(table, target="churn", name="t.csv", **options):
        path, folder = tmp_path / name, tmp_path / f"audit of {name}"
        table.to_parquet(path) if name.endswith("parquet") else table.to_csv(path, sep=";", index=False)
        folder.mkdir(exist_ok=True)
        facts = take_in(Request(str(path), target, **options), folder)
        return facts, pd.read_parquet(folder / "table/table.parquet"), folder / "schema.yaml"

    return take


def test_a_german_table_is_read_and_the_readings_are_recorded(taken, capsys):
    facts, copy, schema = taken(frame())
    np.testing.assert_array_equal(copy["c0"], PAY)
    assert pd.DatetimeIndex(copy["c1"]).tolist() == DAYS.tolist()
    assert copy["c2"].tolist() == [f"{i % 7:05d}" for i in range(ROWS)]
    recorded = {column["name"]: column for column in yaml.safe_load(schema.read_text())["columns"]}
    assert [column["type"] for column in recorded.values()] == ["numeric", "date", "categorical"]
    assert recorded["pay"]["reading"] == "decimal comma, the same sign or unit in all cells is left out"
    command_line.report("schema", facts | {"models": ["m"]})
    printed = capsys.readouterr().out
    assert "numeric (decimal comma" in printed
    assert "date (dates (day, month, year))" in printed
    assert "categorical (codes" in printed
    assert not list(schema.parent.rglob("read.parquet"))


def test_a_target_is_read_like_a_column(taken):
    facts, copy, _ = taken(frame(), target="pay", drop=["churn"])
    assert facts["kind"] == "regression"
    np.testing.assert_array_equal(copy["target"], PAY)
    assert "decimal comma" in facts["readings"]["pay"]


def test_a_target_of_dates_is_days(taken):
    for name in ("t.csv", "t.parquet"):
        table = frame(number=RNG.normal(size=ROWS))
        table = table if name == "t.csv" else table.assign(since=DAYS)
        facts, copy, _ = taken(table, target="since", drop=["churn", "pay"], name=name)
        assert facts["kind"] == "regression"
        np.testing.assert_allclose(copy["target"], (DAYS - pd.Timestamp(0)) / pd.Timedelta("1D"))
        assert "days since 1970-01-01" in facts["readings"]["since"]


def test_a_target_of_codes_is_classes(taken):
    facts, _, _ = taken(frame(plz=[f"{i % 12:03d}" for i in range(ROWS)]), target="plz")
    assert (facts["kind"], facts["classes"]) == ("classification", 12)


def test_a_target_with_two_readings_is_asked_about(taken):
    table = frame(net=THREE)
    with pytest.raises(AuditError, match="column 'net': its numbers can be read in two ways"):
        taken(table, target="net", drop=["pay"])
    _, copy, _ = taken(table, target="net", drop=["pay"], decimal=",")
    np.testing.assert_allclose(copy["target"], [float(cell.replace(",", ".")) for cell in THREE])


def test_the_schema_decides_for_one_column(taken):
    table = frame(net=THREE, gross=THREE).drop(columns="pay")
    _, copy, schema = taken(table, decimal=".")
    edited = yaml.safe_load(schema.read_text())
    edited["columns"][-1]["decimal"] = ","
    schema.write_text(yaml.safe_dump(edited))
    _, copy, _ = taken(table, decimal=".")
    np.testing.assert_allclose(copy["c3"], 1000 * copy["c4"])
    edited["columns"][-1]["decimal"] = ";"
    schema.write_text(yaml.safe_dump(edited))
    with pytest.raises(AuditError, match="decimal must be"):
        taken(table, decimal=".")


def test_types_of_a_parquet_file_are_kept_and_recorded(taken):
    table = frame(
        pay=[Decimal(f"{value:.2f}") for value in PAY],
        since=DAYS.date,
        seen=DAYS.tz_localize("America/New_York"),
        text=[f"{i},5" for i in range(ROWS)],
    )
    facts, copy, schema = taken(table, name="t.parquet")
    np.testing.assert_allclose(copy["c0"], PAY)
    assert pd.DatetimeIndex(copy["c1"]).tolist() == DAYS.tolist()
    seen = DAYS.tz_localize("America/New_York").tz_convert("UTC").tz_localize(None)
    assert pd.DatetimeIndex(copy["c4"]).tolist() == seen.tolist()
    assert facts["readings"]["pay"].startswith("decimal(")
    assert facts["readings"]["since"] == "date"
    assert "in UTC" in facts["readings"]["seen"]
    assert "look like numbers" in facts["readings"]["text"]
    assert "decimal(" in schema.read_text()


def test_numbers_of_a_parquet_file_are_none_of_the_codes_of_its_target(taken):
    table = frame(churn=[f"{i % 22:03d}" for i in range(ROWS)], age=np.arange(ROWS) % 40)
    _, copy, schema = taken(table, name="t.parquet")
    recorded = {column["name"]: column for column in yaml.safe_load(schema.read_text())["columns"]}
    assert recorded["age"]["type"] == "numeric"
    assert copy["target"].nunique() == 22


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"net": THREE, "pay": 1}, "'net': its numbers can be read in two ways"),
        ({"day": ["03/04/2020", "05/06/2020"] * 45}, "--dates dmy"),
        ({"rate": ["12 %", "0.12"] * 45}, "'rate' mixes 45 numbers with 45"),
    ],
)
def test_the_command_asks_in_one_line(tmp_path, capsys, columns, message):
    frame(**columns).to_csv(tmp_path / "t.csv", sep=";", index=False)
    command = ["audit", str(tmp_path / "t.csv"), "--target", "churn", "--into", str(tmp_path / "into")]
    assert command_line.main(command) == 1
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1
    assert not (tmp_path / "into").exists()


@pytest.fixture
def study(tmp_path):
    """Write a table, and read it as a study does: its records, schema and features by source."""

    def read(table, delimiter=";", name="s.csv", **settings):
        path, raw = tmp_path / name, tmp_path / "raw.parquet"
        table.to_parquet(path) if name.endswith("parquet") else table.to_csv(path, sep=delimiter, index=False)
        facts = fetch({"source": "file", "path": str(path)}, raw, tmp_path)
        policy = policy_of(facts, {"task": "classification", "target": "churn", **settings})
        schema, _ = deduplicate(raw, tmp_path / "records.parquet", b"key", policy, "s")
        records = pd.read_parquet(tmp_path / "records.parquet")
        return records, schema, {column["source"]: column["type"] for column in schema["columns"]}

    return read


def wide():
    numbered = RNG.permutation(ROWS) + 1000
    share = [f"{i % 60 + 20} %" for i in range(ROWS)]
    return frame(number=numbered, share=share, thousands=[f"{i + 1}.{i + 100}.500,75" for i in range(ROWS)])


def test_a_study_reads_a_table_as_an_audit_does(taken, study):
    table = wide()
    facts, copy, _ = taken(table)
    records, schema, types = study(table)
    assert types == {one["name"]: one["type"] for one in facts["columns"].values() if one["use"]}
    assert schema["left_out"] == facts["left_out"] == {"number": "numbers the rows"}
    assert schema["readings"] == facts["readings"]
    for safe, column in facts["columns"].items():
        if column["use"]:
            pd.testing.assert_series_equal(records[column["name"]], copy[safe], check_names=False, check_dtype=False)


def test_a_study_of_a_parquet_file_reads_what_the_catalogue_declares(study):
    table = frame(number=RNG.permutation(ROWS))
    _, schema, types = study(table, name="s.parquet")
    assert schema["left_out"] == {"number": "numbers the rows"}
    assert (types["pay"], types["since"]) == ("text", "text")
    records, _, types = study(table, name="s.parquet", types={"pay": "numeric", "since": "date", "number": "numeric"})
    np.testing.assert_array_equal(records["pay"], PAY)
    assert (types["since"], types["number"]) == ("date", "numeric")


def test_a_type_that_is_named_needs_no_remark(tmp_path):
    table = frame().assign(since=pd.date_range("2024-01-01", periods=ROWS))
    table.to_parquet(tmp_path / "typed.parquet")
    roles = Roles("classification", "churn", typed=True)
    with connect(tmp_path) as connection:
        found = read_table(connection, tmp_path / "typed.parquet", roles, Choices(typed=True), None)
    assert found.remarks["since"].startswith("timestamp")
    with connect(tmp_path) as connection:
        chosen = Choices({"since": "date"}, typed=True)
        assert "since" not in read_table(connection, tmp_path / "typed.parquet", roles, chosen, None).remarks


def test_a_study_asks_in_the_words_of_the_catalogue(study):
    with pytest.raises(
        AuditError, match=r"'net'.*`decimal: ,`.*declare it \(types: \{net: categorical\}\) or `drop` it"
    ):
        study(frame(net=THREE).drop(columns="pay"))
    records, *_ = study(frame(net=THREE).drop(columns="pay"), decimal=",")
    np.testing.assert_allclose(records["net"], [float(cell.replace(",", ".")) for cell in THREE])
    with pytest.raises(AuditError, match="no features are left: 'number': numbers the rows"):
        study(frame(number=range(ROWS))[["number", "churn"]])
    with pytest.raises(AuditError, match="target: there is no column 'chrn'"):
        study(frame(), target="chrn")


def test_a_study_predicts_numbers_in_any_notation(study):
    records, *_ = study(frame().drop(columns="churn"), task="regression", target="pay")
    np.testing.assert_array_equal(records["target"], PAY)


def test_free_text_is_named_and_kept_for_models_that_read_it(study):
    _, schema, types = study(frame(note=[f"asked {i} times, then {i * i}" for i in range(ROWS)]))
    assert types["note"] == "text"
    assert schema["readings"]["note"] == "free text (read by models of text alone)"


def test_a_study_says_what_a_column_of_words_is(study):
    columns = {"code": [f"K{85_000 + 7 * i}" for i in range(ROWS)], "firm": [f"Firm No. {i // 2}" for i in range(ROWS)]}
    readings = study(frame(**columns))[1]["readings"]
    assert readings["code"] == "an identifier: hardly any value repeats (read by models of text alone)"
    assert readings["firm"] == f"too many categories ({ROWS // 2}) (read by models of text alone)"
