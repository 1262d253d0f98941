"""A script runs by hand as it runs under Snakemake, and leaves a sidecar."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from memaudit.workflow import job

SCRIPT = '''"""Copy a file.

python study/copy_file.py --input a --output b
"""
from memaudit.common.errors import AuditError
from memaudit.workflow.job import run


def main(job):
    text = open(job.input.source).read()
    if text == "bad":
        raise AuditError("a: bad data; bring better")
    open(job.output[0], "w").write(text * job.params.times)
    return {"seed": 7}


if __name__ == "__main__":
    run(main, globals())
'''


def call(folder, project, *arguments, script=SCRIPT):
    (folder / "study").mkdir()
    (folder / "study" / "copy_file.py").write_text(script)
    return subprocess.run(
        [sys.executable, "study/copy_file.py", *arguments],
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


LIMITED = """'''Ask for more memory than there may be.'''
import resource
from pathlib import Path

import numpy as np
import torch
from memaudit.workflow.job import run


def main(job):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**24,) * 2)
    {"numpy": np.ones, "torch": torch.ones}[job.params.library](2**28)


if __name__ == "__main__":
    run(main, globals())
"""


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_no_more_memory_is_one_line_with_the_setting_that_gives_more(library, tmp_path, project):
    done = call(tmp_path, project, "--params", json.dumps({"library": library}), script=LIMITED)
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "memaudit: study_copy_file: out of memory; give it more with `--set-resources study_copy_file:mem_mb=MB`, or "
        "run fewer jobs at once with `--cores 1`"
    )


def test_a_package_that_cannot_be_imported_is_named_with_its_environment(tmp_path, project):
    script = SCRIPT.replace("    text = open", "    import no_such_package\n    text = open")
    done = call(tmp_path, project, "--input", "source=a", script=script)
    assert done.returncode == 1
    assert done.stderr.startswith("memaudit: study_copy_file: package no_such_package cannot be imported in the env")
    assert sys.prefix in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_error_that_nobody_has_foreseen_keeps_its_traceback(tmp_path, project):
    done = call(tmp_path, project, "--input", "source=nothing")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "memaudit:" not in done.stderr


CANCELLED = """'''Be cancelled.'''
import os, signal
from memaudit.workflow.job import run


def main(job):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    finally:
        open("given up", "w")


run(main, globals())
"""


def test_a_cancelled_job_gives_up_what_it_holds(tmp_path, project):
    done = call(tmp_path, project, script=CANCELLED)
    assert done.returncode == 1
    assert (tmp_path / "given up").exists()
    assert done.stderr.startswith("memaudit: study_copy_file: interrupted; run the same command again")


def test_messages_of_packages_go_to_the_log(tmp_path, capfd):
    messages = logging.getLogger("some package")
    messages.addHandler(logging.StreamHandler(sys.__stderr__))
    with (tmp_path / "job.log").open("w") as log, job.logged_to(log):
        messages.warning("slow, but correct")
    messages.warning("seen")
    assert (tmp_path / "job.log").read_text() == "slow, but correct\n"
    assert [handler.stream for handler in messages.handlers] == [sys.__stderr__]


def test_the_library_of_another_checkout_is_refused(tmp_path, project):
    (tmp_path / "memaudit").mkdir()
    done = call(tmp_path, project, "--input", "source=a")
    assert done.returncode == 1
    assert done.stderr.strip() == (
        f"memaudit: {tmp_path}/study/copy_file.py: the memaudit that is installed here is another checkout's, "
        f"{project}; use the Python of this one's `make .venv`, or set PYTHONPATH={tmp_path}"
    )
