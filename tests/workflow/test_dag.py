"""The plan of each shipped config: how many jobs, and what every rule declares."""

import re
import subprocess

import pytest
from conftest import PROJECT

from memaudit.common.io import read_json
from memaudit.workflow.digest import rule_of, script_of
from memaudit.workflow.job_costs import Size, estimate
from memaudit.workflow.provenance import NO_SIDECAR
from memaudit.workflow.studies.attacks_lookups import Attacks
from memaudit.workflow.studies.lira_lookups import Lira
from memaudit.workflow.studies.ltmia_lookups import Ltmia
from memaudit.workflow.studies.predict_lookups import Predict
from workflow.conftest import SNAKEMAKE, Checkout, job_counts, of_script

pytestmark = pytest.mark.xdist_group("dag")
MOST_JOBS = {"smoke": 150, "config": 260, "paper": 2000}


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


def test_no_job_of_the_papers_run_is_planned_with_more_memory_than_it_asks_for(checkout):
    sizes, printed = says(checkout, "WORKLOAD.sizes()", "--configfile", "config/paper.yaml")
    units = read_json(PROJECT / "results/bench/unit_costs.json")["rules"]
    planned = {
        (rule, name): estimate({rule: {name: Size(*size)}}, units, gpu=[], flops=1e12)[rule].mebibytes
        for rule, sizes_of in sizes.items()
        for name, size in sizes_of.items()
    }
    asked = {}
    for rule, block in re.findall(r"^(?:local)?rule (\w+):\n((?:    .*\n)+)", printed, re.MULTILINE):
        if rule != "all":
            sidecar = re.search(rf"provenance/{of_script(rule)}(?:/(\S+?))?\.json", block)
            asked[of_script(rule), (sidecar and sidecar[1]) or ""] = int(re.search(r"mem_mib=(\d+)", block)[1])
    assert asked.keys() == planned.keys()
    assert {job: (planned[job], mem) for job, mem in asked.items() if planned[job] > mem} == {}


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
    assert says(checkout, "PAGE.command", *arguments)[0] == f"snakemake --cores all{merged}"


@pytest.mark.parametrize("text", ["", "{", "\ufffe"], ids=["empty", "cut off", "not JSON"])
def test_a_damaged_file_costs_a_run_its_foretelling_alone(checkout, text):
    """The size of a table is then taken from the catalogue, and the plan names the file."""
    raw = checkout.folder / "results/smoke/data/wine/raw.json"
    raw.parent.mkdir(parents=True)
    raw.write_text(text, encoding="utf-8")
    found, _ = says(checkout, 'RUN.table_size("wine")', "--configfile", "config/smoke.yaml")
    damaged = "results/smoke/data/wine/raw.json"
    assert found == {"rows": 178, "columns": 13, "known": True, "counted": False, "damaged": damaged}
    assert "raw.json is damaged: delete it" in checkout.snakemake("plan")


def test_the_first_jobs_of_a_run_start_though_its_costs_are_damaged(checkout):
    (checkout.folder / "results/bench/unit_costs.json").write_text("{", encoding="utf-8")
    printed = checkout.snakemake("results/smoke/config.yaml")
    assert "memaudit: 0 of 1 jobs done; provenance_write_config starts" in printed


def test_a_changed_config_is_no_wall_of_text(checkout):
    checkout.snakemake("results/smoke/config.yaml")
    printed = checkout.snakemake("results/smoke/config.yaml", "--config", "seed=5")
    assert "reason: Params have changed" in printed
    assert max(map(len, printed.splitlines())) < 1000


def files():
    return sorted((PROJECT / "rules").rglob("*.smk"))


def rules():
    """Name and text of every rule that runs a script; rules of a loop have the name that theirs begin with."""
    start = r'^(?:rule (?=\w+:\n)|    rule:\n        name:\n            f"(?=\w+_\{))(\w+?)(?::|_\{\w+\}")$'
    for path in files():
        parts = re.split(start, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        named = zip(parts[1::2], parts[2::2], strict=True)
        yield from ((name, text) for name, text in named if "script:" in text)


# Rules that a user calls by a word, and their scripts.
CALLED = {
    "plan": "maintenance_print_plan",
    "costs": "maintenance_measure_costs",
    "provenance": "provenance_verify_results",
    "archive": "provenance_archive_run",
    "release_plan": "release_print_plan",
}

LOGS = {"plan": ".snakemake/log"}  # a plan leaves no folder of results


@pytest.mark.parametrize(("name", "text"), list(rules()), ids=[name for name, _ in rules()])
def test_a_rule_its_script_its_log_and_its_digest_carry_one_name(name, text):
    script = CALLED.get(name, name)
    assert re.search(rf'"(\.\./)+workflow_scripts/{script.replace("_", "/", 1)}\.py"', text)
    assert script_of(script).exists()
    assert f"{LOGS.get(name, '<results>/logs')}/{name}" in text
    if name not in {"data_make_key", "release_write_context", "release_write_bounds"}:
        environment = re.search(rf'digest\("{script}", env="(\w+)"', text)[1]
        assert f"../envs/{environment}.yaml" in text
    assert all(word in text for word in ("mem_mb=", "runtime="))
    assert "threads: 1\n" not in text, "one thread is Snakemake's default"
    # Which jobs have failed is told by logs that have no sidecar.
    recorded = re.search(r"<results>/provenance/(.+)\.json", text)
    assert (recorded is None) == (name in NO_SIDECAR)
    assert recorded is None or f"<results>/logs/{recorded[1]}.log" in text


def test_a_job_that_is_submitted_has_more_memory_when_it_is_tried_again():
    """A cluster ends what passes its memory; jobs that run where Snakemake does are not ended."""
    texts = "".join(path.read_text(encoding="utf-8") for path in files())
    local = set(re.findall(r"\w+", " ".join(re.findall(r"^localrules:\n((?:    \w+,\n)+)", texts, re.MULTILINE))))
    submitted = {name: text for name, text in rules() if name not in local}
    assert {"lira_query_shadows", "views_draw_figures"} <= submitted.keys()
    assert [name for name, text in submitted.items() if "mem_mb=grows(" not in text] == []


def test_every_script_has_somebody_who_runs_it():
    names = {CALLED.get(name, name) for name, _ in rules()}
    scripts = PROJECT / "workflow_scripts"
    callers = [PROJECT / "Makefile", scripts / "memaudit/workflow/snakemake_handlers.py"]
    callers += [scripts / "maintenance/tune_tabpate.py"]  # runs a step in the environment of the synthesizers
    callers += [PROJECT / ".github/workflows/release.yml"]
    text = "".join(path.read_text(encoding="utf-8") for path in callers)
    for path in scripts.glob("*/*.py"):
        if path.parent.name not in {"memaudit", "bench"}:
            assert rule_of(path) in names or path.name in text, path


def test_no_rules_file_has_more_than_300_lines():
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in files()}
    assert {name: count for name, count in lines.items() if count > 300} == {}, "make a folder of it"


def test_views_have_rules_with_names_that_do_not_depend_on_their_order():
    """One for all tables of a study; one for the figures of a study that show the same results, called by these."""
    command = [*SNAKEMAKE, "--list-rules"]
    listed = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.split()
    assert {"views_tabulate_results_lira", "views_tabulate_results_data"} <= set(listed)
    assert {"views_draw_figures_lira_roc", "views_draw_figures_lira_simulation_records"} <= set(listed)


@pytest.mark.parametrize("study", [Lira, Attacks, Ltmia, Predict], ids=lambda study: study.name)
def test_results_that_are_said_to_be_made_together_are_outputs_of_one_rule(study):
    """Figures of these results are drawn by one job: none waits for a job that it does not need."""
    outputs = [text.split("output:")[1].split("    log:")[0] for _, text in rules() if "output:" in text]
    assert study.made_together
    for kinds in study.made_together:
        files = [re.compile(rf'"<results>/scores/{study.name}/(\{{\w+\}}/)?{kind}\.parquet"') for kind in kinds]
        assert [all(file.search(output) for file in files) for output in outputs].count(True) == 1, kinds
