"""What the README shows exists and runs, and the page of your own table is followed to the letter."""

import fnmatch
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import PROJECT

from memaudit.auditing import audit_options
from workflow.conftest import SNAKEMAKE, Checkout

pytestmark = [pytest.mark.xdist_group("readme"), pytest.mark.usefixtures("warm_jobs")]


def customers(folder):
    rng = np.random.default_rng(0)
    rows = 400
    household = rng.integers(0, 250, rows)
    table = pd.DataFrame(
        {
            "household": household,
            "age": rng.integers(18, 90, rows),
            "income": rng.normal(3e4, 1e4, rows).round(2),
            "region": rng.choice(["north", "south", "east"], rows),
            "churn": np.where(household % 3 == 0, "yes", "no"),
        }
    )
    table.to_csv(folder / "customers.csv", index=False)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout with the config file of docs/own-table.md and a table for it."""
    checkout = Checkout(tmp_path_factory.mktemp("readme") / "memaudit")
    text = (PROJECT / "docs/own-table.md").read_text(encoding="utf-8")
    block = re.search(r"```yaml\n# mine.yaml\n(.*?)```", text, re.DOTALL)[1]
    (checkout.folder / "mine.yaml").write_text(block)
    customers(checkout.folder)
    return checkout


def commands(page):
    """Command lines of a page's shell blocks, as lists of words without comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (PROJECT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def planned(words, folder):
    """Let make or Snakemake plan a command without running it."""
    program = {"make": ["make"], "snakemake": SNAKEMAKE}[words[0]]
    command = [*program, "--dry-run", *words[1:]]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_every_command_of_the_readme_can_be_planned(checkout):
    found = commands("README.md")
    assert {words[0] for words in found} == {"make", "./memaudit"}
    for words in found:
        if words[0] == "make":
            done = planned(words, checkout.folder)
            assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    (audit,) = (words for words in found if words[0] == "./memaudit")
    assert audit_options.parser().parse_args(audit[1:]).target == "churn"
    assert planned(["make", "test"], checkout.folder).returncode == 0


def test_what_the_readme_says_in_passing_is_so():
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    path, target = re.search(r"Audit `(\S+)` with `--target (\w+)`", text).groups()
    assert target in pd.read_csv(PROJECT / path).columns
    assert "`make test`" in text
    assert len(text.splitlines()) <= 46, "one screen: the rest belongs into docs/"


def test_an_installed_command_is_run_with_the_options_of_its_page():
    # They are run in tests/workflow/test_wheel.py, with the same options.
    found = [words for words in commands("docs/install.md") if words[0] == "memaudit"]
    assert {words[1] for words in found} == {"init", "plan", "run"}


@pytest.mark.parametrize("page", ["docs/own-table.md", "docs/cluster.md", "docs/run-the-studies.md"])
def test_the_commands_of_a_page_that_needs_no_cluster_can_be_planned(checkout, page):
    for words in commands(page):
        # The profiles of clusters need their plug-ins: tests of their names plan with them.
        left_out = {"slurm", "profiles/cluster-generic", "profiles/kubernetes", "--report", "plan"}
        if words[0] == "snakemake" and not left_out & set(words):
            done = planned(words, checkout.folder)
            assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"


def test_the_folders_of_the_tree_exist():
    text = (PROJECT / "docs/how-it-is-built.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?) \|", text.split("## The tree")[1].split("## ")[0], re.MULTILINE)
    paths = re.findall(r"`([^`]+)`", " ".join(rows))
    assert len(paths) > 9
    for path in paths:
        assert (PROJECT / path.replace("<study>", "lira")).exists(), path


def test_three_files_show_pipeline_step_and_formula():
    """The walk of a new reader: the rule names the script of its name, and the formula is where the README says."""
    pipeline, step, formula = (
        (PROJECT / path).read_text(encoding="utf-8")
        for path in (
            "rules/lira.smk",
            "workflow_scripts/lira/evaluate_strategies.py",
            "workflow_scripts/memaudit/attacks/lira.py",
        )
    )
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert "](rules/lira.smk)" in readme
    assert "](workflow_scripts/lira/evaluate_strategies.py)" in readme
    assert "](workflow_scripts/memaudit/attacks/lira.py)" in readme
    assert "rule lira_evaluate_strategies:" in pipeline
    assert "def main(job):" in step
    assert "Carlini et al. 2022" in formula


def test_the_library_is_imported_from_any_folder(tmp_path):
    command = [sys.executable, "-c", "import memaudit; from memaudit import audit; print(memaudit.__file__)"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_page_asks_for_a_search_path():
    for page in (PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")):
        assert "PYTHONPATH" not in page.read_text(encoding="utf-8"), page


def run(checkout, *arguments):
    command = [*SNAKEMAKE, "--cores", "2", "--configfile", "config/smoke.yaml", "mine.yaml", "--", *arguments]
    return subprocess.run(command, cwd=checkout.folder, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_your_own_table_is_prepared_checked_and_attacked(checkout):
    wanted = ["data_splits", "lira_attacks", "attacks_datasets"]
    done = run(checkout, *(f"results/mine/tables/{name}.csv" for name in wanted))
    assert done.returncode == 0, done.stdout + done.stderr
    splits = pd.read_csv(checkout.folder / "results/mine/tables/data_splits.csv").set_index("metric").estimate
    assert splits["shared_groups"] == 0
    assert (pd.read_csv(checkout.folder / "results/mine/tables/lira_attacks.csv").dataset == "customers").all()
    attacks = pd.read_csv(checkout.folder / "results/mine/tables/attacks_datasets.csv")
    assert set(attacks[attacks.source.isna()].dataset) == {"customers"}


@pytest.mark.long
def test_its_folder_is_private_and_its_values_stay_out_of_logs(checkout):
    folder = checkout.folder / "results/mine/data/customers"
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "records.parquet").stat().st_mode & 0o077 == 0
    assert (checkout.folder / "results/mine/data/id.key").stat().st_mode & 0o077 == 0
    logs = "".join(path.read_text() for path in (checkout.folder / "results/mine/logs").rglob("*.log"))
    assert logs
    assert "north" not in logs


def test_a_missing_target_ends_the_run_with_one_line(checkout):
    table = pd.read_csv(checkout.folder / "customers.csv")
    table.rename(columns={"churn": "left"}).to_csv(checkout.folder / "customers.csv", index=False)
    done = run(checkout, "results/mine/tables/data_splits.csv")
    customers(checkout.folder)
    assert done.returncode != 0
    assert re.search(r"^memaudit: data set customers .*churn", done.stderr + done.stdout, re.MULTILINE)


def test_its_plan_is_printed_although_it_leaves_out_the_population_check(checkout):
    done = run(checkout, "plan")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^total +\d+ ", done.stdout + done.stderr, re.MULTILINE)


def test_the_page_of_the_studies_tells_tables_from_figures():
    views = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in (PROJECT / "config/views").glob("*.yaml")]
    made = {kind: {name for view in views for name in view.get(kind) or {}} for kind in ("tables", "figures")}
    text = (PROJECT / "docs/studies.md").read_text(encoding="utf-8")
    # A row has a cell of tables and one of figures; both may name several by a pattern.
    rows = re.findall(r"^\| (`\w+_.*?`)? ?\| (`\w+_.*?`)? ?\| .+ \|$", text, re.MULTILINE)
    tables, figures = (set(re.findall(r"`([\w*]+)`", " ".join(cells))) for cells in zip(*rows, strict=True))
    assert made["figures"] == {name for pattern in figures for name in fnmatch.filter(made["figures"], pattern)}
    assert made["tables"] == {name for pattern in tables for name in fnmatch.filter(made["tables"], pattern)}
    assert [pattern for pattern in tables - {"lira_claims"} if not fnmatch.filter(made["tables"], pattern)] == []
    assert [pattern for pattern in figures if not fnmatch.filter(made["figures"], pattern)] == []
