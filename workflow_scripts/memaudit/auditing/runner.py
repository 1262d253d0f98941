"""Run an audit: the intake of the table, and two stages of Snakemake, all in one private folder."""

import datetime
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import yaml

from memaudit.auditing.findings.protection import require_review_date
from memaudit.auditing.page import pdf_page
from memaudit.auditing.reading import estimator_import, model_choice, row_nouns
from memaudit.auditing.reading.intake import take_in
from memaudit.auditing.reading.request import SHIPPED, Request
from memaudit.auditing.running import optional_studies, setting_bounds, stage_results, stages
from memaudit.auditing.running.ended_processes import ended_together
from memaudit.auditing.running.ledger_note import note_audit
from memaudit.auditing.running.second_stage_sizes import second_stage_sizes, whole_minutes_before
from memaudit.auditing.running.terminal_progress import SAID, Display
from memaudit.auditing.running.working_folder import in_one_line, private
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, replacing
from memaudit.common.project_paths import CALLED_FROM
from memaudit.common.snakemake_command import snakemake_command

LOG = "snakemake.log"
NOTHING = "Nothing to be done"  # of Snakemake
COMPUTED = {"quick": "the first numbers", "full": "the whole audit", "predictions": "the audit of predictions"}
COPIED = {"index.html": "report.html", "summary.json": "summary.json", "risk.parquet": "risk.parquet"}
# Settings of the config, too.
PASSED_ON = ("shown", "show_values", "finetune", "context_rows", "owner", "review_by", "records")
PDF = "report.pdf"


@dataclass(frozen=True)
class Settings:
    """Settings of an audit, as on the command line."""

    folder: Path
    threats: Sequence[str] = ("labels", "probabilities")
    models: Sequence[str] = (SHIPPED,)
    params: dict[str, Any] = field(default_factory=dict)
    labels: Sequence[str] = ()  # what the page calls the models; none: as named
    epsilon: Sequence[float] = ()
    public: str | None = None
    finetune: bool = False
    minutes: float = 3.0
    quick: bool = False  # only the first stage
    whole: bool = False  # both stages, also where they do not fit the minutes
    base_rates: Sequence[float] = (0.01, 0.1, 0.5)
    shown: int = 20
    show_values: bool = False
    owner: str = ""  # who reviews the audit
    review_by: str = ""  # date of the next review
    records: str = ""  # plural noun for rows that are not records of people
    pdf: bool = False  # the page as report.pdf, too
    context_rows: int | None = None  # of the context that will be deployed; None: all rows with a target
    cores: int | None = None
    snakemake: Sequence[str] = ()


def run(request: Request, settings: Settings, report: Callable[[str, Any], None]) -> Path:
    """Run the audit and return its folder, with report.html, summary.json and risk.parquet.

    report: called with "schema" and the facts of the intake, after each stage with its name and its summary, and with
    "late" and a line if the audit took much longer than its budget, or ends with the first numbers since the rest does
    not fit. Raises AuditError in one line for every fault that a user can correct.
    """
    with in_one_line(settings.folder):
        return _run(request, settings, report)


def _run(request: Request, settings: Settings, report: Callable[[str, Any], None]) -> Path:
    started = time.monotonic()
    _check(request, settings)
    _check_models(settings)
    folder, fresh = settings.folder, not os.path.exists(settings.folder)
    with private(folder) as lock:
        # What was asked for by an option is measured, whatever it takes.
        whole = settings.whole or bool(_of_second_stage(request, settings)) or _keep_complete(settings)
        facts = _taken_in(request, settings, fresh)
        catalogue = model_choice.entries(settings.models, settings.params, facts["kind"])
        if settings.epsilon:
            public = optional_studies.public_facts(folder / "table/table.parquet", facts, settings.public)
            optional_studies.write_public(folder, public)
            note_audit(request, folder)
        models = _called(settings, catalogue[1])
        shown = {"models": models, "records": settings.records, "show_values": settings.show_values}
        report("schema", facts | shown | {"left_by_quick": left_by_quick(request, settings)})
        chosen = _chosen(settings, models, request.seed)
        chosen["quick"] = settings.quick or (stages.too_short(settings.minutes) and not whole)
        config = partial(stages.overlay, facts=facts, models=catalogue)
        late = _staged(config, chosen, facts["taken"], settings, whole, lock, started, report)
    if late:
        report("late", late)
    return folder


def _staged(
    config: Callable[..., dict[str, Any]],
    chosen: Mapping[str, Any],
    taken: int,
    settings: Settings,
    whole: bool,
    lock: int,
    started: float,
    report: Callable[[str, Any], None],
) -> str | None:
    """Run the stages, and return the line of a late or shortened audit.

    config: `stages.overlay` with the table and the models; taken: records of the table; whole: the second stage is run
    whatever it takes; started: `time.monotonic()`.
    """
    first, alone = stages.quick_sizes(taken), chosen | {"quick": True}
    before = None if whole else whole_minutes_before(settings.folder, config("quick", sizes=first, chosen=alone))
    if before:
        first, chosen = first | {"whole": before}, alone
    with Display(stages.guessed_seconds(settings.minutes, chosen["quick"]), stages.FIXED_SECONDS) as display:
        report("quick", _stage("quick", config("quick", sizes=first, chosen=chosen), settings, lock, display))
        if settings.quick:
            return None
        left = 60 * settings.minutes - (time.monotonic() - started)
        sizes = second_stage_sizes(left, settings, config("full", sizes=first, chosen=chosen))
        if whole or stages.fits(settings.minutes, sizes):
            display.starts("full", sizes["seconds expected"])
            report("full", _stage("full", config("full", sizes=sizes, chosen=chosen), settings, lock, display))
            return stages.overrun(time.monotonic() - started, settings.minutes, sizes)
        needed = before if before and before > settings.minutes else stages.enough(settings.minutes, sizes)
        ending = config("quick", sizes=first | {"whole": needed}, chosen=alone)
        display.starts("quick", stages.PAGE_SECONDS, last=True)
        ended = _stage("quick", ending, settings, lock, display)
        if not chosen["quick"]:  # now with the smallest leak, which the first numbers of a longer audit lack
            report("quick", ended)
        return stages.left_out(settings.minutes, needed)


def _chosen(settings: Settings, models: Sequence[str], seed: int) -> dict[str, Any]:
    """What `stages.overlay` needs of the settings."""
    chosen = {key: getattr(settings, key) for key in PASSED_ON} | {"threats": list(settings.threats)}
    chosen |= {"base_rates": sorted(set(settings.base_rates)), "epsilons": sorted(set(settings.epsilon))}
    return chosen | {"seed": seed, "model_labels": models}


def _check_models(settings: Settings) -> None:
    """Raise AuditError for a model that cannot be found, or not be attacked as the settings say."""
    added, names = model_choice.entries(settings.models, settings.params)
    called = _called(settings, names)
    if settings.finetune:
        model_choice.tunable(names[0], added, called[0])
    if "white-box" in settings.threats:
        model_choice.readable(names[0], added, called[0])
    estimator_import.require(added)


def _called(settings: Settings, names: Sequence[str]) -> list[str]:
    """What the models are called, as the user named them; names: of the catalogue."""
    return list(settings.labels) or model_choice.labels(settings.models, names)


def left_by_quick(request: Request, settings: Settings) -> list[str]:
    """Options that were given, and that --quick leaves out."""
    return _of_second_stage(request, settings) if settings.quick else []


def _of_second_stage(request: Request, settings: Settings) -> list[str]:
    """Options that were given, and that the first stage leaves out."""
    given = {"--by": request.by, "--infer": request.infer, "--epsilon": settings.epsilon}
    given |= {"--finetune": settings.finetune, "further models": settings.models[1:]}
    given |= {f"--threats {name}": name in settings.threats for name in ("poison", "white-box", "linkability")}
    return [name for name, value in given.items() if value]


def _taken_in(request: Request, settings: Settings, fresh: bool) -> dict[str, Any]:
    """Facts of the intake; if it refuses, a folder that the audit created is removed."""
    folder = settings.folder

    def accept(facts: Mapping[str, Any], copy: Path) -> None:
        optional_studies.check_inference(facts, settings.threats)
        optional_studies.check_target(facts, settings.threats, bool(settings.epsilon), settings.finetune)
        model_choice.entries(settings.models, settings.params, facts["kind"])
        if settings.finetune:
            optional_studies.check_units(facts["taken"])
        if settings.epsilon:
            optional_studies.public_facts(copy, facts, settings.public)

    try:
        return take_in(request, folder, accept)
    except (AuditError, OSError, duckdb.Error):
        if fresh:
            shutil.rmtree(folder)
        raise


def _check(request: Request, settings: Settings) -> None:
    for described in (request, settings):
        setting_bounds.check(described)
    if settings.public and not settings.epsilon:
        raise AuditError("--public: is only for private contexts; give their --epsilon, or leave it out")
    if settings.epsilon and not settings.public:
        raise AuditError(
            "--epsilon: needs --public FILE, published bounds and categories of the columns (docs/release.md); read "
            "from the table they would reveal records that no noise hides"
        )
    if settings.quick and settings.whole:
        raise AuditError("--whole: measures what --quick leaves out; leave one of them out")
    if settings.pdf:
        pdf_page.require()
    row_nouns.require(settings.records, settings.owner, settings.review_by)
    require_review_date(settings.review_by, datetime.date.today())
    stage_results.refuse_idle(settings.snakemake)


def _keep_complete(settings: Settings) -> bool:
    """Whether the folder holds a complete audit, which stays one. Raises AuditError if --quick would replace it."""
    summary = settings.folder / "summary.json"
    complete = summary.exists() and read_json(summary)["stage"] == "full"
    if complete and settings.quick:
        raise AuditError(
            f"{str(settings.folder)!r}: holds a complete audit, which --quick would replace; give another folder with "
            "--into"
        )
    return complete


def _stage(stage: str, config: dict[str, Any], settings: Settings, lock: int, display: Display) -> dict[str, Any]:
    """Run one stage, copy its results to where the user finds them, and return its summary."""
    folder = settings.folder
    path = folder / f"{stage}.yaml"
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    stage_results.remove_unsupported(folder, stage)
    failed, cause = snakemake(path, "audit", settings, lock, display)
    if failed:
        raise StageError(stage, cause, folder / LOG)
    stage_results.check(folder, stage, config, settings.snakemake)
    copy_results(folder / "results" / stage / "audit" / stages.NAME, settings)
    return read_json(folder / "summary.json")


def copy_results(made: Path, settings: Settings) -> None:
    """Copy the user's results to the top of the audit's folder, with a PDF of the page where one is asked for."""
    folder = settings.folder
    for name, copy in COPIED.items():
        with replacing(folder / copy) as temporary:
            shutil.copyfile(made / name, temporary)
    (folder / PDF).unlink(missing_ok=True)  # of an earlier page
    if settings.pdf:
        pdf_page.write(folder / "report.html", folder / PDF)


def snakemake(config: Path, target: str, settings: Settings, lock: int, display: Display) -> tuple[int, str | None]:
    """Run Snakemake in the audit's folder with this config; returns its exit code, and why its last job failed."""
    folder = settings.folder
    # The audit's own lock is released when its process dies, Snakemake's is not.
    options = ["--directory", str(folder), "--nolock", "--quiet", "rules", "progress"]
    options += ["--cores", str(settings.cores or "all"), *settings.snakemake, "--configfile", str(config)]
    failed, cause = _snakemake(snakemake_command([*options, "--", target]), folder / LOG, lock, display)
    _owners_alone(folder / ".snakemake")
    return failed, cause


class StageError(AuditError):
    """A stage has failed; cause: what its last failed job said to users, None if it said nothing."""

    def __init__(self, stage: str, cause: str | None, log: Path) -> None:
        self.what, self.cause = f"a job of {COMPUTED[stage]} has failed", cause
        super().__init__(
            f"{self.what}; Snakemake's messages are in {str(log)!r}. The same command continues where it stopped"
        )


def _owners_alone(folder: Path) -> None:
    """Remove the access of others to Snakemake's own files, for which it ignores the umask."""
    for path in folder.rglob("*"):
        if not path.is_symlink() and (mode := path.stat().st_mode) & 0o077:
            path.chmod(mode & 0o700)


def _snakemake(command: list[str], log: Path, lock: int, display: Display) -> tuple[int, str | None]:
    """Run Snakemake; it keeps the lock. Its lines for users are displayed, all are logged.

    Returns its exit code and the last line of a job that tells why it failed.
    """
    cause, idle = None, False
    log.unlink(missing_ok=True)  # never write through a link
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    pipes["env"] = os.environ | {CALLED_FROM: os.getcwd()}
    with (
        open(log, "w", buffering=1, encoding="utf-8") as kept,
        subprocess.Popen(command, **pipes, text=True, errors="replace", pass_fds=[lock]) as running,
        ended_together(running),
    ):
        for line in running.stdout:
            kept.write(line)
            idle |= line.startswith(NOTHING)
            if line.startswith(SAID):
                cause = line.removeprefix(SAID).strip() if display.line(line.rstrip("\n")) else cause
        display.ended(idle)
        return running.wait(), cause
