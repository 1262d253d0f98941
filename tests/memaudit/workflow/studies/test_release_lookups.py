"""Look-ups of rules/release.smk, with and without a section `release`."""

from pathlib import Path

import pytest
from conftest import PROJECT, load

from memaudit.common.errors import AuditError
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.release_lookups import Release

SECTION = {"dataset": "wine", "public": "config/public/wine.yaml", "epsilon": 1.0, "delta": 1e-4}
SECTION |= {"model": "tabicl-small", "tuned": "on nothing", "settings": {"teachers": 10, "queries": 40}}


@pytest.fixture
def release():
    return Release(RunConfig(load("smoke") | {"release": SECTION}, PROJECT))


def test_without_a_section_no_table_has_its_rules_and_the_target_says_so():
    release = Release(RunConfig(load("smoke"), PROJECT))
    assert release.dataset == "-"
    with pytest.raises(AuditError, match=r"release: this config has no section `release`; docs/release.md"):
        release.target(None)


def test_files_are_those_of_the_section(release):
    assert release.dataset == "wine"
    assert Path(release.public(None)).samefile(PROJECT / "config/public/wine.yaml")
    assert release.model(None) == "<results>/models/tabicl-small/model.json"
    assert release.weights(None) == "<results>/models/tabicl-small/weights"
    assert release.target(None)[0] == "<results>/release/wine/context.parquet"
    assert release.ledger(None) is None


def test_a_ledger_that_is_named_stands_there():
    release = Release(RunConfig(load("smoke") | {"release": SECTION | {"ledger": "/of/mine"}}, PROJECT))
    assert release.ledger(None) == "/of/mine"


def test_settings_are_what_decides_and_not_where_it_stands(release):
    assert release.settings(None).keys() == release.config.keys() - {"dataset", "public", "ledger", "bounds"}


@pytest.mark.parametrize(("given", "declared"), [({}, {}), ({"decimal": ","}, {"decimal": ","})])
def test_a_declared_decimal_sign_is_read_and_one_that_is_not_changes_no_params(given, declared):
    config = load("smoke") | {"release": SECTION}
    config["datasets"] = {
        **config.get("datasets", {}),
        "wine": {**RunConfig(config, PROJECT).config["datasets"]["wine"], **given},
    }
    entry = Release(RunConfig(config, PROJECT)).entry(None)
    assert entry.keys() == {"target", "group", "drop", "missing"} | declared.keys()
    assert {key: entry[key] for key in declared} == declared


def test_public_facts_that_are_incomplete_end_the_run_at_its_start(tmp_path):
    path = tmp_path / "wine.yaml"
    path.write_text("source: a form\nrecords: 400\n")
    with pytest.raises(AuditError, match=r"^release/public: "):
        Release(RunConfig(load("smoke") | {"release": SECTION | {"public": str(path)}}, PROJECT))


def test_bounds_have_files_of_their_own_and_need_their_entry():
    bounds = {"columns": ["alcohol"], "epsilon": 0.2, "delta": 1e-5}
    section = SECTION | {"bounds": bounds, "total": {"epsilon": 2.0, "delta": 1e-4}}
    release = Release(RunConfig(load("smoke") | {"release": section}, PROJECT))
    assert release.bounds_target(None)[0] == "<results>/release_bounds/wine/bounds.yaml"
    assert release.with_bounds(None)["bounds"] == bounds
    assert "bounds" not in release.settings(None), "bounds that are paid for do not change the release"


def test_without_an_entry_for_bounds_the_target_says_so(release):
    with pytest.raises(AuditError, match="release/bounds: is missing"):
        release.bounds_target(None)
