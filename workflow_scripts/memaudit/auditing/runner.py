"""From a request to a report: intake, and two stages of Snakemake. Everything stays in one private folder."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from memaudit.auditing import model_choice, optional_stages, stages
from memaudit.auditing.intake import Request, take_in
from memaudit.errors import AuditError
from memaudit.io import read_json, replacing
from memaudit.workflow.project_paths import PROJECT

MARK = ".memaudit"
LOG = "snakemake.log"
HANDED = {"index.html": "report.html", "summary.json": "summary.json", "risk.parquet": "risk.parquet"}
QUERY = "results/quick/provenance/attacks_query_contexts/table/main"

# Options with which Snakemake ends well and makes nothing, or less than it was asked for.
UNMADE = {"-n", "--dry-run", "--dryrun", "-t", "--touch", "-U", "--until", "-O", "--omit-from", "--unlock", "--lint"}


@dataclass(frozen=True)
class Settings:
    """How an audit is made; threats, models and the rest as on the command line."""

    folder: Path
    threats: Sequence[str] = ("labels", "probabilities")
    models: Sequence[str] = (model_choice.SHIPPED,)
    params: dict[str, Any] = field(default_factory=dict)
    epsilons: Sequence[float] = ()
    public: str | None = None
    finetune: bool = False
    minutes: float = 5.0
    quick: bool = False  # the first numbers alone
    base_rates: Sequence[float] = (0.01, 0.1, 0.5)
    shown: int = 20
    show_values: bool = False
    cores: int | None = None
    snakemake: Sequence[str] = ()


@contextlib.contextmanager
def private(folder: Path) -> Iterator[int]:
    """The folder, made if need be, its owner's alone; so is all that is written in the block. A lock that is held.

    Raises AuditError for a folder that holds something else, or where another audit goes on.
    """
    before, shown = os.umask(0o077), ascii(str(folder))
    try:
        try:
            if folder.exists() and not folder.is_dir():
                raise AuditError(f"{shown}: is a file; give another folder with --into")
            if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
                raise AuditError(f"{shown}: holds something else than an audit; give another one with --into")
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            lock = os.open(folder / MARK, os.O_RDWR | os.O_CREAT, 0o600)
            # The copy of the table must not be committed with the folder that it stands in.
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise AuditError(f"{shown}: cannot be written ({error.strerror}); give another one with --into") from None
        try:
            _lock(lock, shown)
            yield lock
        finally:
            os.close(lock)
    finally:
        os.umask(before)


def _lock(descriptor: int, shown: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise AuditError(f"{shown}: another audit goes on there; wait for it, or give another --into") from None


def run(request: Request, settings: Settings, tell: Callable[[str, Any], None]) -> Path:
    """The audit's folder, with report.html, summary.json and risk.parquet.

    tell: called with "schema" and the facts of the intake, and after each stage with its name and its summary. Raises
    AuditError in one line for everything that a user can mend.
    """
    started = time.monotonic()
    _check(request, settings)
    catalogue = model_choice.entries(settings.models, settings.params)
    if settings.finetune:
        model_choice.tunable(catalogue[1][0], catalogue[0])
    folder, fresh = settings.folder, not os.path.exists(settings.folder)
    with private(folder) as lock:
        _keep_whole(settings)
        facts = _taken_in(request, folder, fresh)
        if settings.finetune:
            optional_stages.check_units(facts["taken"])
        if settings.epsilons:
            optional_stages.write_public(folder, facts, settings.public)
        tell("schema", facts)
        asked = {key: getattr(settings, key) for key in ("shown", "show_values", "finetune")}
        asked |= {"threats": list(settings.threats)}
        asked |= {key: sorted(set(getattr(settings, key))) for key in ("base_rates", "epsilons")}
        asked |= {"seed": request.seed, "model_labels": list(settings.models)}
        sizes = stages.quick_sizes(facts["taken"])
        config = stages.overlay("quick", facts, sizes, asked, catalogue)
        tell("quick", _stage("quick", config, settings, lock))
        if settings.quick:
            return folder
        left = 60 * settings.minutes - (time.monotonic() - started)
        sizes = _full_sizes(left, settings, stages.overlay("full", facts, sizes, asked, catalogue))
        config = stages.overlay("full", facts, sizes, asked, catalogue)
        tell("full", _stage("full", config, settings, lock))
    return folder


def _taken_in(request: Request, folder: Path, fresh: bool) -> dict[str, Any]:
    """Facts of the intake; a table that is refused leaves no folder that was not there."""
    try:
        return take_in(request, folder)
    except AuditError:
        if fresh:
            shutil.rmtree(folder)
        raise


def _check(request: Request, settings: Settings) -> None:
    if request.seed < 0:
        raise AuditError(f"--seed {request.seed}: is 0 or more")
    if settings.public and not settings.epsilons:
        raise AuditError("--public: is for private contexts; say at which --epsilon, or leave it out")
    if unmade := sorted(UNMADE & {option.partition("=")[0] for option in settings.snakemake}):
        raise AuditError(f"{unmade[0]}: Snakemake would not make the page; leave it out")


def _keep_whole(settings: Settings) -> None:
    """First numbers alone do not take the place of a whole page."""
    summary = settings.folder / "summary.json"
    if settings.quick and summary.exists() and read_json(summary)["stage"] == "full":
        raise AuditError(
            f"{str(settings.folder)!a}: a whole audit stands there, --quick would take its place; give another folder "
            "with --into"
        )


def _full_sizes(left: float, settings: Settings, config: dict[str, Any]) -> dict[str, Any]:
    """Sizes of the second stage; those of a run of the same request that was begun are kept, so that it goes on."""
    folder = settings.folder
    known = folder / "full.yaml"
    wanted = {"minutes": settings.minutes}
    if known.exists():
        before = yaml.safe_load(known.read_text(encoding="utf-8"))
        sizes = before["audit"]["plan"]
        same = [before["datasets"][stages.NAME] | {"max_records": 0}, before["audit"] | {"plan": 0}, before["models"]]
        other = [config["datasets"][stages.NAME] | {"max_records": 0}, config["audit"] | {"plan": 0}, config["models"]]
        if same == other and sizes.get("minutes") == settings.minutes:
            return sizes
    sidecars = [read_json(path) for path in sorted((folder / QUERY).glob("*.json"))]
    asking = sum(max(one["wall_seconds"] - stages.START_SECONDS, 1.0) for one in sidecars)
    units = read_json(folder / "results/quick/data" / stages.NAME / "schema.json")["units"]
    return wanted | stages.full_sizes(
        units,
        min(units, stages.QUICK_RECORDS),
        asking / stages.QUICK_SETS,
        left,
        cores=settings.cores or os.cpu_count() or 1,
        models=len(settings.models),
        poison="poison" in settings.threats,
        seconds_elsewhere=optional_stages.PRIVATE_SECONDS * len(settings.epsilons)
        + optional_stages.TUNING_SECONDS * settings.finetune,
    )


def _stage(stage: str, config: dict[str, Any], settings: Settings, lock: int) -> dict[str, Any]:
    """Run one stage; its summary. The results that the user looks for are copied to the top of the folder."""
    folder = settings.folder
    path = folder / f"{stage}.yaml"
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), "--directory", str(folder)]
    # Our own lock is given up when its holder dies, Snakemake's is not.
    command += ["--nolock", "--workflow-profile", str(PROJECT / "profiles/default"), "--quiet", "rules", "progress"]
    command += ["--cores", str(settings.cores or "all"), *_profiles(settings.snakemake)]
    command += ["--configfile", str(path), "--", "audit"]
    failed = _told(command, folder / LOG, lock)
    _owners_alone(folder / ".snakemake")
    if failed:
        raise AuditError(
            f"the {stage} stage has failed; {str(folder / LOG)!a} has what Snakemake said. The same command goes on "
            "where it stopped"
        )
    made = folder / "results" / stage / "audit" / stages.NAME
    for name, handed in HANDED.items():
        with replacing(folder / handed) as temporary:
            shutil.copyfile(made / name, temporary)
    return read_json(folder / "summary.json")


def _owners_alone(folder: Path) -> None:
    """Take from others what Snakemake gives them of its own files, whatever the umask says."""
    for path in folder.rglob("*"):
        if not path.is_symlink() and (mode := path.stat().st_mode) & 0o077:
            path.chmod(mode & 0o700)


def _told(command: list[str], log: Path, lock: int) -> int:
    """Run Snakemake, which holds the lock as long as it lives; its lines for users are shown, all are kept."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with (
        open(log, "w", buffering=1, encoding="utf-8") as kept,
        subprocess.Popen(command, **pipes, text=True, errors="replace", pass_fds=[lock]) as running,
    ):
        for line in running.stdout:
            kept.write(line)
            if line.startswith("memaudit: "):
                print(line, end="", flush=True)
        return running.wait()


def _profiles(arguments: Sequence[str]) -> list[str]:
    """Arguments for Snakemake; a profile of the project is meant from wherever the user is."""
    found = list(arguments)
    for place in range(len(found) - 1):
        if found[place] == "--profile" and (PROJECT / found[place + 1]).is_dir():
            found[place + 1] = str(PROJECT / found[place + 1])
    return found
