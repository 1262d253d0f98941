"""What happens before the first job and after the last: checks, progress lines, the main results."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from memaudit.common.errors import AuditError
from memaudit.common.screen_lines import write_line
from memaudit.workflow import housekeeping
from memaudit.workflow.cluster_limits import partition_faults, typical_job
from memaudit.workflow.digest import rule_of
from memaudit.workflow.job_costs import seconds_of
from memaudit.workflow.job_progress import INTERRUPTED, Brief, Progress, WithoutEcho, on_screen
from memaudit.workflow.job_sizes import Workload
from memaudit.workflow.partial_request import remove_partial, write_request
from memaudit.workflow.provenance import check_computed
from memaudit.workflow.run_config import RunConfig, read_facts
from memaudit.workflow.view_files import Views


def before_jobs(workload: Workload, workflow: Any, logger: Any) -> None:
    """Check what a run needs, then follow it with a line for every job that starts.

    Ends Snakemake with one line if packages or files of the user's are missing, the results cannot be written or are to
    be traced and are not there, an input is newer than now, a job fits no partition of a cluster, or a local table or
    model is not what the config says.
    """
    try:
        housekeeping.check_folder(workload.run.folder)
        if {"provenance", "archive"} & {job.rule.name for job in workflow.dag.needrun_jobs()}:
            check_computed(workload.run.folder)  # the job's log would make the folder of a run that is not there
        check_inputs(workload, workflow)
        check_partitions(workflow)
        # Packages of the jobs are in their own environments where Snakemake deploys these.
        if not workflow.deployment_settings.deployment_method:
            housekeeping.check_packages()
            check_tables(workload, workflow)
            check_models(workload, workflow)
        check_times(workload, workflow)
    except AuditError as error:
        sys.exit(f"memaudit: {error}")
    remove_partial(workload.run, workflow)
    mark_outdated(workflow)
    remove_default_rate(workflow)
    signal.signal(signal.SIGINT, interrupted)
    logger.addHandler(progress(workload, workflow, logger))


def interrupted(number: int, frame: FrameType | None) -> None:
    """Say that Ctrl-C has ended the run: a job that was still importing cannot, and Snakemake calls it failed."""
    INTERRUPTED.set()
    write_line("memaudit: interrupted; run the same command again, it goes on from here")
    signal.default_int_handler(number, frame)


def mark_outdated(workflow: Any) -> None:
    """Mark the results that this run replaces as incomplete, until their jobs have made them.

    Otherwise a job that fails, or a run that is killed, leaves results of an earlier config behind it, and Snakemake
    calls them up to date: that an input is gone is no reason for it to run a job whose outputs are there.
    """
    for job in workflow.dag.needrun_jobs():
        if any(Path(path).exists() for path in job.output):
            workflow.persistence.started(job)


def after_jobs(run: RunConfig, views: Mapping[str, Views], workflow: Any) -> None:
    """Remove finished scratch folders; say where the requested results lie, and what the requested studies found."""
    housekeeping.sweep(run.folder)
    rules = {job.rule.name for job in workflow.dag.jobs}
    if studies := [study for study in views if {study, "all"} & rules]:
        script = run.in_project("workflow_scripts/maintenance/print_headlines.py")
        params = json.dumps({"run": run.folder, "studies": studies})
        # A fault here does not make a finished run fail.
        subprocess.run([sys.executable, script, "--params", params], check=False)
    for line in finished_files(run, views, map(str, workflow.dag.derived_targetfiles), studies):
        write_line(f"memaudit: {line}")


def finished_files(
    run: RunConfig, views: Mapping[str, Views], files: Iterable[str], told: Collection[str] = ()
) -> list[str]:
    """A line for each table, figure and report among these files: path and title, without studies `told`."""
    titles = {
        f"{run.folder}/{folder}/{name}": shown["title"]
        for study, view in views.items()
        if study not in told
        for folder, entries in (("tables", view.tables | view.facts), ("figures", view.figures))
        for name, shown in entries.items()
    } | ({} if told else {f"{run.folder}/report/index": "all studies of this run on one page"})
    found = [(path, titles.get(path.rpartition(".")[0])) for path in sorted(files)]
    return [f"{path}: {title}" for path, title in found if title]


def after_failure(run: RunConfig, views: Mapping[str, Views], workflow: Any) -> None:
    """Tabulate the results that exist of studies whose tables failed jobs have cost, and say where."""
    if request := write_request(run, views, workflow, INTERRUPTED.is_set()):
        script = run.in_project("workflow_scripts/maintenance/tabulate_partial.py")
        # The run has failed already: a fault here is printed beside it.
        subprocess.run([sys.executable, script, "--input", f"request={request}"], check=False)


def check_inputs(workload: Workload, workflow: Any) -> None:
    """Raise AuditError, with one line for all of them, for missing files and tokens of the jobs of this run."""
    missing = workload.missing()
    names = dict.fromkeys(sized_as(job) for job in workflow.dag.needrun_jobs())
    if lines := [missing[name] for name in names if name in missing]:
        raise AuditError("; ".join(lines))


def check_times(workload: Workload, workflow: Any) -> None:
    """Set results that are newer than now back, and say so. Raises AuditError for an input of the user that is.

    Inputs of all jobs, not those of this run alone: a result that is set back must not become older than its input.
    """
    folder = workload.run.folder
    inputs = {path for job in workflow.dag.jobs for path in job.input if not getattr(path, "is_storage", False)}
    housekeeping.check_times(folder, inputs)
    if ahead := housekeeping.set_times_back(folder):
        write_line(f"memaudit: {folder}: files with times ahead of the clock, set back to now: {ahead:,}")


def check_partitions(workflow: Any) -> None:
    """Raise AuditError, with one line for all of them, for rules whose jobs fit no partition of the cluster."""
    if lines := partition_faults(workflow, [job for job in workflow.dag.needrun_jobs() if not job.is_local]):
        raise AuditError("; ".join(lines))


def unfit_rules(workload: Workload, workflow: Any) -> list[str]:
    """Rules of the whole run whose jobs fit no partition of the cluster, one line each, for the plan."""
    scripts = workload.sizes()
    rules = [rule for rule in workflow.rules if rule.script and rule_of(rule.script) in scripts]
    return partition_faults(workflow, [typical_job(rule) for rule in rules if not workflow.is_local(rule)])


def check_models(workload: Workload, workflow: Any) -> None:
    """Open the local models that this run will fetch, in another process: Snakemake itself does not load torch.

    Raises AuditError.
    """
    run = workload.run
    jobs = [job for job in workflow.dag.needrun_jobs() if job.rule.name == "models_fetch_checkpoint"]
    entries = {job.wildcards.model: run.config["models"][job.wildcards.model] for job in jobs}
    local = {
        name: entry | {"path": entry["path"] and run.named(entry["path"])}
        for name, entry in entries.items()
        if not entry["hub"]
    }
    # Jobs of a cluster run on other devices than this one.
    device = workflow.local_exec and bool(os.environ.get("MEMAUDIT_DEVICE"))
    if not (local or device):
        return
    uses = workload.model_uses()
    _check(
        run,
        "check_models.py",
        {"device": device, "models": local, "uses": {name: uses.get(name, []) for name in local}},
    )


def check_tables(workload: Workload, workflow: Any) -> None:
    """Hold the columns that the config names to the local tables that this run will read. Raises AuditError."""
    run, rules = workload.run, ("data_fetch_table", "data_deduplicate_table")
    if run.config["audit"]:  # whose intake has named the columns
        return
    names = {job.wildcards.dataset for job in workflow.dag.needrun_jobs() if job.rule.name in rules}
    entries = {name: run.config["datasets"][name] for name in sorted(names)}
    # One that is gone since it was fetched is not read again.
    files = {name: entry for name, entry in entries.items() if entry["source"] == "file" and entry["target"]}
    if there := {name: entry for name, entry in files.items() if Path(entry["path"]).expanduser().is_file()}:
        _check(run, "check_tables.py", {"tables": there})


def _check(run: RunConfig, script: str, params: Mapping[str, Any]) -> None:
    """Let a script of `maintenance` check something, in another process. Raises AuditError with its line."""
    path = run.in_project(f"workflow_scripts/maintenance/{script}")
    command = [sys.executable, path, "--params", json.dumps(params)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        # Libraries print warnings of their own.
        ours = [line for line in done.stderr.splitlines() if line.startswith("memaudit: ")]
        raise AuditError(ours[-1].removeprefix("memaudit: ") if ours else done.stderr.strip())


def given_settings(workflow: Any) -> list[str]:
    """Options that give Snakemake the settings of this call again."""
    given = workflow.config_settings
    files = ["--configfile", *map(str, given.configfiles)] if given.configfiles else []
    return files + (["--config", *given.config_args] if given.config_args else [])


def requested_minutes(workflow: Any) -> dict[str, float]:
    """Minutes of runtime that rules request, by their script; without those that compute it from their job."""
    found = {}
    for rule in workflow.rules:
        runtime = rule.resources.get("runtime")
        if rule.script and runtime is not None and not runtime.is_evaluable():
            found[rule_of(rule.script)] = runtime.value
    return found


def progress(workload: Workload, workflow: Any, logger: Any) -> Progress:
    """A log handler that prints a line for each job that starts, with the time left by the measured unit costs."""
    measured = read_facts(workload.run.unit_costs)
    seconds = seconds_of(workload.sizes(), measured["rules"] if measured else {})
    for handler in on_screen(logger):
        handler.addFilter(WithoutEcho(workflow.local_exec))
        if workflow.output_settings.quiet:
            handler.addFilter(Brief())
    return Progress(
        lambda: [seconds(*sized_as(job)) for job in workflow.dag.needrun_jobs()],
        (workflow.global_resources["_cores"].value or 1) if workflow.local_exec else workflow.nodes,
        logger.info,
        timed=measured is not None,
    )


def sized_as(job: Any) -> tuple[str, str]:
    """Rule and name of a job in `Workload.sizes`: its script, and the path of its sidecar in the script's folder."""
    path = Path(str(job.output.get("sidecar", job.rule.name)))
    script = rule_of(job.rule.script) if job.rule.script else job.rule.name
    return script, str(path.with_suffix("")).partition(f"provenance/{script}")[2].strip("/")


def remove_default_rate(workflow: Any) -> None:
    """Let jobs start as soon as they can; a rate that the user sets is kept.

    With its default of 100 jobs a second, Snakemake 9 schedules another look at all waiting jobs a second after every
    look: each job that ends adds an endless chain of looks, which together take half a core after 200 jobs.
    """
    rate = workflow.scheduling_settings.max_jobs_per_timespan
    if (rate.max_jobs, rate.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None
