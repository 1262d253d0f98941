"""Every sentence of the first numbers that states a number or a comparison is true, on five tables."""

import re
import subprocess
import sys

import pandas as pd
import pytest
from conftest import PROJECT, with_library
from page_sentences import faults
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

pytestmark = [pytest.mark.usefixtures("warm_jobs"), pytest.mark.long]

ROWS = 120  # of each table: enough for every sentence, at a fifth of the CPU time of all rows


def shipped(name):
    """A table of the project."""
    return pd.read_csv(PROJECT / "resources/tables" / f"{name}.csv.gz")


TABLES = {
    "credit-g": (lambda: shipped("credit-g"), "class"),
    "blood-transfusion": (lambda: shipped("blood-transfusion"), "Class"),
    "wine": (lambda: load_wine(as_frame=True).frame, "target"),
    "breast cancer": (lambda: load_breast_cancer(as_frame=True).frame, "target"),
    "diabetes, a regression": (lambda: load_diabetes(as_frame=True).frame, "target"),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_sentences_of_the_first_numbers_are_true(name, tmp_path):
    read, target = TABLES[name]
    read().to_csv(tmp_path / "t.csv", index=False)
    command = [sys.executable, "-m", "memaudit", "audit", "t.csv", "--target", target, "--into", "audit", "--quick"]
    done = subprocess.run(
        [*command, "--rows", str(ROWS), "--cores", "2"],
        cwd=tmp_path,
        env=with_library(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert faults(tmp_path / "audit") == []
    page = tmp_path / "audit/report.html"
    written = page.read_text(encoding="utf-8")
    page.write_text(
        re.sub(r"(\d+) are rated;", lambda found: f"{int(found[1]) + 1} are rated;", written), encoding="utf-8"
    )
    assert faults(tmp_path / "audit")  # a wrong number would have been found
