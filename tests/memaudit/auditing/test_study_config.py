"""The config that `memaudit init` writes can be run as it is, and can be read where names are strange."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import PROJECT, load, merge

from memaudit.auditing import study_config
from memaudit.auditing.reading.request import Request
from memaudit.commands.launcher import main
from memaudit.common.errors import AuditError
from memaudit.workflow.study_catalogue import prepare


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def customers(rows=400, name="customers.csv"):
    rng = np.random.default_rng(0)
    owner = np.arange(rows) // 2
    frame = pd.DataFrame({"owner": owner, "age": rng.integers(18, 90, rows), "spent": rng.normal(size=rows)})
    frame.assign(churn=np.where(owner % 3, "yes", "no")).to_csv(name, index=False)
    return name


def config(*names, **roles):
    """The config of a table as it is written, and its text."""
    request = Request(*names, **roles)
    text = study_config.written(request, study_config.read(request, Path()), Path("mine.yaml"))
    return yaml.safe_load(text), text


@pytest.mark.parametrize("rows", [60, study_config.FEWEST_ROWS - 1, study_config.FEWEST_ROWS, 400])
def test_a_table_of_any_size_can_be_run_with_it(rows):
    written, text = config(customers(rows), "churn")
    merged = load()
    merge(merged, written)
    run, *_ = prepare(merged, PROJECT)
    assert run.config["lira"]["datasets"] == ["customers"]
    attacked = run.config["attacks"]["datasets"]
    assert attacked == (["customers"] if rows >= study_config.FEWEST_ROWS else [])
    assert run.table_size("customers")["known"]
    assert str(PROJECT / "config/README.md") in text


def test_fewer_rows_are_too_few_for_the_default_attacks():
    written, _ = config(customers(study_config.FEWEST_ROWS - 1), "churn")
    merged = load()
    merge(merged, written | {"attacks": written["attacks"] | {"datasets": ["customers"]}})
    with pytest.raises(AuditError, match="attacks/arms/settings"):
        prepare(merged, PROJECT)


def test_roles_of_columns_are_those_that_were_given():
    written, text = config(customers(), "churn", group="owner", drop=["spent"], infer=["age"])
    entry = written["datasets"]["customers"]
    assert (entry["group"], entry["drop"], entry["columns"], entry["rows"]) == ("owner", ["spent"], 1, 400)
    assert written["attacks"]["inference"]["sensitive"] == {"customers": "age"}
    assert "2 classes" in text


def test_a_column_that_looks_like_a_person_is_offered_as_the_group_and_not_inferred():
    written, text = config(customers(), "churn")
    assert "# group: owner" in text
    assert written["attacks"]["inference"]["sensitive"] == {"customers": "age"}


def test_a_number_is_predicted_by_the_study_that_takes_numbers():
    written, text = config(customers(), "spent")
    assert written["datasets"]["customers"]["task"] == "regression"
    assert (written["lira"]["datasets"], written["attacks"]["datasets"]) == ([], [])
    assert written["iclmem"]["datasets"] == ["customers"]
    assert "400 different numbers" in text


def test_a_table_of_a_name_of_the_catalogue_gets_an_entry_of_its_own():
    written, _ = config(customers(name="wine.csv"), "churn")
    assert list(written["datasets"]) == ["wine-own"]


@pytest.mark.parametrize("name", ["a: b", "#x", "no", "it's", "1", "{x", "a\nb", "é, [z]"])
def test_names_are_read_as_they_are_in_the_table(name):
    pd.DataFrame({name: ["u", "v"] * 40, "other": [i * i for i in range(80)]}).to_parquet("t.parquet")
    written, _ = config("t.parquet", name, infer=["other"])
    assert written["datasets"]["t"]["target"] == name


def test_a_delimiter_that_is_not_a_comma_is_written_down():
    pd.read_csv(customers()).to_csv("t.csv", index=False, sep=";")
    written, _ = config("t.csv", "churn")
    assert written["datasets"]["t"]["delimiter"] == ";"


@pytest.mark.parametrize(
    ("target", "roles", "message"),
    [
        ("churn", {"group": "ownr"}, "--group: the table has no column 'ownr'; did you mean `owner`"),
        ("churn", {"infer": ["churn"]}, "'churn' is named twice"),
        ("churn", {"drop": ["owner", "age", "spent"]}, "no feature"),
        ("churn", {"task": "regression"}, "holds words"),
        ("constant", {}, "has 1 values"),
        ("churn", {"delimiter": ";"}, "no column 'churn'"),
    ],
)
def test_what_cannot_be_run_is_refused(target, roles, message):
    customers()
    pd.read_csv("customers.csv").assign(constant=1).to_csv("customers.csv", index=False)
    roles = {name: [*value, "constant"] if name == "drop" else value for name, value in roles.items()}
    with pytest.raises(AuditError, match=message):
        config("customers.csv", target, **roles)


@pytest.mark.parametrize("stem", ["2024", "1_000", "2024-01-05", "null", "true"])
def test_a_file_of_a_name_that_yaml_reads_as_something_else_gets_a_name(stem):
    written, _ = config(customers(name=f"{stem}.csv"), "churn")
    assert list(written["datasets"]) == [f"table-{stem}"]
    assert written["run"] == f"table-{stem}"


def test_rows_without_a_target_are_dropped_and_counted():
    frame = pd.read_csv(customers())
    frame.loc[:2, "churn"] = None
    frame.to_csv("holes.csv", index=False)
    written, text = config("holes.csv", "churn")
    assert written["datasets"]["holes"]["missing_target"] == "drop"
    assert "of 3 rows" in text
    assert "missing_target" not in config(customers(), "churn")[0]["datasets"]["customers"]


def test_free_text_is_dropped_and_named():
    frame = pd.read_csv(customers())
    words = np.random.default_rng(1).integers(0, 9999, (len(frame), 6)).astype(str)
    frame.assign(note=["asked for " + " ".join(row) + " again" for row in words]).to_csv("notes.csv", index=False)
    written, text = config("notes.csv", "churn", drop=["spent"])
    assert written["datasets"]["notes"]["drop"] == ["spent", "note"]
    assert "# 'note': free text" in text


def test_identifiers_are_dropped_as_such():
    frame = pd.read_csv(customers())
    frame.assign(code=[f"K{85_000 + 7 * place}" for place in range(len(frame))]).to_csv("codes.csv", index=False)
    written, text = config("codes.csv", "churn")
    assert written["datasets"]["codes"]["drop"] == ["code"]
    assert "# 'code': an identifier: hardly any value repeats" in text


def test_what_the_first_job_could_not_read_is_said_before():
    pd.read_csv(customers()).assign(empty=None).to_csv("empty.csv", index=False)
    with pytest.raises(AuditError, match="column 'empty': missing in every row"):
        config("empty.csv", "churn")


def test_a_table_is_read_as_an_audit_reads_it_and_what_is_left_out_is_named(capsys):
    frame = pd.read_csv(customers()).drop(columns="spent")
    paid = [f"{i % 50},{i % 7}" for i in range(len(frame))]
    frame.insert(0, "number", range(1, len(frame) + 1))
    frame.assign(paid=paid, code=[f"{i % 9:05d}" for i in range(len(frame))]).to_csv("t.csv", sep=";", index=False)
    assert main(["init", "t.csv", "--target", "churn", "--missing", "none", "--categorical", "age"]) == 0
    entry = yaml.safe_load(Path("mine.yaml").read_text())
    assert entry["attacks"]["inference"]["sensitive"] == {"t": "age"}
    table = entry["datasets"]["t"]
    assert (table["drop"], table["columns"]) == (["number"], 4)
    assert table["missing"] == ["?", "NA", "NaN", "nan", "none"]
    assert table["types"] == {"age": "categorical"}
    printed = capsys.readouterr().out
    assert "left out: 'number': numbers the rows" in printed
    assert "read as: 'paid': decimal comma" in printed
    with pytest.raises(AuditError, match=r"--sensitive 'number': the studies leave it out \(numbers the rows\)"):
        config("t.csv", "churn", infer=["number"])


def test_cells_with_two_readings_are_asked_about_once_and_the_answer_is_written_down():
    frame = pd.read_csv(customers()).drop(columns="spent")
    frame.assign(net=[f"{1 + i % 9},{100 + i}" for i in range(len(frame))]).to_csv("t.csv", sep=";", index=False)
    with pytest.raises(AuditError, match=r"'net'.*--decimal ,"):
        config("t.csv", "churn")
    assert config("t.csv", "churn", decimal=",")[0]["datasets"]["t"]["decimal"] == ","
