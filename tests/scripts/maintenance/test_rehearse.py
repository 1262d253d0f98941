"""A small part of the rehearsal of config/paper.yaml: the servers' stand-ins are read by the rules that fetch."""

import fcntl
import json
import socket
import subprocess
import sys

import pandas as pd
import pytest
import yaml
from conftest import PROJECT

from memaudit.common.io import read_json

SCRIPT = PROJECT / "workflow_scripts" / "maintenance" / "rehearse.py"
FOLDER = "results/rehearsal"
TARGETS = ("data/wilt/raw.parquet", "models/tabicl-v2/model.json", "data/ltmia/documents/xsum.parquet")


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    """A rehearsal of three rules that fetch: of OpenML, of the hub's models, of its data sets.

    An earlier one was killed, and left Snakemake's lock.
    """
    folder = tmp_path_factory.mktemp("rehearsal")
    locks = folder / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text(f"{FOLDER}/{TARGETS[0]}\n", encoding="utf-8")
    return folder, run_in(folder)


def run_in(folder):
    params = {"config": "config/paper.yaml", "rules": "config/rehearsal.yaml", "folder": str(folder)}
    params |= {
        "studies": " ".join(f"{FOLDER}/{target}" for target in TARGETS),
        "cores": 1,
        "warm": True,
        "card": "none.json",
    }
    command = [sys.executable, SCRIPT, "--params", json.dumps(params)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_table_model_and_corpus_come_from_the_stand_in_servers(rehearsed):
    folder, done = rehearsed
    assert done.returncode == 0, done.stdout + done.stderr
    table = pd.read_parquet(folder / FOLDER / TARGETS[0])
    assert table.shape == (100, 6)
    assert read_json(folder / FOLDER / TARGETS[1])["version"] == "v2"
    assert pd.read_parquet(folder / FOLDER / TARGETS[2])["text"].str.len().min() >= 50


def test_the_overlay_and_what_was_found_are_left_in_the_folder(rehearsed):
    folder, done = rehearsed
    overlay = yaml.safe_load((folder / "overlay.yaml").read_text())
    assert overlay["run"] == "rehearsal"
    assert overlay["lira"]["models"] == 80
    assert "3 of 3 done, 0 failed" in done.stdout
    assert (folder / "summary.txt").read_text() in done.stdout


def test_a_second_rehearsal_in_the_folder_is_turned_away(rehearsed):
    folder, _ = rehearsed
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.name != "lock"}
    # The first one holds the lock, and its server the port of the folder.
    with open(folder / "lock", "w", encoding="utf-8") as lock, socket.socket() as server:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", json.loads((folder / "port").read_text(encoding="utf-8"))))
        server.listen()
        done = run_in(folder)
    assert done.returncode == 1
    assert "another rehearsal runs there" in done.stderr
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.name != "lock"}
