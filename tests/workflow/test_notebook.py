"""The notebook of the documentation does what it shows."""

import json
import os
import subprocess
import sys

import pytest

from memaudit.common.project_paths import PROJECT

pytestmark = [pytest.mark.xdist_group("audit"), pytest.mark.long]

CELLS = json.loads((PROJECT / "docs/audit-a-pipeline.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = [cell for cell in CELLS if cell["cell_type"] == "code"]


def test_every_cell_was_run_in_order_without_an_error():
    assert [cell["execution_count"] for cell in CODE] == list(range(1, len(CODE) + 1))
    assert not [output for cell in CODE for output in cell["outputs"] if output["output_type"] == "error"]
    shown = json.dumps([cell["outputs"] for cell in CODE])
    assert "first numbers: AUC" in shown
    assert str(PROJECT) not in shown


def test_its_cells_audit_the_pipeline_from_an_empty_folder(tmp_path):
    (tmp_path / "cells.py").write_text("\n\n".join("".join(cell["source"]) for cell in CODE), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "workflow_scripts"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "cells.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a leak is detected" in done.stdout
    assert "Pipeline of KNeighborsClassifier" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not list(tmp_path.glob("memaudit-*"))  # the copy of the table is gone
