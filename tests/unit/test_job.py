"""A script runs by hand as it runs under Snakemake, and leaves a sidecar."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = '''"""Copy a file.

python study_copy_file.py --input a --output b
"""
from memaudit.errors import AuditError
from memaudit.job import run


def main(job):
    text = open(job.input.source).read()
    if text == "bad":
        raise AuditError("a: bad data; bring better")
    open(job.output[0], "w").write(text * job.params.times)
    return {"seed": 7}


if __name__ == "__main__":
    run(main, globals())
'''


def call(folder, project, *arguments):
    (folder / "study_copy_file.py").write_text(SCRIPT)
    return subprocess.run(
        [sys.executable, "study_copy_file.py", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(project / "workflow_scripts"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_by_hand_with_a_sidecar(tmp_path, project):
    (tmp_path / "a").write_text("x")
    done = call(
        tmp_path,
        project,
        "--input",
        "source=a",
        "--output",
        "b",
        "sidecar=provenance/b.json",
        "--params",
        '{"times": 2}',
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b").read_text() == "xx"
    record = json.loads((tmp_path / "provenance/b.json").read_text())
    assert record["rule"] == "study_copy_file"
    assert list(record["inputs"]) == ["a"]
    assert list(record["outputs"]) == ["b"]
    assert record["params"] == {"times": 2}
    assert record["seed"] == 7
    assert record["packages"]["pandas"]["version"]
    assert {"git", "cpu_seconds", "peak_memory_mib", "started", "platform"} <= record.keys()


def test_a_fault_of_the_user_is_one_line_and_no_traceback(tmp_path, project):
    (tmp_path / "a").write_text("bad")
    done = call(tmp_path, project, "--input", "source=a", "--output", "b", "--params", '{"times": 2}')
    assert done.returncode == 1
    assert done.stderr.strip() == "memaudit: a: bad data; bring better"
    assert not Path(tmp_path / "b").exists()


def test_a_path_that_has_no_such_name_is_named(tmp_path, project):
    done = call(tmp_path, project, "--input", "a", "--output", "b", "--params", '{"times": 2}')
    assert "no path is named source: give source=PATH" in done.stderr
