"""`snakemake release` as the owner of a table runs it: once, killed in between, forced, under another name."""

import ctypes
import json
import os
import re
import shutil
import subprocess
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
import yaml
from tabicl import TabICLClassifier

from memaudit.common.checksums import sha256
from memaudit.privacy.ledger import FINGERPRINT
from workflow.conftest import SNAKEMAKE, Checkout

pytestmark = [pytest.mark.xdist_group("release"), pytest.mark.usefixtures("warm_jobs"), pytest.mark.long]

FILES = ("context.parquet", "statement.md", "statement.json")
SCRIPT = "workflow_scripts/release/write_context.py"
BUDGET = {"epsilon": 40.0, "delta": 1e-4}  # so much that no noise hides what the student must learn
FACTS = {
    "source": "the form that customers fill in",
    "records": 400,
    "task": "classification",
    "target": ["no", "yes"],
    "columns": {"age": [18, 100], "income": [0, 100000], "region": ["north", "south", "east", "west"]},
}


def table(rng, rows=400):
    age = rng.integers(18, 90, rows)
    facts = {"household": rng.integers(0, 250, rows), "age": age, "income": rng.normal(3e4, 1e4, rows).round(2)}
    facts |= {"region": rng.choice(["north", "south", "east"], rows), "churn": np.where(age > 50, "yes", "no")}
    return pd.DataFrame(facts)


class Owner(Checkout):
    """A project with a private table, its public facts and a config for it."""

    def __init__(self, folder):
        super().__init__(folder)
        self.state = folder.with_name("state")
        table(np.random.default_rng(0)).to_csv(folder / "customers.csv", index=False)
        (folder / "config/public/customers.yaml").write_text(yaml.safe_dump(FACTS))
        self.configure(total=None)

    def configure(self, total):
        entry = {"source": "file", "path": "customers.csv", "target": "churn", "task": "classification"}
        release = {"dataset": "customers", "public": "config/public/customers.yaml", "total": total}
        release |= BUDGET | {"model": "tabicl-small", "tuned": "on nothing"}
        release["settings"] = {"teachers": 10, "queries": 40}
        config = {"datasets": {"customers": entry | {"licence": "private", "group": "household"}}}
        (self.folder / "my.yaml").write_text(yaml.safe_dump(config | {"run": "mine", "release": release}))

    def release(self, *arguments, target="release", **how):
        """Exit code, the lines that say what is wrong, and all that was printed."""
        command = [*SNAKEMAKE, *target.split(), "--cores", "2", "--configfile", "my.yaml", *arguments]
        of_user = os.environ | {"XDG_STATE_HOME": str(self.state)}
        how = {"cwd": self.folder, "env": of_user} | how
        done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
        printed = done.stdout + done.stderr
        said = re.findall(r"^memaudit: (?!\d+ of \d+ jobs|\w+ has failed; see )(.*)", printed, re.MULTILINE)
        return done.returncode, list(dict.fromkeys(said)), printed

    @property
    def ledger(self):
        return (self.places / "ledger.jsonl").read_text()

    @property
    def places(self):
        return self.state / "memaudit/ledger"

    @property
    def charges(self):
        return list(map(json.loads, self.ledger.splitlines()))

    @property
    def released(self):
        return self.folder / "results/mine/release/customers"


def test_a_plan_says_what_the_budget_buys_and_spends_nothing(tmp_path):
    owner = Owner(tmp_path / "memaudit")
    code, said, printed = owner.release(target="release_plan")
    assert code == 0, printed
    assert said[0] == "the table is read by its public facts and its entry alone:"
    assert "a release of customers at (40, 0.0001) would buy:" in said
    assert "  labels: at most 40 of 40 queries" in said
    assert any(line.startswith("  expected accuracy, measured on public tables") for line in said)
    assert said[-1] == "  nothing was spent"
    assert not owner.places.exists()


@contextmanager
def killed_once_charged(script):
    """The job dies when the noise has been paid for and drawn, before anything is written."""
    text = script.read_text()
    line = "    released = released_context(job, table, budget, noise)\n"
    assert text.count(line) == 1
    script.write_text(text.replace(line, f'{line}    __import__("os").kill(__import__("os").getpid(), 9)\n'))
    yield
    script.write_text(text)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A release whose job was killed after its charge: nothing has come of it."""
    owner = Owner(tmp_path_factory.mktemp("release") / "memaudit")
    with killed_once_charged(owner.folder / SCRIPT):
        code, _, printed = owner.release()
    assert code != 0
    assert "died with <Signals.SIGKILL: 9>" in printed
    assert [charge["budget"] for charge in owner.charges] == [BUDGET]
    assert not list(owner.released.glob("*"))
    return owner


@pytest.mark.parametrize("again", [["-F"], ["--config", "run=another"]], ids=["forced", "under another name"])
def test_what_a_killed_job_was_charged_is_spent(killed, again):
    before, results = killed.ledger, killed.folder / "results"
    # Who copies a run to give it another name has its table and model there.
    shutil.copytree(results / "mine", results / "another", dirs_exist_ok=True)
    code, said, printed = killed.release(*again)
    assert code != 0
    assert len(said) == 1, printed
    assert said[0].startswith("budget spent: table customers has been charged (epsilon 40, delta 0.0001)")
    assert said[0].endswith("no release is kept, because a run ended after its charge; its budget is spent")
    assert "Traceback" not in printed
    assert killed.ledger == before


@pytest.fixture(scope="module")
def owner(killed):
    """The owner has decided that the people in the table bear a second release."""
    killed.configure(total={"epsilon": 80.0, "delta": 2e-4})
    code, said, printed = killed.release()
    assert code == 0, printed
    assert said == ["released 40 records of customers at (40, 0.0001)"]
    return killed


def test_the_context_loads_into_the_packaged_classifier_which_has_learnt_from_it(owner):
    context = pd.read_parquet(owner.released / "context.parquet")
    assert list(context) == ["age", "income", "region", "target"]
    path = owner.folder / "resources/tabicl-small/tabicl-small.ckpt"
    plain = {"device": "cpu", "use_amp": False, "use_fa3": False, "n_estimators": 2}
    student = TabICLClassifier(model_path=path, allow_auto_download=False, **plain)
    student.fit(context.drop(columns="target"), context["target"])
    private = pd.read_csv(owner.folder / "customers.csv")
    predicted = student.predict(private[["age", "income", "region"]])
    assert (predicted == private["churn"]).mean() > 0.75


def test_the_statement_has_the_numbers_of_the_ledger(owner):
    said = json.loads((owner.released / "statement.json").read_text())
    charge = owner.charges[-1]
    assert {"epsilon": said["epsilon"], "delta": said["delta"]} == charge["budget"] == BUDGET
    assert said["ledger"]["charge"] == charge["id"]
    assert said["ledger"]["total"] == {"epsilon": 80.0, "delta": 2e-4}
    assert 40.0 < said["ledger"]["table_so_far"]["epsilon"] <= 80.0
    assert said["public"]["sha256"] == sha256(owner.folder / "config/public/customers.yaml")
    assert said["unit"] == "one household with all its rows"
    assert said["queries"] == {"asked": 40, "answered": 40}


def test_a_release_that_is_asked_for_again_is_refused_and_what_stands_is_kept(owner):
    """Snakemake would otherwise delete it before the script can refuse."""
    before = [(owner.released / name).read_bytes() for name in FILES]
    first, second = (charge["id"] for charge in owner.charges)
    code, said, printed = owner.release("--forcerun", "release_write_context")
    assert code != 0
    assert len(said) == 1, printed
    assert said[0].startswith("budget spent: table customers has been charged (epsilon 80, delta 0.0002)")
    assert said[0].endswith(f"its releases are kept in {owner.places / second}")
    assert [(owner.released / name).read_bytes() for name in FILES] == before
    assert [(owner.places / second / name).read_bytes() for name in FILES] == before
    assert [path.name for path in (owner.places / first).iterdir()] == [FINGERPRINT]


def test_a_config_without_the_section_says_what_is_missing(killed):
    (killed.folder / "none.yaml").write_text("release: null\n")
    code, _, printed = killed.release("none.yaml", "-n")
    assert code != 0
    assert "release: this config has no section `release`; docs/release.md says how to write one" in printed


def test_a_second_clone_and_a_changed_row_cannot_spend_again(owner, tmp_path):
    clone = Owner(tmp_path / "memaudit")
    clone.state = owner.state
    clone.configure(total={"epsilon": 80.0, "delta": 2e-4})
    table(np.random.default_rng(0)).iloc[1:].to_csv(clone.folder / "customers.csv", index=False)
    before = owner.ledger
    code, said, printed = clone.release()
    assert code != 0
    assert len(said) == 1, printed
    assert said[0].startswith("budget spent: table customers has been charged (epsilon 80, delta 0.0002)")
    assert owner.ledger == before


def without_root_writes():
    """Root writes where nobody may; without this capability it does not. Without effect for other users."""
    drop, write_anything = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    ctypes.CDLL(None).prctl(drop, write_anything, 0, 0, 0)


@pytest.fixture
def read_only(tmp_path):
    """An installation whose files and folders cannot be written, and a folder of the user's own."""
    owner, mine = Owner(tmp_path / "memaudit"), tmp_path / "mine"
    mine.mkdir()
    (owner.folder / ".git").rmdir()  # hashes of code are kept in a clone alone
    for name in ("my.yaml", "customers.csv", "config/public/customers.yaml"):
        shutil.move(owner.folder / name, mine)
    for path in (owner.folder, *owner.folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    yield owner, mine
    for path in (owner.folder, *owner.folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)


def test_bounds_and_a_release_are_made_from_an_installation_that_cannot_be_written(read_only):
    owner, mine = read_only
    tried = subprocess.run(["touch", owner.folder / "x"], preexec_fn=without_root_writes, check=False)
    assert tried.returncode != 0, "the installation is read-only"
    config = yaml.safe_load((mine / "my.yaml").read_text())
    bounds = {"columns": ["income"], "epsilon": 4.0, "delta": 1e-4}
    settings = {"queries": 40, "prior": "moments", "alpha": 1.0, "by_class": True, "labels": "group"}
    total = {"epsilon": 44.0, "delta": 2e-4}
    public = {"public": str(mine / "customers.yaml")}
    config["release"] |= public | {"total": total, "bounds": bounds, "settings": settings}
    (mine / "my.yaml").write_text(yaml.safe_dump(config))
    before = sorted(owner.folder.rglob("*"))
    at_home = {"cwd": mine, "preexec_fn": without_root_writes}
    snakefile = ["--snakefile", str(owner.folder / "Snakefile")]
    code, said, printed = owner.release(*snakefile, target="release_bounds release", **at_home)
    assert code == 0, printed
    assert "released 40 records of customers at (40, 0.0001)" in said
    (line,) = [line for line in said if line.startswith("bounds of income: [")]
    assert {charge["purpose"] for charge in owner.charges} == {"bounds by run mine", "release by run mine"}
    found = yaml.safe_load((mine / "results/mine/release_bounds/customers/bounds.yaml").read_text())
    assert line == "bounds of income: [{:g}, {:g}]".format(*found["columns"]["income"])
    assert len(pd.read_parquet(mine / "results/mine/release/customers/context.parquet")) == 40
    assert sorted(owner.folder.rglob("*")) == before
