"""The plan of each shipped config: how many jobs, and what every rule declares."""

import re
import subprocess

import pytest
from conftest import PROJECT

from workflow.conftest import SNAKEMAKE, job_counts

pytestmark = pytest.mark.xdist_group("dag")
MOST_JOBS = {"smoke": 150, "config": 200, "paper": 2000}


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    """Jobs of every rule that each shipped config plans."""
    found = {}
    for name in MOST_JOBS:
        command = [*SNAKEMAKE, "-n", "--directory", str(tmp_path_factory.mktemp(name))]
        command += ["--configfile", str(PROJECT / f"config/{name}.yaml")]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
        found[name] = job_counts(done.stdout + done.stderr)
    return found


@pytest.mark.parametrize("name", MOST_JOBS)
def test_the_number_of_jobs_stays_within_what_a_dry_run_and_a_cluster_bear(plans, name):
    assert plans[name]["lira_query_shadows"] > 0
    assert sum(plans[name].values()) <= MOST_JOBS[name]


def test_demo_smoke_and_paper_differ_in_numbers_only(plans):
    """The smoke config that tests run takes every rule that the others take."""
    assert plans["smoke"].keys() == plans["config"].keys() == plans["paper"].keys()


def rules():
    """Name and text of every rule that runs a script."""
    for path in sorted((PROJECT / "rules").glob("*.smk")):
        parts = re.split(r"^rule (\w+):$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        named = zip(parts[1::2], parts[2::2], strict=True)
        yield from ((name, text) for name, text in named if "script:" in text)


@pytest.mark.parametrize(("name", "text"), list(rules()), ids=[name for name, _ in rules()])
def test_a_rule_its_script_its_log_and_its_digest_carry_one_name(name, text):
    assert f"../workflow_scripts/{name}.py" in text
    assert (PROJECT / "workflow_scripts" / f"{name}.py").exists()
    assert f"<results>/logs/{name}" in text
    if name != "data_make_key":
        environment = re.search(rf'digest\("{name}", env="(\w+)"\)', text)[1]
        assert f"../envs/{environment}.yaml" in text
    assert all(word in text for word in ("threads:", "mem_mb=", "runtime="))
    assert "<results>/provenance/" in text or name in {"provenance", "archive", "plan", "costs", "data_make_key"}


def test_every_script_belongs_to_a_rule_or_to_make():
    names = {name for name, _ in rules()}
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    for path in (PROJECT / "workflow_scripts").glob("*.py"):
        assert path.stem in names or path.stem.startswith("bench_") or path.name in makefile, path
