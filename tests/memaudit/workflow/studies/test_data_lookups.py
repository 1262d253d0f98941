"""Look-ups of rules/data.smk."""

from types import SimpleNamespace

import pytest
from conftest import PROJECT, load

from memaudit.common.errors import AuditError
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.data_lookups import Data

WINE = SimpleNamespace(dataset="wine", split="half")


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = RunConfig(load("smoke"), PROJECT)
    run.config["data"] |= {"datasets": ["wine"], "duplicates": "keep", "conflicts": "drop_both"}
    run.config["data"]["splits"] = {"half": {"members": 0.5, "nonmembers": 0.5}}
    return Data(run)


def test_results_are_one_file_a_table_or_a_split(data):
    assert data.results["dedup"] == ["<results>/data/wine/dedup.parquet"]
    assert data.results["checks"] == ["<results>/data/wine/splits/half.checks.parquet"]


def test_readers_are_told_what_to_know_of_a_table(data):
    entry = data.run.config["datasets"]["wine"]
    entry |= {"licence": "unknown", "note": "old"}
    entry["limits"]["reason"] = "small"
    [row] = data.names["data_sets"]
    assert row == ["wine", "classification", "sklearn", 178, "unknown", "licence unknown; wider limits: small; old"]


def test_a_users_own_file_is_an_input_and_must_be_there(data, tmp_path):
    assert data.file(WINE) == []
    data.run.config["datasets"]["wine"] |= {"source": "file", "path": "wine.csv"}
    with pytest.raises(AuditError, match=r"datasets/wine/path: there is no file wine\.csv; give the path"):
        data.file(WINE)
    (tmp_path / "wine.csv").touch()
    assert data.file(WINE) == "wine.csv"


def test_an_audit_reads_all_rows_in_their_order(data):
    data.run.config["datasets"]["wine"] |= {"group": "household", "drop": ["row"]}
    assert data.policy(WINE)["duplicates"] == "keep"
    assert data.policy(WINE)["conflicts"] == "drop_both"
    policy = data.policy_of_all_rows(WINE)
    assert (policy["duplicates"], policy["conflicts"], policy["group"]) == ("keep", "keep", None)
    assert policy["drop"] == ["row", "household"]


def test_a_split_has_its_shares_and_the_tables_limits(data):
    data.run.config["datasets"]["wine"]["max_records"] = 50
    split = data.split(WINE)
    assert (split["members"], split["max_records"], "balance" in split) == (0.5, 50, True)


def test_jobs_are_sized_by_the_cells_of_the_table(data):
    sizes = data.sizes()
    assert sizes["data_fetch_table"]["wine"].work == 178 * 14
    assert list(sizes["data_split_records"]) == ["wine/half"]
