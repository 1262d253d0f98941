"""Runs through a private Slurm while controllers, nodes, disks and clocks fail have the results of a local run.

`make soak` runs this; a plain pytest does not. It needs root, for a disk of its own.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import PROJECT, mounted
from workflow.conftest import Checkout

from memaudit.common.io import write_json
from slurm.conftest import Clone, hashes, leave_out_private_releases

pytestmark = pytest.mark.soak

MINUTES = float(os.environ.get("MINUTES", "120"))
STUDIES = os.environ.get("STUDY", "all").split()
SEED = 20260525
QUIET = (15, 60)  # seconds between faults
LASTS = 20  # seconds that a fault lasts
DISK = "6g"
FILES = 200000
SHIFT = 3 * 3600  # seconds by which a clock is wrong
MOST_STARTS = 60  # of one round, before it counts as one that never ends


class Soak:
    """Rounds of one run, each from an empty folder, and the faults that they met."""

    def __init__(self, clone: Clone, draws: random.Random):
        self.clone, self.draws = clone, draws
        self.slurm = Path(os.environ["LOCAL_SLURM_DIR"])
        self.met: Counter[str] = Counter()
        self.starts = self.failed = self.submitted = 0
        self.faults: dict[str, Callable[[], None]] = {
            "a killed controller": self.kill_controller,
            "a node that vanishes": self.lose_node,
            "a full disk": self.fill_disk,
            "a quota of files": self.use_up_files,
            "a changed clock": self.change_clock,
        }

    def restart(self) -> None:
        self.count()
        self.start()

    def count(self) -> None:
        self.submitted += len(re.findall(r"SLURM jobid \d+", self.clone.printed()))

    def start(self) -> None:
        self.starts += 1
        self.clone.snakemake("--unlock")
        self.clone.start("--", *STUDIES)

    def round(self, end: float) -> None:
        """One run, from nothing to its end: a fault now and then until `end`; one that has failed is started again."""
        before = self.starts
        self.start()
        while True:
            if self.ended_within(self.draws.uniform(*QUIET)):
                if self.clone.run.returncode == 0:
                    return self.count()
                self.failed += 1
                assert self.starts - before < MOST_STARTS, self.clone.printed()
                self.restart()
            elif time.monotonic() < end:
                name = self.draws.choice(list(self.faults))
                self.met[name] += 1
                self.faults[name]()

    def ended_within(self, seconds: float) -> bool:
        try:
            self.clone.run.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill_controller(self) -> None:
        """Its jobs outlive it, and the next one submits them again."""
        self.clone.kill()
        self.restart()

    def lose_node(self) -> None:
        """The daemon of the first node dies, Slurm requeues its jobs, and what ran there still runs and writes."""
        pid = int((self.slurm / "run/slurmd-n1").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        set_node("down")
        time.sleep(LASTS)
        subprocess.run([PROJECT / "tests/slurm/local-slurm.sh", "up"], check=True, capture_output=True)
        set_node("resume", check=False)  # a node that has come back has resumed by itself

    def fill_disk(self) -> None:
        ballast = self.clone.folder / "results/ballast"
        with open(ballast, "wb") as file:
            again(lambda: os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(ballast.parent).free - 2**12))
        time.sleep(LASTS)
        ballast.unlink()

    def use_up_files(self) -> None:
        """No file can be made any more, as with a quota; what is open can be written."""
        folder = self.clone.folder / "results"
        again(lambda: remount(folder, nr_inodes=files_of(folder)))
        time.sleep(LASTS)
        remount(folder, nr_inodes=FILES)

    def change_clock(self) -> None:
        """The controller comes back to results of the past or the future, written by nodes of another time."""
        self.clone.kill()
        shift = self.draws.choice([-SHIFT, SHIFT])
        for path in sorted(self.clone.results.rglob("*")):
            if path.is_file() and self.draws.random() < 0.5:
                written = path.stat().st_mtime + shift
                os.utime(path, (written, written))
        self.restart()


def again(fill: Callable[[], None]) -> None:
    """Call `fill` until it succeeds: jobs write between the reading of what is free and its use."""
    for left in reversed(range(100)):
        try:
            fill()
            return
        except (OSError, subprocess.CalledProcessError):
            if not left:
                raise


def files_of(disk: Path) -> int:
    state = os.statvfs(disk)
    return state.f_files - state.f_ffree


def set_node(state: str, *, check: bool = True) -> None:
    command = ["scontrol", "update", "nodename=n1", f"state={state}", "reason=soak"]
    subprocess.run(command, check=check, capture_output=True)


def remount(folder: Path, **options: int) -> None:
    told = ",".join(f"{name}={value}" for name, value in options.items())
    subprocess.run(["mount", "-o", f"remount,{told}", str(folder)], check=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, warm_environment) -> Checkout:
    """The same run without a cluster."""
    checkout = Checkout(tmp_path_factory.mktemp("local") / "memaudit", warm_environment)
    leave_out_private_releases(checkout.folder)
    checkout.snakemake(*STUDIES)
    return checkout


def test_results_of_a_run_that_met_every_fault_are_those_of_an_undisturbed_one(clone, undisturbed, tmp_path):
    soaked = clone("soak")
    (soaked.folder / "results").rename(kept := tmp_path / "bench")
    (soaked.folder / "results").mkdir()
    begun, rounds = time.monotonic(), 0
    with mounted(soaked.folder / "results", "-t", "tmpfs", "-o", f"size={DISK},nr_inodes={FILES}", "tmpfs"):
        soak = Soak(soaked, random.Random(SEED))
        expected = hashes(undisturbed)
        while time.monotonic() < begun + 60 * MINUTES:
            shutil.rmtree(soaked.results, ignore_errors=True)
            shutil.copytree(kept, soaked.folder / "results", dirs_exist_ok=True)
            soak.round(begun + 60 * MINUTES)
            rounds += 1
            found = hashes(soaked)
            assert found
            assert found == expected
            assert "agree with their sidecars" in soaked.snakemake("provenance")
    outcome = {
        "date": datetime.now(UTC).date().isoformat(),
        "minutes": round((time.monotonic() - begun) / 60),
        "studies": STUDIES,
        "rounds": rounds,
        "submitted": soak.submitted,
        "starts": soak.starts,
        "failed": soak.failed,
        "faults": {name: soak.met[name] for name in soak.faults},
        "compared": len(found),
    }
    print(json.dumps(outcome))
    write_json(outcome, PROJECT / "results/bench/soak.json")
