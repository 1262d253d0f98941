"""The profile for batch systems other than Slurm, against stand-ins of OpenPBS's commands that run jobs here."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import PROJECT

from memaudit.common.io import read_json
from workflow.conftest import SMOKE
from workflow.engines import ENGINES, needs

pytestmark = [needs("cluster_generic"), pytest.mark.long]

STATUS = PROJECT / "profiles/cluster-generic/status"
SCHEMA = "results/smoke/data/wine/schema.json"
# What jobs leave beside the commands: a line for each submission, and its exit code by its number.
COMMANDS = {
    "qsub": """
echo "$@" >>"$PBS/submitted"
number=$(wc -l <"$PBS/submitted")
for script in "$@"; do :; done
case $(cat "$PBS/first" 2>/dev/null)$number in
    killed1) echo 137 >"$PBS/$number" ;;
    waiting*) ;;
    *) sh "$script" >"$PBS/$number.log" 2>&1; echo $? >"$PBS/$number" ;;
esac
echo "$number.server"
""",
    "qstat": """
for job in "$@"; do :; done
number=${job%.server}
echo "Job Id: $job"
if [ -e "$PBS/$number" ]; then
    printf '    job_state = F\\n    Exit_status = %s\\n' "$(cat "$PBS/$number")"
else
    echo "    job_state = Q"
fi
""",
    "qdel": 'echo "$@" >>"$PBS/deleted"',
}


@pytest.fixture
def pbs(tmp_path, monkeypatch):
    """Folder with the commands, first on the PATH."""
    folder = tmp_path / "pbs"
    folder.mkdir()
    for name, text in COMMANDS.items():
        command(folder / name, text)
    monkeypatch.setenv("PBS", str(folder))
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder


def command(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)


def started(folder: Path) -> subprocess.Popen:
    """Snakemake with the profile, in an empty folder."""
    command = [ENGINES, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), "--cores", "all"]
    command += ["--workflow-profile", str(PROJECT / "profiles/default")]
    command += ["--profile", str(PROJECT / "profiles/cluster-generic"), "--latency-wait", "5"]
    command += [SMOKE[0], str(PROJECT / SMOKE[1]), "--", SCHEMA]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=folder, text=True, **pipes)


def test_a_job_that_is_ended_for_its_memory_is_submitted_again_with_twice_as_much(pbs, tmp_path):
    (pbs / "first").write_text("killed")
    printed, _ = (running := started(tmp_path)).communicate()
    logs = "".join(path.read_text() for path in pbs.glob("*.log"))
    assert running.returncode == 0, printed + logs
    # Key and table were made where Snakemake runs.
    submitted = (pbs / "submitted").read_text().splitlines()
    asked = [
        re.search(r"-N (\w+) .*ncpus=(\d+):mem=(\d+)mb:ngpus=(\d+) -l walltime=(\d+) ", line) for line in submitted
    ]
    rule = "data_deduplicate_table"
    assert [one.groups() for one in asked] == [(rule, "1", mem, "0", "7200") for mem in ("4000", "8000")]
    assert read_json(tmp_path / f"results/smoke/provenance/{rule}/wine.json")["rule"] == rule
    assert (tmp_path / SCHEMA).exists()
    assert (tmp_path / ".snakemake/qsub").is_dir()


def test_jobs_of_a_run_that_is_stopped_are_deleted(pbs, tmp_path):
    (pbs / "first").write_text("waiting")
    running = started(tmp_path)
    end = time.monotonic() + 300
    while not (pbs / "submitted").exists():
        assert running.poll() is None, running.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.2)
    time.sleep(2)  # until Snakemake has read the job's id
    running.send_signal(signal.SIGINT)
    printed, _ = running.communicate()
    assert running.returncode != 0
    assert (pbs / "deleted").read_text() == "1.server\n", printed


@pytest.mark.parametrize(("code", "said"), [("0", "success"), ("1", "failed"), ("-29", "failed"), (None, "running")])
def test_the_state_of_a_job(pbs, code, said):
    if code:
        (pbs / "1").write_text(code)
    done = subprocess.run([STATUS, "1.server"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{said}\n"


def test_a_server_that_does_not_answer_ends_with_one_line(pbs):
    command(pbs / "qstat", "echo 'qstat: Unknown Job Id 1.server' >&2; exit 153")
    command(pbs / "sleep", 'echo "$@" >>"$PBS/slept"')
    done = subprocess.run([STATUS, "1.server"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "qstat -x -f 1.server fails: qstat: Unknown Job Id 1.server; " in done.stderr
    assert (pbs / "slept").read_text() == 7 * "10\n"
