"""Tables, folders and disks that `./memaudit audit` refuses: one line on the screen, and nothing done."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT, mounted

ROWS = 120


@pytest.fixture
def refused(tmp_path):
    """The line with which the command refuses a table of two columns and others."""

    def audit(frame, *arguments, into=tmp_path / "into"):
        frame.to_csv(tmp_path / "t.csv", index=False)
        command = [sys.executable, "-m", "memaudit", "audit", tmp_path / "t.csv", "--target", "y", "--into", into]
        env = os.environ | {"PYTHONPATH": str(PROJECT / "workflow_scripts")}
        done = subprocess.run([*command, *arguments], env=env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1, done.stdout + done.stderr
        assert done.stderr.startswith("memaudit: ")
        assert done.stderr.count("\n") == 1
        return done.stderr

    return audit


def table(rows=ROWS, **columns):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.normal(40, 9, rows), "y": ["yes", "no"] * (rows // 2)} | columns)


WIDE = {f"x{i}": 1 for i in range(3000)}
TABLES = {
    "3,000 columns": (table(**WIDE), "3001 columns besides the target, an audit reads at most 500"),
    "25 records eight times": (pd.concat([table(26)[:25]] * 8), "25 of 200 rows are left without duplicates"),
    "beyond float32": (table(pay=[1e300, *[1.0] * (ROWS - 1)]), "column 'pay': data row 1 holds a number beyond"),
    "words among numbers": (table(pay=["none"] * 60 + [1] * 60), "--missing"),
}


@pytest.mark.parametrize("fault", TABLES)
def test_a_table_is_refused_in_one_line(refused, tmp_path, fault):
    frame, line = TABLES[fault]
    said = refused(frame)
    assert line in said
    assert "`" not in said
    assert not (tmp_path / "into").exists()


def test_a_planted_link_is_not_followed(refused, tmp_path):
    folder, victim = tmp_path / "theirs", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("mine")
    (folder / ".memaudit").touch()
    (folder / ".gitignore").symlink_to(victim)
    assert "is a link out of the audit's folder" in refused(table(), into=folder)
    assert victim.read_text() == "mine"


def test_a_full_disk_names_the_copy(refused, tmp_path):
    (tmp_path / "small").mkdir()
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=20k", "tmpfs"):
        frame = table(1200, note=np.random.default_rng(0).normal(size=1200))
        said = refused(frame, into=tmp_path / "small/into")
    assert "/small/into/table/" in said
    assert "no space left on device; free some" in said
