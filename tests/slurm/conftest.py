"""A private Slurm, and clones of the project that submit to it."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import PROJECT
from workflow.conftest import Checkout, warm_environment  # noqa: F401  (a fixture)

from memaudit.common.checksums import sha256
from memaudit.common.io import read_json

# The test's cluster has no accounting, and its jobs take seconds: what a site would say in the profile.
SITE = "\nslurm-status-command: squeue\nslurm-init-seconds-before-status-checks: 1\n"
RESULTS = ("tables", "figures", "scores")
# Seconds were measured: they stand in one table of the study of prediction, and among its scores.
MEASURED = r"tables/predict_cost|scores/predict/"
# Rules of studies whose jobs run on a GPU where there is one.
GPU_RULES = (
    "lira_query_shadows|attacks_query_|tabpate_(release|query|answer|poison)_|iclmem_probe_|predict_train_shadows|"
    "ltmia_(prepare_model|finetune_targets|train_attack|measure_diversity|permute_features|attack_texts)"
)


@pytest.fixture(scope="module")
def cluster():
    """A Slurm of two nodes of 4 CPUs, the second with 4 GPUs for two shards sent twice; stopped whatever happens."""
    # A short path: the sockets of the daemons lie in it, and those of pytest's folders are too long for one.
    folder = Path(tempfile.gettempdir(), f"memaudit-slurm-{os.getpid()}")
    # Hub access as a user may have set it: compute jobs take it away.
    settings = {"LOCAL_SLURM_DIR": str(folder), "BASE_PORT": str(20000 + os.getpid() % 500 * 20)}
    settings |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "0"}
    script = str(PROJECT / "tests/slurm/local-slurm.sh")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        try:
            subprocess.run([script, "up"], check=True)
            patch.setenv("SLURM_CONF", str(folder / "etc/slurm.conf"))
            patch.setenv("PATH", f"{folder}/bin", prepend=os.pathsep)
            yield
        finally:
            subprocess.run([script, "down"], check=True)
            subprocess.run([script, "clean"], check=True)


def leave_out_private_releases(folder: Path) -> None:
    """Their noise has no seed, so no two runs of them are equal, and they would be most of the time."""
    path = folder / "config/smoke.yaml"
    kept, left_out = text(path), "tabpate:\n  datasets: [wine, diabetes]\n"
    assert left_out in kept, f"{path} has no {left_out!r} any more"
    path.write_text(kept.replace(left_out, "tabpate:\n  datasets: []\n"), encoding="utf-8")


class Clone(Checkout):
    """A fresh clone, its profile told about the site."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.run: subprocess.Popen | None = None
        self.append("profiles/slurm/config.v9+.yaml", SITE)
        leave_out_private_releases(self.folder)

    def append(self, name: str, more: str) -> None:
        path = self.folder / name
        path.write_text(text(path) + more, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        assert old in text(path), f"{name} has no {old!r} any more"
        path.write_text(text(path).replace(old, new), encoding="utf-8")

    def start(self, *arguments: str) -> None:
        """Give the README's command; what it prints goes to the file `printed`."""
        snakemake = Path(sys.executable).with_name("snakemake")
        command = [snakemake, "--cores", "all", "--profile", "slurm", "--configfile", "config/smoke.yaml", *arguments]
        with open(self.folder / "printed", "w", encoding="utf-8") as printed:
            self.run = subprocess.Popen(command, cwd=self.folder, stdout=printed, stderr=subprocess.STDOUT)

    def until(self, condition: Callable[[], bool], seconds: float = 300) -> None:
        """Wait for something that happens while the command runs."""
        end = time.monotonic() + seconds
        while not condition():
            assert self.run.poll() is None, self.printed()
            assert time.monotonic() < end, self.printed()
            time.sleep(0.2)

    def finish(self, *, check: bool = True) -> str:
        """Wait for the command's end; returns what it printed."""
        self.run.wait(timeout=3600)
        assert (self.run.returncode == 0) == check, self.printed()
        return self.printed()

    def submit(self, *arguments: str, check: bool = True) -> str:
        self.start(*arguments)
        return self.finish(check=check)

    def kill(self) -> None:
        if self.run:
            self.run.kill()
            self.run.wait()

    def printed(self) -> str:
        return text(self.folder / "printed")

    def parts(self) -> list[tuple[str, str]]:
        """Slurm id and name of each part that was computed, in order."""
        path = self.folder / "parts.txt"
        return [tuple(line.split(" ", 1)) for line in text(path).splitlines()] if path.exists() else []

    def writers(self, grid: str) -> dict[str, list[dict]]:
        """Of each shard of a grid, the journal of its writers."""
        folder = self.results / "provenance/lira_query_shadows/wine" / grid
        return {path.stem: read_json(path)["writers"] for path in sorted(folder.glob("*.json"))}


def text(path: Path) -> str:
    # Two jobs that write one log leave zeros in it.
    return path.read_text(encoding="utf-8", errors="replace")


def slurm_job(number: str) -> dict[str, str]:
    """What the controller knows of a job, also of one that has ended."""
    done = subprocess.run(["scontrol", "show", "job", "-o", number], capture_output=True, text=True, check=True)
    return dict(re.findall(r"(\w+)=(\S+)", done.stdout))


def submissions(printed: str, job: str) -> list[str]:
    """Slurm ids of a job, by `rule_NAME/WILDCARDS` as in the path of its Slurm log, in order."""
    return re.findall(rf"SLURM jobid (\d+) \(log: \S+/{job}/\d+\.log\)", printed)


def hashes(checkout: Checkout) -> dict[str, str]:
    """SHA-256 of the tables, figures and scores of a smoke run that are equal in every run."""
    files = [path for folder in RESULTS for path in (checkout.results / folder).rglob("*") if path.is_file()]
    named = {str(path.relative_to(checkout.results)): path for path in files}
    return {name: sha256(path) for name, path in named.items() if not re.match(MEASURED, name)}


@pytest.fixture(scope="module")
def clone(cluster, tmp_path_factory) -> Iterator[Callable[[str], Clone]]:
    """Makes clones by name; no Snakemake of theirs outlives the tests."""
    made = []

    def make(name):
        made.append(Clone(tmp_path_factory.mktemp(name) / "memaudit"))
        return made[-1]

    yield make
    for one in made:
        one.kill()
