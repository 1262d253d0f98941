"""Before the first job and after the last: what stops a run, how far it is, what it has found. No rule stands here."""

import subprocess

from memaudit.workflow.job_costs import seconds_of
from memaudit.workflow.job_progress import Brief, Progress


def check_start():
    """Once before the first job: end with one line where packages are missing, the results cannot be written, or a
    local model cannot be what the config says."""
    try:
        housekeeping.check_folder(f"results/{config['run']}")
        if not workflow.deployment_settings.deployment_method:
            housekeeping.check_packages()
            check_models()
    except AuditError as error:
        sys.exit(f"memaudit: {error}")


def check_models():
    """Open the local models that this run will fetch, in a process of its own: torch is not for a Snakefile."""
    jobs = [job for job in workflow.dag.needrun_jobs() if job.rule.name == "models_fetch_checkpoint"]
    entries = {job.wildcards.model: config["models"][job.wildcards.model] for job in jobs}
    local = {
        name: entry | {"path": entry["path"] and in_project(entry["path"])}
        for name, entry in entries.items()
        if not entry["hub"]
    }
    # Jobs of a cluster run where other devices are.
    device = workflow.local_exec and bool(os.environ.get("MEMAUDIT_DEVICE"))
    if not (local or device):
        return
    uses = {name: [use for shapes in USES.get(name, []) for use in shapes()] for name in local}
    params = json.dumps({"device": device, "models": local, "uses": uses})
    command = [sys.executable, in_project("workflow_scripts/maintenance/check_models.py"), "--params", params]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        # Libraries print warnings of their own.
        told = [line for line in done.stderr.splitlines() if line.startswith("memaudit: ")]
        raise AuditError(told[-1].removeprefix("memaudit: ") if told else done.stderr.strip())


def sized(job):
    """A job as the registry of sizes knows it: its script, and the name of its sidecar."""
    path = Path(str(job.output.get("sidecar", job.rule.name)))
    script = rule_of(job.rule.script) if job.rule.script else job.rule.name
    return script, str(path.with_suffix("")).partition(f"provenance/{script}")[2].strip("/")


def progress():
    """A handler that tells of jobs as they start, with the time that is left by the unit costs."""
    measured = facts(in_project(UNIT_COSTS))
    seconds = seconds_of(job_sizes(), measured["rules"] if measured else {})
    if workflow.output_settings.quiet:
        for handler in logger.handlers:
            handler.addFilter(Brief())
    return Progress(
        lambda: [seconds(*sized(job)) for job in workflow.dag.needrun_jobs()],
        (workflow.global_resources["_cores"].value or 1) if workflow.local_exec else workflow.nodes,
        logger.info,
        timed=measured is not None,
    )


def print_headline():
    """The main results, if it was the whole run that has finished; nothing that happens here makes it fail."""
    if not any(job.rule.name == "all" for job in workflow.dag.jobs):
        return
    script, params = in_project("workflow_scripts/maintenance/print_headlines.py"), json.dumps(
        {"run": f"results/{config['run']}"}
    )
    subprocess.run([sys.executable, script, "--params", params], check=False)


def without_default_rate():
    """Let jobs start as they can. By its default of 100 jobs a second Snakemake 9 looks at all waiting jobs again a second
    after every look: each job that ends adds a chain of looks without end, which take half a core after 200 jobs. A rate
    that somebody asks for is kept."""
    rate = workflow.scheduling_settings.max_jobs_per_timespan
    if (rate.max_jobs, rate.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


onstart:
    check_start()
    without_default_rate()
    logger.addHandler(progress())


onsuccess:
    housekeeping.sweep(f"results/{config['run']}")
    print_headline()
