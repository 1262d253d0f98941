"""The rules' scripts, run by hand one after the other, from a fetch to the file that later jobs depend on."""

import json
import os
import re
import runpy
import stat
import subprocess
import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.workflow.digest import script_of
from memaudit.workflow.job import Paths

LIMITS = {"tvd": 0.05, "ks": 0.05, "wasserstein": 0.05, "p_value": 0.001}


@pytest.fixture
def by_hand(project, tmp_path):
    """Run a script as its docstring says, in an empty folder; its exit code and what it said last."""

    def call(name, inputs, outputs, params, wildcards):
        command = [
            sys.executable, str(script_of(name)),
            "--input", *inputs, "--output", *outputs,
            "--params", json.dumps(params), "--wildcards", json.dumps(wildcards),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    return call


@pytest.fixture
def in_process(project, tmp_path, monkeypatch):
    """Call a script's main here, without the seconds that a new process needs; its error, or an empty text."""
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o077)

    def call(name, inputs, outputs, params, wildcards):
        main = runpy.run_path(str(script_of(name)))["main"]
        job = {"input": Paths(inputs), "output": Paths(outputs), "threads": 1}
        job |= {"params": SimpleNamespace(**params), "wildcards": SimpleNamespace(**wildcards)}
        try:
            main(SimpleNamespace(**job))
        except AuditError as error:
            return 1, str(error)
        return 0, ""

    yield call
    os.umask(before)


def prepare(run, path, policy, settings, limits=LIMITS):
    """Key, table, records, split with its checks: the result of the last step that ran."""
    steps = [
        ("data_make_key", [], ["id.key"], {"public_id_key": None}),
        (
            "data_fetch_table", [], ["table=d/raw.parquet", "facts=d/raw.json"],
            {"entry": {"source": "file", "path": str(path)}, "openml_cache": None, "downloads": "downloads"},
        ),
        (
            "data_deduplicate_table", ["table=d/raw.parquet", "facts=d/raw.json", "key=id.key"],
            ["records=d/records.parquet", "schema=d/schema.json", "counts=d/dedup.parquet"], {"policy": policy},
        ),
        (
            "data_split_records", ["records=d/records.parquet", "schema=d/schema.json"],
            ["split=d/splits/main.parquet", "checks=d/splits/main.checks.parquet"],
            {"settings": settings, "limits": limits, "seed": 1},
        ),
    ]  # fmt: skip
    for name, inputs, outputs, params in steps:
        code, line = run(name, inputs, outputs, params, {"dataset": "people", "split": "main"})
        if code:
            break
    return code, line


def people(tmp_path, rows=200):
    path = tmp_path / "people.csv"
    lines = [f"{i},{'cook' if i % 3 else 'nurse'},{'high' if i % 2 else 'low'}" for i in range(rows)]
    path.write_text("\n".join(["age,job,pay", *lines, lines[0]]))
    return path


POLICY = {"task": "classification", "target": "pay", "duplicates": "drop", "conflicts": "keep"}
HALVES = {"members": 0.5, "nonmembers": 0.5}


def test_a_users_table_goes_all_the_way_and_stays_theirs(by_hand, tmp_path):
    assert prepare(by_hand, people(tmp_path), POLICY, HALVES) == (0, "")
    checks = pd.read_parquet(tmp_path / "d/splits/main.checks.parquet").set_index("metric")["estimate"]
    assert checks["shared_ids"] == 0
    assert checks["tvd"] <= LIMITS["tvd"]
    split = pd.read_parquet(tmp_path / "d/splits/main.parquet")
    assert split["side"].value_counts().to_dict() == {"members": 100, "nonmembers": 100}
    counts = pd.read_parquet(tmp_path / "d/dedup.parquet").set_index("metric")["estimate"]
    assert counts[["rows", "duplicates", "records"]].tolist() == [201, 1, 200]
    files = [path for path in (tmp_path / "d").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in [*files, tmp_path / "id.key"]} == {0o600}
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o700


def test_how_a_column_is_read_is_told_with_its_name_as_it_is(in_process, tmp_path, capfd):
    path = tmp_path / "people.csv"
    lines = [f'"{i % 90},5",{i % 7},{"high" if i % 2 else "low"}' for i in range(200)]
    path.write_text("\n".join(["Größe (cm),\x1bage,pay", *lines]), encoding="utf-8")
    assert prepare(in_process, path, POLICY, HALVES)[0] in (0, 1)
    told = capfd.readouterr().err
    assert "memaudit: data set people, read as: 'Größe (cm)': decimal comma" in told
    assert "\x1b" not in told


def test_an_unfair_split_stops_with_data_set_statistic_value_and_threshold(in_process, tmp_path):
    code, line = prepare(in_process, people(tmp_path), POLICY, {"members": 3, "nonmembers": 100})
    assert code == 1
    assert "data set people, split main: tvd 0.167 exceeds the limit 0.05" in line
    assert list((tmp_path / "d/splits").iterdir()) == []


@pytest.mark.parametrize(
    ("policy", "settings", "line"),
    [
        (POLICY | {"target": "wage"}, HALVES, "data set people .*target: there is no column 'wage'"),
        (POLICY | {"target": None}, HALVES, "data set people: its source names no target"),
        (POLICY, {"members": 150, "nonmembers": 60}, "data set people, split main: 150 members and 60 non-members"),
    ],
)
def test_bad_settings_end_in_one_line(in_process, tmp_path, policy, settings, line):
    code, said = prepare(in_process, people(tmp_path), policy, settings)
    assert code == 1
    assert re.search(line, said), said
