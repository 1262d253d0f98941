"""The plan of each shipped config: how many jobs, and what every rule declares."""

import re
import subprocess

import pytest
from conftest import PROJECT

from memaudit.io import read_json
from memaudit.workflow.job_costs import Size, estimate
from workflow.conftest import SNAKEMAKE, Checkout, job_counts, of_script

pytestmark = pytest.mark.xdist_group("dag")
MOST_JOBS = {"smoke": 150, "config": 250, "paper": 2000}


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
    """The smoke config that tests run takes every rule that the others take, but for what needs a hub."""
    assert plans["smoke"].keys() == plans["config"].keys() == plans["paper"].keys() - {"ltmia_fetch_model"}


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "memaudit")


def says(checkout, expression, *arguments):
    """What an expression is within the workflow of a dry run."""
    text = (PROJECT / "Snakefile").read_text(encoding="utf-8")
    saved = f'\n\nimport json\nPath("said.json").write_text(json.dumps({expression}))\n'
    (checkout.folder / "Snakefile").write_text(text + saved, encoding="utf-8")
    command = [*SNAKEMAKE, "-n", *arguments]
    printed = subprocess.run(command, cwd=checkout.folder, capture_output=True, text=True, check=True).stdout
    return read_json(checkout.folder / "said.json"), printed


def test_no_rule_of_the_papers_run_is_planned_with_more_memory_than_it_asks_for(checkout):
    sizes, printed = says(checkout, "job_sizes()", "--configfile", "config/paper.yaml")
    jobs = {rule: {name: Size(*size) for name, size in sizes_of.items()} for rule, sizes_of in sizes.items()}
    units = read_json(PROJECT / "results/bench/unit_costs.json")["rules"]
    planned = {rule: cost.mebibytes for rule, cost in estimate(jobs, units, gpu=[], flops=1e12).items()}
    found = re.findall(r"^(?:local)?rule (\w+):\n(?:    .*\n)*?    resources: .*?mem_mib=(\d+)", printed, re.MULTILINE)
    asked = {(of_script(rule), mem) for rule, mem in found}
    assert {rule for rule, _ in asked} == planned.keys()
    assert {rule: (planned[rule], mem) for rule, mem in asked if planned[rule] > int(mem)} == {}


@pytest.mark.parametrize(
    ("arguments", "merged"),
    [
        ([], ""),
        (["--config", "seed=7"], " --configfile results/demo/config.yaml --"),
        (["--configfile", "config/smoke.yaml"], " --configfile results/smoke/config.yaml --"),
    ],
    ids=["defaults", "--config", "--configfile"],
)
def test_the_command_that_makes_a_file_again_has_the_settings_of_the_run(checkout, arguments, merged):
    assert says(checkout, "command()", *arguments)[0] == f"snakemake --cores all{merged}"


@pytest.mark.parametrize("text", ["", "{", "\ufffe"], ids=["empty", "cut off", "not JSON"])
def test_a_damaged_file_costs_a_run_its_foretelling_alone(checkout, text):
    """The size of a table is then taken from the catalogue, and the plan names the file."""
    raw, units = (checkout.folder / path for path in ("results/smoke/data/wine/raw.json", "units.json"))
    raw.parent.mkdir(parents=True)
    for path in (raw, units):
        path.write_text(text, encoding="utf-8")
    found, _ = says(checkout, '[table_size("wine"), facts("units.json")]', "--configfile", "config/smoke.yaml")
    wine = {"rows": 178, "columns": 13, "known": True, "damaged": "results/smoke/data/wine/raw.json"}
    assert found == [wine, None]
    assert "raw.json is damaged: delete it" in checkout.snakemake("plan")


def test_the_first_jobs_of_a_run_start_though_its_costs_are_damaged(checkout):
    (checkout.folder / "results/bench/unit_costs.json").write_text("{", encoding="utf-8")
    printed = checkout.snakemake("results/smoke/config.yaml")
    assert "memaudit: 0 of 1 jobs done; provenance_write_config starts" in printed


def rules():
    """Name and text of every rule that runs a script; rules of a loop have the name that theirs begin with."""
    start = r'^(?:rule (?=\w+:\n)|    rule:\n        name:\n            f"(?=\w+_\{))(\w+?)(?::|_\{first\}")$'
    for path in sorted((PROJECT / "rules").glob("*.smk")):
        parts = re.split(start, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        named = zip(parts[1::2], parts[2::2], strict=True)
        yield from ((name, text) for name, text in named if "script:" in text)


@pytest.mark.parametrize(("name", "text"), list(rules()), ids=[name for name, _ in rules()])
def test_a_rule_its_script_its_log_and_its_digest_carry_one_name(name, text):
    assert f"../workflow_scripts/{name}.py" in text
    assert (PROJECT / "workflow_scripts" / f"{name}.py").exists()
    assert f"<results>/logs/{name}" in text
    if name not in {"data_make_key", "release_write_context"}:
        environment = re.search(rf'digest\("{name}", env="(\w+)"\)', text)[1]
        assert f"../envs/{environment}.yaml" in text
    assert all(word in text for word in ("threads:", "mem_mb=", "runtime="))
    assert "<results>/provenance/" in text or name in {"provenance", "archive", "plan", "costs", "data_make_key"}


def test_a_job_that_is_submitted_has_more_memory_when_it_is_tried_again():
    """A cluster ends what passes its memory; jobs that run where Snakemake does are not ended."""
    texts = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "rules").glob("*.smk"))
    local = set(re.findall(r"\w+", " ".join(re.findall(r"^localrules:\n((?:    \w+,\n)+)", texts, re.MULTILINE))))
    submitted = {name: text for name, text in rules() if name not in local}
    assert {"lira_query_shadows", "views_draw_figures"} <= submitted.keys()
    assert [name for name, text in submitted.items() if not re.search(r"mem_mb=(grows\(|LIRA_MEMORY)", text)] == []


def test_every_script_has_somebody_who_runs_it():
    names = {name for name, _ in rules()}
    callers = [PROJECT / "Makefile", PROJECT / "rules/common.smk", PROJECT / "rules/run.smk"]
    text = "".join(path.read_text(encoding="utf-8") for path in callers)
    for path in (PROJECT / "workflow_scripts").glob("*.py"):
        assert path.stem in names or path.stem.startswith("bench_") or path.name in text, path
