"""A copy of the project in which the smoke config has run, for tests that change code, data or results."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import warm_scripts
from conftest import PROJECT, with_library

from memaudit.workflow.digest import KEPT

SNAKEMAKE = [sys.executable, "-m", "snakemake"]
SMOKE = ["--configfile", "config/smoke.yaml"]


class Checkout:
    """A folder with the project's files, where Snakemake is run as a user would, in the given environment."""

    def __init__(self, folder: Path, given: Mapping[str, str] = os.environ):
        self.folder, self.given = folder, given
        shutil.copytree(
            PROJECT,
            folder,
            ignore=shutil.ignore_patterns(
                "ledger", ".git", ".venv*", ".snakemake", "__pycache__", ".*_cache", "results"
            ),
            symlinks=True,
        )
        shutil.copytree(PROJECT / "results/bench", folder / "results/bench")
        # As in a user's clone, hashes of code are kept; the project's own are of the same files.
        (folder / ".git").mkdir()
        if (PROJECT / KEPT).exists():
            shutil.copytree(PROJECT / KEPT, folder / KEPT, ignore=shutil.ignore_patterns(".*"))
        (folder / ".venv-synth").symlink_to(PROJECT / ".venv-synth")

    def snakemake(self, *arguments: str, check: bool = True) -> str:
        """Run Snakemake on the smoke config; returns what it printed."""
        command = [*SNAKEMAKE, *SMOKE, "--cores", "2", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        printed = done.stdout + done.stderr
        assert not check or done.returncode == 0, printed
        assert check or done.returncode != 0, printed
        return printed

    @property
    def environment(self) -> dict[str, str]:
        return with_library(self.folder, self.given)

    def reruns(self) -> tuple[set[str], set[str]]:
        """Rules that a dry run would run, and those that have new code, pins or settings, not new input alone."""
        printed = self.snakemake("-n")
        found = re.search(r"params have changed since last execution:\n\s+(.*)\n", printed)
        rules = set(job_counts(printed)) - {"all"}
        return rules, set(map(of_script, found[1].split(", "))) if found else set()

    @property
    def results(self) -> Path:
        return self.folder / "results" / "smoke"


def job_counts(printed: str) -> dict[str, int]:
    """Snakemake's table of job counts, without its total; rules that share a script are counted under its name."""
    table = re.search(r"^job\s+count\n[-\s]+\n(.*?)^total", printed, re.MULTILINE | re.DOTALL)
    lines = table[1].strip().splitlines() if table else []
    counts: Counter[str] = Counter()
    for rule, count in map(str.split, lines):
        counts[of_script(rule)] += int(count)
    return dict(counts)


def of_script(rule: str) -> str:
    """Name of a rule's script: some rules of views share one."""
    return re.sub(r"^(views_tabulate_results|views_draw_figures)_\w+", r"\1", rule)


@pytest.fixture(scope="session")
def warm_environment() -> dict[str, str]:
    """Environment in which jobs are forked from a warm interpreter, which is started once."""
    return warm_scripts.environment()


@pytest.fixture(scope="module")
def warm_jobs(warm_environment) -> Iterator[None]:
    """Jobs of every Snakemake that a module's tests start need no imports; without it they run as a user's do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", warm_environment["PYTHONPATH"])
        yield


@pytest.fixture(scope="session")
def smoke(tmp_path_factory, warm_environment) -> Checkout:
    """The smoke run, made once; tests leave it as they found it."""
    checkout = Checkout(tmp_path_factory.mktemp("smoke") / "memaudit", warm_environment)
    checkout.snakemake()
    return checkout
