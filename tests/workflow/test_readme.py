"""The README's own table, by its own words."""

import re
import subprocess

import numpy as np
import pandas as pd
import pytest
from conftest import PROJECT

from workflow.conftest import SNAKEMAKE, Checkout

pytestmark = pytest.mark.xdist_group("readme")


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
    """A checkout with the README's config file and a table for it."""
    checkout = Checkout(tmp_path_factory.mktemp("readme") / "memaudit")
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```yaml\n# mine.yaml\n(.*?)```", text, re.DOTALL)[1]
    (checkout.folder / "mine.yaml").write_text(block)
    customers(checkout.folder)
    return checkout


def run(checkout, *arguments):
    command = [*SNAKEMAKE, "--cores", "2", "--configfile", "config/smoke.yaml", "mine.yaml", "--", *arguments]
    return subprocess.run(command, cwd=checkout.folder, capture_output=True, text=True, check=False)


def test_your_own_table_is_prepared_checked_and_attacked(checkout):
    wanted = ["data_splits", "lira_attacks", "attacks_datasets"]
    done = run(checkout, *(f"results/mine/tables/{name}.csv" for name in wanted))
    assert done.returncode == 0, done.stdout + done.stderr
    splits = pd.read_csv(checkout.folder / "results/mine/tables/data_splits.csv").set_index("metric").estimate
    assert splits["shared_groups"] == 0
    assert (pd.read_csv(checkout.folder / "results/mine/tables/lira_attacks.csv").dataset == "customers").all()
    attacks = pd.read_csv(checkout.folder / "results/mine/tables/attacks_datasets.csv")
    assert set(attacks[attacks.source.isna()].dataset) == {"customers"}


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
