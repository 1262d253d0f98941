"""The profile for Kubernetes, against a stand-in of its API server that runs the commands of pods in folders here."""

import os
import shlex
import subprocess
from pathlib import Path
from threading import Thread

import pytest
from kubernetes_server import Server

from memaudit.common.io import read_json
from workflow.conftest import SMOKE, Checkout
from workflow.engines import ENGINES, needs

pytestmark = [needs("kubernetes"), pytest.mark.long]

SCHEMA = "results/smoke/data/wine/schema.json"
# What the image has, or fetches: its Python has the plugins, nothing is installed, and files are copied on one machine.
IMAGE = {
    "python": f'exec {shlex.quote(str(ENGINES))} "$@"\n',
    "pip": 'echo "$@" >>"$PODS/installed"\n',
    "rsync": 'for name in "$@"; do from=$to; to=$name; done\ncp -RLp "$from" "$to"\n',
}


class Cluster:
    """A clone, a folder that stands for the volume, and the stand-in."""

    def __init__(self, folder: Path):
        self.clone = Checkout(folder / "memaudit").folder
        subprocess.run(["git", "init", "--quiet"], cwd=self.clone, check=True)
        # What is in git goes to the pod, compressed for long: models and published results are left out.
        taken = ["git", "add", "--all", "--", ":!resources", ":!docs/results", ":!docs/*.png"]
        subprocess.run(taken, cwd=self.clone, check=True)
        self.storage, self.pods = folder / "storage", folder / "pods"
        (self.pods / "bin").mkdir(parents=True)
        for name, text in IMAGE.items():
            (self.pods / "bin" / name).write_text(f"#!/bin/sh\n{text}")
            (self.pods / "bin" / name).chmod(0o755)
        self.server = Server(self.run_pod)
        (folder / "kubeconfig").write_text(self.server.config())
        given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        given |= {"PATH": f"{self.pods / 'bin'}{os.pathsep}{given['PATH']}", "PODS": str(self.pods)}
        self.environment = given | {"KUBECONFIG": str(folder / "kubeconfig")}
        self.printed = ""

    def run_pod(self, job: dict) -> int:
        """Run the command of a job's container; returns its exit code."""
        (container,) = job["spec"]["template"]["spec"]["containers"]
        workdir = self.pods / job["metadata"]["name"]
        workdir.mkdir()
        command = [one.replace("/workdir", str(workdir)) for one in [*container["command"], *container["args"]]]
        done = subprocess.run(command, cwd=workdir, env=self.environment, capture_output=True, text=True, check=False)
        self.printed += done.stdout + done.stderr
        return done.returncode

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run Snakemake with the profile in the clone, its volume in place of /storage."""
        command = [ENGINES, "-m", "snakemake", "--cores", "all", "--profile", "profiles/kubernetes", *SMOKE]
        command += ["--default-storage-prefix", str(self.storage), *arguments, "--", SCHEMA]
        return subprocess.run(
            command, cwd=self.clone, env=self.environment, capture_output=True, text=True, check=False
        )


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    with made.server as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield made
        server.shutdown()
        thread.join()


def test_a_dry_run_plans_without_a_cluster(cluster):
    done = cluster.snakemake("-n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{cluster.storage}/{SCHEMA} (send to storage)" in done.stdout
    assert not cluster.server.jobs


def test_a_job_becomes_a_pod_whose_result_arrives_in_the_storage(cluster):
    done = cluster.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr + cluster.printed
    # Key and table were made where Snakemake runs.
    ((name, job),) = cluster.server.jobs.items()
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "registry.example.org/memaudit:0.1.0"
    (command,) = container["args"][1:]
    assert command.startswith("export HOME=/workdir && ")
    assert "python -m snakemake --snakefile 'Snakefile' --target-jobs 'data_deduplicate_table:dataset=wine'" in command
    memory, disk = "4000M", "1000M"
    assert container["resources"] == {
        "requests": {"cpu": "950m", "memory": memory, "ephemeral-storage": disk},
        "limits": {"cpu": "1000m", "memory": memory, "ephemeral-storage": disk},
    }
    assert {"name": "memaudit", "mountPath": "/storage"} in container["volumeMounts"]
    assert {"name": "memaudit", "persistentVolumeClaim": {"claimName": "memaudit"}} in pod["volumes"]
    assert name in cluster.server.deleted
    sidecar = read_json(cluster.storage / "results/smoke/provenance/data_deduplicate_table/wine.json")
    assert sidecar["rule"] == "data_deduplicate_table"
    assert (cluster.storage / SCHEMA).exists()
