"""What a user sees of a run: how far it is, and what it has found. No rule stands here."""

import subprocess

from memaudit.costs import seconds_of
from memaudit.progress import Brief, Progress


def progress():
    """A handler that tells of jobs as they start, with the time that is left by the unit costs."""
    measured = facts(in_project(UNIT_COSTS))
    seconds = seconds_of(job_sizes(), measured["rules"] if measured else {})
    if workflow.output_settings.quiet:
        for handler in logger.handlers:
            handler.addFilter(Brief())
    return Progress(
        lambda: [seconds(job.rule.name, "/".join(job.wildcards)) for job in workflow.dag.needrun_jobs()],
        (workflow.global_resources["_cores"].value or 1) if workflow.local_exec else workflow.nodes,
        logger.info,
        timed=measured is not None,
    )


def print_headline():
    """The main results, if it was the whole run that has finished; nothing that happens here makes it fail."""
    if not any(job.rule.name == "all" for job in workflow.dag.jobs):
        return
    script, params = in_project("workflow_scripts/headline.py"), json.dumps({"run": f"results/{config['run']}"})
    subprocess.run([sys.executable, script, "--params", params], check=False)


onstart:
    check_start()
    logger.addHandler(progress())


onsuccess:
    housekeeping.sweep(f"results/{config['run']}")
    print_headline()
