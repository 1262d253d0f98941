"""Look-ups that all rules files share: paths, table sizes, costs of models, resources that grow."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import PROJECT, load

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.models import flops
from memaudit.workflow.run_config import UNIT_COSTS, RunConfig, grows, read_facts, read_yaml, shards, two_if_large


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The smoke run in an empty working folder."""
    monkeypatch.chdir(tmp_path)
    return RunConfig(load("smoke"), PROJECT)


def test_a_fault_of_the_config_says_that_it_is_the_configs():
    with pytest.raises(AuditError, match=r"^config: lira/modle: unknown key; did you mean `model`"):
        RunConfig(load("smoke") | {"lira": load("smoke")["lira"] | {"modle": 1}}, PROJECT)


def test_files_of_the_project_are_named_from_the_working_folder(run):
    path = run.in_project("config/claims.yaml")
    assert not os.path.isabs(path)
    assert Path(path).samefile(PROJECT / "config/claims.yaml")


def test_files_that_a_config_names_are_the_users_or_the_projects(run):
    assert Path(run.named("config/claims.yaml")).samefile(PROJECT / "config/claims.yaml")
    Path("model.ckpt").touch()
    assert run.named("model.ckpt") == "model.ckpt"
    assert Path(run.named("~/table.csv")).resolve() == Path("~/table.csv").expanduser().resolve()


def test_costs_that_were_measured_here_are_taken_before_the_projects(run):
    assert Path(run.unit_costs).samefile(PROJECT / UNIT_COSTS)
    Path(UNIT_COSTS).parent.mkdir(parents=True)
    Path(UNIT_COSTS).touch()
    assert RunConfig(load("smoke"), PROJECT).unit_costs == UNIT_COSTS


def test_the_size_of_a_table_comes_from_the_run_then_from_the_catalogue_then_from_its_file_then_from_a_guess(run):
    rest = {"counted": False, "damaged": None}
    assert run.table_size("wine") == {"rows": 178, "columns": 13, "known": True} | rest
    run.config["datasets"]["wine"] |= {"rows": None, "columns": None}
    assert run.table_size("wine") == {"rows": 10000, "columns": 20, "known": False} | rest
    Path("wine.csv").write_text("a;b;c;target\n" + "1;2;3;x\n" * 7)
    run.config["datasets"]["wine"] |= {"source": "file", "path": "wine.csv"}
    assert run.table_size("wine") == {"rows": 7, "columns": 3, "known": False, "counted": True, "damaged": None}
    path = Path("results/smoke/data/wine/raw.json")
    path.parent.mkdir(parents=True)
    path.write_text('{"rows": 5, "columns": ["a", "b", "target"]}')
    assert run.table_size("wine") == {"rows": 5, "columns": 2, "known": True} | rest


def test_a_damaged_file_of_a_fetched_table_is_named(run):
    path = Path("results/smoke/data/wine/raw.json")
    path.parent.mkdir(parents=True)
    path.write_text("{")
    expected = {"rows": 178, "columns": 13, "known": True, "counted": False, "damaged": str(path)}
    assert run.table_size("wine") == expected


def test_sides_are_shares_of_the_records_that_take_part_or_numbers(run):
    run.config["datasets"]["wine"]["max_records"] = 100
    run.config["data"]["splits"]["half"] = {"members": 0.5, "nonmembers": 20}
    assert run.side_sizes("wine", "half") == [50, 20]


def test_passes_are_those_of_the_card_beside_the_checkpoint(run):
    card = read_json(PROJECT / "resources/tabicl-small/model.json")

    def operations():
        return run.passes("tabicl-small").operations(60, 40, 13)

    assert operations() == flops.tabicl(60, 40, 13, **card["settings"]["architecture"])
    run.config["models"]["tabicl-small"]["path"] = "nowhere/weights.ckpt"
    assert operations() == flops.tabicl(60, 40, 13)
    run.config["models"]["tabicl-small"]["architecture"] = {"embed_dim": 8}
    assert operations() == flops.tabicl(60, 40, 13, embed_dim=8)


def test_passes_of_a_language_model_are_counted_where_its_weights_are_known(run, tmp_path):
    assert run.passes("text-small").counted
    entry = run.config["models"]["text-small"]
    entry["path"] = str(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    assert not run.passes("text-small").counted
    entry["path"], entry["hub"] = None, {"repo": "some/model"}
    assert not run.passes("text-small").counted


def test_weights_of_a_language_model_are_stated_or_follow_from_its_architecture(run, tmp_path):
    assert run.weights("models", "mistral-7b") == 7.24e9
    for_the_plan = {name: run.config["models"]["mistral-7b"][name] for name in ("architecture", "parameters")}
    assert run.model_entry("mistral-7b") | for_the_plan == run.config["models"]["mistral-7b"]
    assert not for_the_plan.keys() & run.model_entry("mistral-7b").keys()
    assert run.weights("language_models", "gpt2", 2000) == 128 * (12 * 128 * 2 + 2000)
    assert run.weights("models", "text-small") == 128 * (12 * 128 * 4 + 1024)
    entry = run.config["models"]["text-small"]
    entry["path"] = str(tmp_path / "mine")
    assert run.weights("models", "text-small") == 0  # missing_inputs names the folder
    (tmp_path / "mine").mkdir()
    for text in ("{}", "no JSON"):
        (tmp_path / "mine" / "config.json").write_text(text)
        with pytest.raises(AuditError, match=r"config\.json: states no width and layers; .* models/text-small/param"):
            run.weights("models", "text-small")
    entry["parameters"] = 5e6
    assert run.weights("models", "text-small") == 5e6


def test_a_model_is_described_by_where_it_comes_from(run):
    row, of_a_hub = run.model_rows(["tabicl-small", "tabicl-v2"])
    assert row[:4] == ["tabicl-small", "tabicl", "classification", "raw"]
    assert row[5] == "resources/tabicl-small/tabicl-small.ckpt"
    assert of_a_hub[5] == "jingang/TabICL/tabicl-classifier-v2-20260212.ckpt@main"


def test_params_functions_give_what_they_are_asked_for(run):
    wildcards = SimpleNamespace(dataset="wine")
    assert run.dataset_keys("task", "rows")(wildcards) == {"task": "classification", "rows": 178}
    assert run.published("predict")(wildcards)


def test_a_retry_requests_more_and_the_last_shard_may_be_smaller():
    assert [grows(4000)(None, attempt) for attempt in (1, 2)] == [4000, 8000]
    assert [grows(len)("abc", attempt) for attempt in (1, 2)] == [3, 6]
    assert [list(shards(models, 4)) for models in (8, 9, 0)] == [[0, 1], [0, 1, 2], []]


def test_a_retry_does_not_multiply_the_memory_of_a_model_which_no_machine_would_have():
    request = grows(8000, lambda wildcards: wildcards.model)
    assert [request(SimpleNamespace(model=165000), attempt) for attempt in (1, 2, 3)] == [173000, 181000, 189000]


def test_two_threads_read_large_tables_alone(tmp_path):
    """A job of two threads waits for two free cores: small tables would hold up a run."""
    (small, large) = (tmp_path / name for name in ("small.csv", "large.csv"))
    small.write_bytes(b"x")
    with open(large, "wb") as file:
        file.truncate(10**8 + 1)
    assert [two_if_large(None, given) for given in ([], [small], [small, large], [tmp_path / "none"])] == [1, 1, 2, 1]


@pytest.mark.parametrize("text", [None, "", "{", "\ufffe"], ids=["missing", "empty", "cut off", "not JSON"])
def test_facts_that_cannot_be_read_are_none(tmp_path, text):
    path = tmp_path / "facts.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert read_facts(path) is None


def test_a_file_that_is_no_yaml_is_one_line(tmp_path):
    path = tmp_path / "views.yaml"
    path.write_text("a: [1\nb: 2\n")
    with pytest.raises(AuditError, match=rf"^{path}: while parsing.* line 2") as caught:
        read_yaml(path)
    assert "\n" not in str(caught.value)
