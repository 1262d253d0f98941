"""`snakemake plan` against the dry run that it foretells, and against what the smoke run really cost."""

import re
import subprocess
from collections import Counter

import pytest
from conftest import EVIDENCE, PROJECT

from memaudit.common.io import read_json
from memaudit.workflow.sidecar import read_all
from workflow.conftest import SNAKEMAKE, job_counts

pytestmark = pytest.mark.xdist_group("smoke")

FACTOR = 3  # between planned and measured CPU time: machines differ, and small jobs are start-up and noise


def snakemake(folder, name, *arguments):
    command = [*SNAKEMAKE, *arguments, "--directory", str(folder)]
    command += ["--configfile", str(PROJECT / f"config/{name}.yaml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def planned(printed):
    """Jobs and CPU-hours of every line of the table."""
    lines = re.findall(r"^(\w+) +([\d,]+) +([\d.,e-]+) ", printed, re.MULTILINE)
    return {name: (int(jobs.replace(",", "")), float(hours.replace(",", ""))) for name, jobs, hours in lines}


@pytest.mark.parametrize("name", ["smoke", "config", "paper"])
def test_the_plan_counts_the_jobs_of_the_dry_run(tmp_path, name):
    """A rule without a line in the registry of costs is missing here."""
    counts = job_counts(snakemake(tmp_path, name, "-n"))
    studies = Counter()
    for rule, count in counts.items():
        studies["total" if rule == "all" else rule.split("_")[0]] += count
    studies["total"] = sum(counts.values()) - 1
    printed = snakemake(tmp_path, name, "plan")
    assert {study: jobs for study, (jobs, _) in planned(printed).items()} == studies
    assert ("NOT FEASIBLE ON THIS MACHINE: about" if name == "paper" else "Feasible on this machine: about") in printed
    assert "assumed, not measured" in printed
    assert "models for a threshold of each record's own at FPR 0.1" in printed


@pytest.mark.parametrize("name", EVIDENCE)
def test_the_evidence_configs_have_a_plan(tmp_path, name):
    assert "total" in planned(snakemake(tmp_path, name, "plan"))


def test_the_planned_cpu_time_is_what_the_run_takes(smoke):
    spent = sum(record["cpu_seconds"] for record in read_all(smoke.results / "provenance").values()) / 3600
    _, hours = planned(smoke.snakemake("plan"))["total"]
    assert spent / FACTOR < hours < spent * FACTOR


def test_unit_costs_are_measured_from_the_sidecars_of_jobs_that_were_not_forked(smoke):
    path = smoke.folder / "results/bench/unit_costs.json"
    committed = path.read_text(encoding="utf-8")
    path.unlink()
    shadows = sorted((smoke.results / "provenance/lira_query_shadows").rglob("*.json"))
    sidecars = {one: one.read_text(encoding="utf-8") for one in (smoke.results / "provenance").rglob("*.json")}
    for sidecar, text in sidecars.items():
        if sidecar != shadows[0]:
            sidecar.write_text(text.replace('"forked": true', '"forked": false'), encoding="utf-8")
    try:
        assert "measured into" in smoke.snakemake("costs")
        measured = read_json(path)
    finally:  # other tests share the run
        for sidecar, text in sidecars.items():
            sidecar.write_text(text, encoding="utf-8")
        path.write_text(committed, encoding="utf-8")
    assert measured["measured"]["cpu"]["run"] == "results/smoke"
    assert measured["rules"]["lira_query_shadows"]["cpu"]["jobs"] == len(shadows) - 1 == 3


def test_a_finished_run_tells_how_it_went_and_what_it_found(smoke):
    """Jobs with the time left while it goes on; main results and the report's path at the end of whole runs alone."""
    (smoke.results / "tables/data_splits.md").unlink()
    one = smoke.snakemake("results/smoke/tables/data_splits.md")
    assert "report results/smoke" not in one
    assert re.search(r"^memaudit: results/smoke/tables/data_splits.md: \w", one, re.MULTILINE)
    printed = smoke.snakemake()
    assert re.search(r"^memaudit: 0 of 2 jobs done, .* left; report_write_page starts$", printed, re.MULTILINE)
    assert "report results/smoke/report/index.html" in printed
