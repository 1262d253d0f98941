"""What a local model cannot be is said in one line before the first job."""

import json
import subprocess

import pytest
import small_packages
import torch
import warm_scripts
from conftest import PROJECT

from memaudit.rehearsal import small_tabpfn

ENTRY = {"family": "tabicl", "task": "classification", "mode": "raw", "version": None, "options": {}}
ENTRY |= {"estimator": None, "params": {}, "path": None, "sha256": None}
FOREST = ENTRY | {"family": "estimator", "estimator": "sklearn.ensemble.RandomForestClassifier"}
SHIPPED = ENTRY | {"path": str(PROJECT / "resources/tabicl-small/tabicl-small.ckpt"), "options": {"clip": 6.0}}


def check(entry, uses=(), **environment):
    params = {"device": bool(environment), "models": {"mine": entry}, "uses": {"mine": list(uses)}}
    command = [
        warm_scripts.python(),
        str(PROJECT / "workflow_scripts/maintenance/check_models.py"),
        "--params",
        json.dumps(params),
    ]
    done = subprocess.run(
        command, env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == bool(done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.strip()


def test_models_that_are_what_the_config_says_pass_without_a_word():
    assert check(SHIPPED, [{"where": "lira, data set wine", "rows": 71, "features": 13}]) == ""
    assert check(FOREST | {"params": {"n_estimators": 5}}) == ""


@small_packages.needs("tabfm")
def test_a_folder_of_weights_passes_where_the_family_has_one(tmp_path):
    entry = ENTRY | {
        "family": "tabfm",
        "mode": "as_deployed",
        "path": str(small_packages.write("tabfm", tmp_path / "w")),
    }
    assert check(entry, [{"where": "lira", "rows": 71, "features": 13, "classes": 3}]) == ""
    told = check(entry, [{"where": "lira", "rows": 71, "features": 13, "classes": 11}])
    assert told == (
        "memaudit: models/mine, in lira: 11 classes, the model takes at most 10; choose another model or fewer"
    )


@small_packages.needs("tabdpt")
def test_weights_that_another_environment_cannot_open_are_one_line(tmp_path):
    (tmp_path / "tabdpt.safetensors").write_bytes(b"no weights")
    entry = ENTRY | {"family": "tabdpt", "mode": "as_deployed", "path": str(tmp_path / "tabdpt.safetensors")}
    told = check(entry)
    assert told.splitlines()[-1].startswith(f"memaudit: models/mine: tabdpt cannot open {entry['path']} for classif")


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (SHIPPED | {"path": "nowhere.ckpt"}, "memaudit: models/mine/path: there is no file nowhere.ckpt"),
        (
            SHIPPED | {"path": str(PROJECT / "resources/tabicl-small")},
            "is a folder; give the path of the checkpoint in it",
        ),
        (SHIPPED | {"task": "regression"}, "classif"),
        (SHIPPED | {"family": "tabpfn"}, "TabPFN"),
        (SHIPPED | {"family": "text"}, "models/mine"),
        (SHIPPED | {"options": {"clap": 6.0}}, "clap"),
        (FOREST | {"estimator": "sklearn.ensemble.RandomForrest"}, "sklearn.ensemble.RandomForrest"),
        (FOREST | {"params": {"trees": 5}}, "trees"),
        (SHIPPED | {"sha256": "0" * 64}, "the config says 0000"),
        (FOREST | {"options": {"scale": "yes"}}, "option scale must be like False; it is 'yes'"),
    ],
    ids=[
        "no file",
        "a folder",
        "other task",
        "other family",
        "no language model",
        "unknown option",
        "no such class",
        "no param",
        "other checksum",
        "no truth value",
    ],
)
def test_each_fault_has_one_line_that_names_the_model(entry, line):
    told = check(entry)
    assert told.startswith("memaudit: models/mine")
    assert line in told
    assert "\n" not in told


def test_a_table_that_is_too_large_is_named(tmp_path):
    small = ENTRY | {"family": "tabpfn", "path": str(small_tabpfn.write(tmp_path, "v2", "classification"))}
    assert check(small, [{"where": "lira, data set wine", "rows": 71, "features": 13}]) == ""
    told = check(small, [{"where": "lira, data set huge", "rows": 10**9, "features": 5}])
    assert "models/mine, in lira, data set huge: 1000000000 context rows, the model takes at most" in told


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_device_that_is_not_there_is_named():
    assert "MEMAUDIT_DEVICE=cuda: there is no such device here" in check(SHIPPED, MEMAUDIT_DEVICE="cuda")
