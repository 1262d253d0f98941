"""`snakemake --cores all --profile slurm` on a private but real Slurm: whole runs, failing jobs, killed controllers.

`make test-slurm` runs these; a plain pytest does not.
"""

import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from workflow.conftest import Checkout

from memaudit.common.checksums import sha256
from memaudit.common.io import read_json
from memaudit.workflow.sidecar import read_all
from slurm.conftest import GPU_RULES, Clone, hashes, leave_out_private_releases, slurm_job, submissions, text

pytestmark = pytest.mark.slurm

SHARDS = "results/smoke/signals/lira/wine"
STUDIES = ("lira", "predict", "ltmia")  # of six, for time; `make soak` can submit all
HELD = """

# From here on a test's own: parts are noted, and behind the first of a shard they wait for a file called `go`.
def _noting(self, name, compute, keep=Scratch.part):
    import os, time

    def noted():
        array = compute()
        while any(self.folder.glob("*.npy")) and not Path("go").exists():
            time.sleep(0.2)
        with open("parts.txt", "a", encoding="utf-8") as file:
            print(os.environ["SLURM_JOB_ID"], self.folder, name, file=file)
        return array

    return keep(self, name, noted)


Scratch.part = _noting
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, warm_environment) -> Checkout:
    """Studies of the smoke run without a cluster."""
    checkout = Checkout(tmp_path_factory.mktemp("local") / "memaudit", warm_environment)
    leave_out_private_releases(checkout.folder)
    checkout.snakemake(*STUDIES)
    return checkout


@pytest.fixture(scope="module")
def submitted(clone) -> Clone:
    """The same through sbatch; each sidecar says also whether the hub client of its process was offline."""
    whole = clone("whole")
    offline = '"hub_offline": __import__("huggingface_hub.constants").constants.HF_HUB_OFFLINE, "slurm_job":'
    whole.replace("workflow_scripts/memaudit/workflow/sidecar.py", '"slurm_job":', offline)
    whole.submit("--", *STUDIES)
    return whole


@pytest.fixture(scope="module")
def held(clone) -> Clone:
    """A clone ready to submit shards that halt after their first part."""
    held = clone("held")
    held.append("workflow_scripts/memaudit/workflow/scratch.py", HELD)
    designs = [f"{SHARDS}/{grid}/design.nc" for grid in ("efficient", "superset0")]
    held.snakemake(*designs, "results/smoke/models/tabicl-small/model.json")
    return held


def test_a_run_through_slurm_equals_a_local_one_byte_for_byte(submitted, undisturbed):
    assert len(hashes(submitted)) > 60
    assert hashes(submitted) == hashes(undisturbed)
    assert "agree with their sidecars" in submitted.submit("--", "provenance")


def test_downloads_and_targets_stay_where_snakemake_runs_and_no_submitted_job_reaches_the_hub(submitted):
    sidecars = read_all(submitted.results / "provenance").values()
    local = {sidecar["rule"] for sidecar in sidecars if sidecar["slurm_job"] is None}
    assert {"data_fetch_table", "models_fetch_checkpoint", "ltmia_fetch_corpus"} <= local
    studies = ("lira_", "attacks_", "tabpate_", "iclmem_", "ltmia_", "predict_", "views_")
    assert not {rule for rule in local if rule.startswith(studies) and "_fetch_" not in rule}
    jobs = [sidecar for sidecar in sidecars if sidecar["slurm_job"]]
    assert len({sidecar["slurm_job"] for sidecar in jobs}) == len(jobs) > 35
    assert all(sidecar["hub_offline"] for sidecar in jobs)


def test_gpu_jobs_and_no_others_ask_slurm_for_a_gpu_and_go_to_its_partition(submitted):
    for sidecar in read_all(submitted.results / "provenance").values():
        if number := sidecar["slurm_job"]:
            job = slurm_job(number)
            asked = re.fullmatch(r"gres[:/]gpu:1", job.get("TresPerJob", ""))
            on_gpu = re.match(GPU_RULES, sidecar["rule"])
            assert (bool(asked), job["Partition"]) == (bool(on_gpu), "gpu" if on_gpu else "cpu"), sidecar["rule"]


@pytest.fixture(scope="module")
def faulty(clone) -> tuple[Clone, str]:
    """A clone where one table takes 1,000 MB, of which a first attempt has 700; another always fails. Its output."""
    faulty = clone("faulty")
    faulty.replace("rules/data.smk", "grows(4000)", "grows(700)")
    fault = """def main(job):
    import time

    import numpy as np

    if job.wildcards.dataset == "diabetes":
        raise AuditError("this table is at fault; there is no mending it")
    kept = np.ones(90_000_000)  # with some 300 MB of the job and of Snakemake; a second attempt has 1,400
    time.sleep(5)  # until Slurm has looked
"""
    faulty.replace("workflow_scripts/data/deduplicate_table.py", "def main(job):\n", fault)
    tables = [f"results/smoke/data/{name}/records.parquet" for name in ("wine", "diabetes")]
    return faulty, faulty.submit("--keep-going", "--", *tables, check=False)


def test_a_job_that_slurm_ends_for_its_memory_has_twice_as_much_in_a_retry_and_succeeds(faulty):
    run, printed = faulty
    first, second = submissions(printed, "rule_data_deduplicate_table/wine")
    assert [slurm_job(number)["MinMemoryNode"] for number in (first, second)] == ["700M", "1400M"]
    log = run.folder / f".snakemake/slurm_logs/rule_data_deduplicate_table/wine/{first}.log"
    assert "exceeded memory limit" in text(log)
    sidecar = read_json(run.results / "provenance/data_deduplicate_table/wine.json")
    assert sidecar["slurm_job"] == second
    assert sidecar["peak_memory_mib"] > 700


def test_a_job_that_always_fails_is_named_with_its_rule_its_log_and_its_slurm_id(faulty):
    run, printed = faulty
    attempts = submissions(printed, "rule_data_deduplicate_table/diabetes")
    assert len(attempts) == 3
    said = f"Error in rule data_deduplicate_table:\n    message: SLURM-job '{attempts[-1]}' failed"
    _, error = printed.split(said)
    assert "log: results/smoke/logs/data_deduplicate_table/diabetes.log" in error
    assert "memaudit: this table is at fault; there is no mending it" in error
    assert not (run.results / "data/diabetes/records.parquet").exists()


def test_a_cancelled_job_goes_on_where_it_stopped(held, undisturbed):
    grid = f"{SHARDS}/superset0.nc"
    held.start("--", grid)
    held.until(lambda: len(held.parts()) == 1)
    ((cancelled, first),) = held.parts()
    subprocess.run(["scancel", cancelled], check=True)
    held.until(lambda: slurm_job(cancelled)["JobState"] == "CANCELLED")
    (held.folder / "go").touch()
    held.finish()

    (again, second), *more = held.parts()[1:]
    assert again != cancelled
    assert first not in {second, *(name for _, name in more)}
    (writers,) = held.writers("superset0").values()
    # Asked to end before it was killed, the first gave up its lease: the second had nothing to wait for.
    assert [(writer["slurm_job"], bool(writer["ended"])) for writer in writers] == [(cancelled, True), (again, True)]
    assert sha256(held.folder / grid) == sha256(undisturbed.folder / grid)


def test_jobs_that_outlive_a_killed_controller_are_waited_for_and_their_results_taken(held, undisturbed):
    """The controller comes back while its jobs run and submits the same shards again: nobody writes beside another."""
    grid, before = f"{SHARDS}/efficient.nc", len(held.parts())
    (held.folder / "go").unlink(missing_ok=True)
    held.start("--", grid)
    held.until(lambda: len(held.parts()) == before + 2)
    held.kill()
    owners = {number for number, _ in held.parts()[before:]}
    assert all(slurm_job(number)["JobState"] == "RUNNING" for number in owners)

    held.submit("--unlock")
    held.start("--", grid)
    logs = [held.results / f"logs/lira_query_shadows/wine/efficient/{shard}.log" for shard in (0, 1)]
    held.until(lambda: all(log.exists() and "waiting for process" in text(log) for log in logs))
    (held.folder / "go").touch()
    held.finish()

    parts = held.parts()[before:]
    assert len(parts) == len({name for _, name in parts}), "a part was computed twice"
    assert {number for number, _ in parts} == owners
    for writers in held.writers("efficient").values():
        assert [writer["slurm_job"] in owners for writer in writers] == [True, False]
        assert all(one["ended"] <= next["started"] for one, next in pairwise(writers))
    assert sha256(held.folder / grid) == sha256(undisturbed.folder / grid)


def test_a_misspelt_profile_and_a_machine_without_slurm_are_named(held, tmp_path, monkeypatch):
    snakemake = [Path(sys.executable).with_name("snakemake"), "--cores", "all", "--configfile", "config/smoke.yaml"]

    def said(*arguments):
        done = subprocess.run([*snakemake, *arguments], cwd=held.folder, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        return done.stdout + done.stderr

    assert "profile directory given (slurn)" in said("--profile", "slurn")
    for command in ("bash", "which"):
        (tmp_path / command).symlink_to(shutil.which(command))
    monkeypatch.setenv("PATH", str(tmp_path))
    table = "results/smoke/data/diabetes/records.parquet"
    assert "No such file or directory: 'sacct'" in said("--profile", "slurm", "--retries", "0", table)
