"""`./memaudit audit` as the owner of a table runs it: hostile names, planted secrets, and what is left behind."""

import json
import shutil
import stat
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from memaudit.attacks import registry
from memaudit.auditing.api import Report
from workflow.conftest import Checkout

pytestmark = [pytest.mark.xdist_group("audit"), pytest.mark.usefixtures("warm_jobs"), pytest.mark.long]

ROWS = 120
NAME = "a{b}<c>$(touch p).csv"
COLUMN = 'it\'s "a"; <b>x</b>\n$(touch p) {0}'
SECRETS = ["Zqx-north", "Zqx-south", "Zqx-yes", "Zqx-no", "Zqx-house", "Zqx-note", "73105.125"]


def table():
    rng = np.random.default_rng(0)
    household = rng.permutation(ROWS) // 2
    facts = {
        COLUMN: rng.choice(["Zqx-north", "Zqx-south"], ROWS),
        "income": np.where(rng.random(ROWS) < 0.1, 73105.125, rng.normal(3e4, 1e4, ROWS).round(2)),
        "age": rng.integers(18, 90, ROWS),
        "note": [f"Zqx-note {i}" for i in range(ROWS)],
        "household": [f"Zqx-house {i}" for i in household],
    }
    return pd.DataFrame(facts | {"churn": np.where(household % 3 == 0, "Zqx-yes", "Zqx-no")})


class Owner(Checkout):
    """A project, and a folder of the owner's own beside it."""

    def __init__(self, folder):
        super().__init__(folder / "memaudit")
        self.desk = folder / "desk $(touch p)"
        self.desk.mkdir()
        # As a spreadsheet writes it: lines end in CRLF, and COLUMN has a line break within quotes.
        table().to_csv(self.desk / NAME, index=False, lineterminator="\r\n")

    def audit(self, *arguments):
        """The audit of the owner's table, which succeeds; returns what it printed."""
        code, printed = self.command(NAME, "--target", "churn", "--group", "household", *arguments)
        assert code == 0, printed
        return printed

    def command(self, *arguments):
        """What the launcher runs, with the project's copy, from the owner's folder: exit code, and what it printed."""
        command = [
            sys.executable,
            "-m",
            "memaudit",
            "audit",
            "--by",
            COLUMN,
            "--minutes",
            "0.1",
            "--cores",
            "2",
            "--whole",
        ]
        done = subprocess.run(
            [*command, *arguments], cwd=self.desk, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def copied(self, folder):
        """A copy of the finished audit, which a test may damage."""
        return shutil.copytree(self.into, folder, symlinks=True)

    @property
    def into(self):
        return self.desk / "audit-a-b--c---touch-p"


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    owner = Owner(tmp_path_factory.mktemp("audit"))
    owner.printed = owner.audit()
    return owner


def test_the_numbers_are_on_the_screen_and_in_the_folder(owner):
    assert "first numbers: AUC" in owner.printed
    assert "result: AUC" in owner.printed
    summary = Report(owner.into).summary
    assert summary.stage == "full"
    with_copies = {"perturbation", "boundary", "copies correct", "strongest labels"}
    scores = {"strongest", *with_copies, *registry.of_one_query("probabilities")}
    assert {one.attack for one in summary.adversaries} == scores
    assert summary.headline.attack == "strongest"
    assert {group.column for group in summary.groups} == {"churn", COLUMN}
    assert all(group.name is None for group in summary.groups)
    assert {"none", "labels only", "bags 4", "layer dropped"} <= {one.name for one in summary.mitigations}
    assert summary.advice


def test_a_record_is_named_by_its_row_and_units_stay_together(owner):
    risk = Report(owner.into).risk
    assert risk["row"].between(1, ROWS).all()
    assert risk["row"].is_unique
    assert risk["vulnerability"].is_monotonic_decreasing
    assert (risk["posterior_0.5"] >= risk["posterior_0.1"]).all()


def test_no_value_of_the_table_stands_outside_its_copies(owner):
    assert not [word for word in SECRETS if word in owner.printed]
    copies = [owner.into / "table", *(owner.into / "results" / stage / "data" for stage in ("quick", "full"))]
    searched = 0
    for path in [*owner.into.rglob("*"), *owner.folder.rglob("*")]:
        if path.is_file() and not path.is_symlink() and not any(copy in path.parents for copy in copies):
            if path.suffix == ".py":
                continue
            content = path.read_bytes()
            searched += 1
            assert not [word for word in SECRETS if word.encode() in content], path
    assert searched > 100
    for path in owner.into.rglob("*.parquet"):
        if not any(copy in path.parents for copy in copies):
            text = pd.read_parquet(path).to_csv()
            assert not [word for word in SECRETS if word in text], path


def test_all_of_it_is_the_owners_alone(owner):
    assert stat.S_IMODE(owner.into.stat().st_mode) == 0o700
    for path in owner.into.rglob("*"):
        if not path.is_symlink():
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    assert sorted(path.name for path in owner.desk.iterdir()) == sorted([NAME, owner.into.name])
    copied = Report(owner.into).to_html(owner.folder.parent / "page.html")
    assert stat.S_IMODE(copied.stat().st_mode) == 0o600


def test_names_are_shown_on_the_page_and_harmless(owner):
    page = (owner.into / "report.html").read_text(encoding="utf-8")
    assert "<c>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert not list(owner.folder.parent.rglob("p"))


def test_the_same_command_again_does_nothing_new(owner):
    before = json.loads((owner.into / "summary.json").read_text())
    stamps = {path: path.stat().st_mtime_ns for path in (owner.into / "results").rglob("*.nc")}
    owner.audit()
    assert json.loads((owner.into / "summary.json").read_text()) == before
    assert {path: path.stat().st_mtime_ns for path in (owner.into / "results").rglob("*.nc")} == stamps


def test_a_deleted_file_behind_the_page_is_made_again_and_values_are_shown_on_request(owner, tmp_path):
    into = owner.copied(tmp_path / "copy")
    lost = into / "results/full/signals/attacks/table/perturbed/0.nc"
    lost.unlink()
    owner.audit("--into", into, "--show-values")
    assert lost.exists()
    page = (into / "report.html").read_text(encoding="utf-8")
    assert all(word in page for word in ("Zqx-north", "Zqx-yes"))
    assert "Zqx-house" not in page


def test_a_call_that_makes_nothing_hands_over_no_page(owner, tmp_path):
    code, printed = owner.command(NAME, "--target", "churn", "--seed", "5", "--", "-np")
    assert (code, printed) == (1, "memaudit: -np: with this option Snakemake makes no page; leave it out\n")
    arguments = [NAME, "--target", "churn", "--group", "household", "--into", owner.copied(tmp_path / "copy")]
    code, printed = owner.command(*arguments, "--seed", "5", "--", "--executor", "dryrun")
    assert code == 1
    assert "AUC" not in printed
    assert printed.endswith("no page of this request; leave out --executor dryrun, and give the command again\n")


def test_provenance_verifies_an_audit_and_names_what_was_changed(owner):
    into = owner.copied(owner.desk / "copy")  # as far from the model's file as the audit is: the records are relative

    def provenance():
        command = [sys.executable, "-m", "memaudit", "provenance", into.name]
        done = subprocess.run(
            command, cwd=into.parent, env=owner.environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    code, printed = provenance()
    assert code == 0, printed
    assert "report.html, summary.json, risk.parquet and the" in printed
    page = (into / "report.html").read_bytes()
    (into / "report.html").write_bytes(page + b" ")
    code, printed = provenance()
    assert code == 1
    assert "report.html: was changed" in printed
    (into / "report.html").write_bytes(page)
    (into / "results/full/audit/table/summary.json").write_text("{}")
    code, printed = provenance()
    assert code != 0
    assert "summary.json: changed since it was made" in printed


def test_columns_left_out_are_on_the_screen_and_on_the_page(owner):
    assert "'note'" in owner.printed
    assert "left out: free text" in owner.printed
    page = (owner.into / "report.html").read_text(encoding="utf-8")
    assert "no: free text" in page
