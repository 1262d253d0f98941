"""The script of `snakemake release`: when a budget is charged, and what is released, kept and refused."""

import json
import os
import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from memaudit.auditing.reading.request import Request
from memaudit.auditing.running.ledger_note import note_audit
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.data.table_sources import fetch
from memaudit.models.model_protocol import Limits
from memaudit.privacy.tabpate_release import TabPATE
from memaudit.workflow.job import Paths

FACTS = """source: a test
records: 300
task: classification
target: ["no", "yes"]
columns:
  age: [18, 100]
  colour: [blue, green, red]
"""
ENTRY = {"target": "churn", "group": None, "drop": [], "missing": ["?"]}
RELEASE = {"epsilon": 2.0, "delta": 3e-4, "total": None, "model": "means", "tuned": "on nothing"}
RELEASE |= {"settings": {"teachers": 10, "queries": 30}}


class Means:
    """The class whose mean is nearer."""

    task, mode, alone, limits = "classification", "raw", True, Limits(None, None, None)

    def logits(self, context_x, context_y, query_x):
        means = [context_x[0, context_y[0] == label].nanmean(0) for label in (0, 1)]
        return -torch.stack([(query_x - mean).nan_to_num().square().sum(-1) for mean in means], -1)


class Silent(Means):
    def logits(self, context_x, context_y, query_x):
        return torch.full((1, query_x.shape[1], 2), torch.nan)


class Script:
    """The script, in an empty folder; `given` are names of its own that a test replaces."""

    def __init__(self, folder, path):
        self.folder, self.path, self.ledger = folder, path, folder / "state/memaudit/ledger"

    def __call__(self, run="mine", dataset="customers", entry=None, wanted=None, ledger=None, **given):
        main = runpy.run_path(str(self.path))["main"]
        main.__globals__.update({"load": lambda *_: Means(), **given})
        out = f"results/{run}/release/{dataset}"
        inputs = ["table=raw.parquet", "facts=raw.json", "public=facts.yaml", "model=model.json"]
        outputs = [f"context={out}/context.parquet", f"words={out}/statement.md", f"statement={out}/statement.json"]
        outputs += ["sidecar=sidecar.json"]
        params = {"run": run, "seed": 1, "ledger": ledger, "entry": ENTRY | (entry or {})}
        params |= {"release": RELEASE | (wanted or {})}
        job = {"input": Paths(inputs), "output": Paths(outputs), "threads": 1, "resources": {}}
        job |= {"params": SimpleNamespace(**params), "wildcards": SimpleNamespace(dataset=dataset)}
        return main(SimpleNamespace(**job))

    def charges(self):
        path = self.ledger / "ledger.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def script(project, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rng = np.random.default_rng(0)
    age = rng.integers(18, 100, 300)
    table = pd.DataFrame({"age": age, "colour": rng.choice(["blue", "green", "red"], 300)})
    table.assign(churn=np.where(age > 55, "yes", "no")).to_csv("table.csv", index=False)
    write_json(fetch({"source": "file", "path": "table.csv"}, "raw.parquet", "downloads"), "raw.json")
    (tmp_path / "facts.yaml").write_text(FACTS)
    write_json({"sha256": "f" * 64}, "model.json")
    write_json({}, "sidecar.json")  # of an earlier release, whose files were moved away
    return Script(tmp_path, project / "workflow_scripts/release/write_context.py")


def statement(folder="results/mine"):
    return read_json(f"{folder}/release/customers/statement.json")


def page(folder="results/mine"):
    return Path(f"{folder}/release/customers/statement.md").read_text()


def refused(script, **given):
    before = script.charges()
    with pytest.raises(AuditError) as caught:
        script(**given)
    assert script.charges() == before
    return str(caught.value)


def test_the_context_has_the_tables_names_and_labels_that_teachers_know(script):
    script(discrete_gaussian=lambda center, sigma: center)
    context = pd.read_parquet("results/mine/release/customers/context.parquet")
    assert list(context) == ["age", "colour", "target"]
    assert context.age.between(18, 100).all()
    assert set(context.colour) <= {"blue", "green", "red"}
    assert ((context.age > 55) == (context.target == "yes")).mean() > 0.9


def test_the_statement_says_what_was_spent_and_on_what(script):
    script()
    (charge,), said = script.charges(), statement()
    assert {"epsilon": said["epsilon"], "delta": said["delta"]} == charge["budget"] == {"epsilon": 2.0, "delta": 3e-4}
    assert said["ledger"]["charge"] == charge["id"]
    assert said["ledger"]["table_so_far"] == said["ledger"]["total"] == charge["total"]
    assert said["public"]["sha256"] == sha256("facts.yaml")
    assert said["queries"] == {"asked": 30, "answered": 30}
    assert said["records"] == len(pd.read_parquet("results/mine/release/customers/context.parquet")) == 30
    assert said["unit"] == "one row"
    # Two counts a label: each costs 1 / sigma2^2 in rho.
    assert said["spent"]["labels_rho"] == pytest.approx(30 / said["spent"]["votes"]["sigma2"] ** 2)
    assert f"| ledger: charge | {charge['id']} |" in page()


def test_the_statement_lists_what_was_taken_as_public(script):
    script()
    assert statement()["public"]["columns"] == {"age": [18.0, 100.0], "colour": ["blue", "green", "red"]}
    assert statement()["public"]["target"] == ["no", "yes"]
    assert "| age | number | from 18 to 100 |" in page()
    assert '| colour | categories | "blue", "green", "red" |' in page()


def test_a_table_with_decimal_commas_is_released_as_one_with_points(script):
    """The same queries and no noise: the labels say how the numbers were read."""
    silent = {"discrete_gaussian": lambda center, sigma: center}
    script(**silent)
    table = pd.read_csv("table.csv")
    table.age = [f"{age + 0.25:.2f}".replace(".", ",") for age in table.age]
    table.to_csv("table.csv", index=False, sep=";")
    write_json(fetch({"source": "file", "path": "table.csv"}, "raw.parquet", "downloads"), "raw.json")
    assert "declare `decimal" in refused(script, run="german", dataset="clients", **silent)
    script(run="german", dataset="clients", entry={"decimal": ","}, **silent)
    first = pd.read_parquet("results/mine/release/customers/context.parquet")
    second = pd.read_parquet("results/german/release/clients/context.parquet")
    assert second.age.between(18, 100).all()
    assert ((second.age > 55.25) == (second.target == "yes")).mean() > 0.9
    assert list(first) == list(second)


def test_nothing_computed_from_the_records_without_noise_is_printed(script):
    """The identity is a hash of the whole table: who knows all rows but one could test guesses about that one."""
    script()
    (charge,) = script.charges()
    texts = "".join(
        (script.folder / f"results/mine/release/customers/statement.{kind}").read_text() for kind in ("md", "json")
    )
    assert charge["identity"] not in texts
    assert sha256("raw.parquet") not in texts
    assert sha256("table.csv") not in texts


def test_the_charge_is_written_before_noise_is_drawn(script):
    lines = []

    def noise(center, sigma):
        lines.append(len(script.charges()))
        return center

    script(discrete_gaussian=noise)
    assert lines
    assert set(lines) == {1}


def test_what_fails_before_noise_is_drawn_has_spent_nothing(script):
    assert "predicts NaN" in refused(script, load=lambda *_: Silent())
    script()
    assert len(script.charges()) == 1


@pytest.mark.parametrize("part", ["statement_terms", "in_words"])
def test_a_statement_that_cannot_be_made_has_spent_nothing(script, part):
    def unstated(*_):
        raise AuditError("no such number")

    assert refused(script, **{part: unstated}) == "no such number"
    script()
    assert len(script.charges()) == 1


def test_what_fails_later_has_spent_everything(script):
    def full(*_):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        script(write_table=full)
    assert len(script.charges()) == 1
    for again in ({}, {"run": "other"}):
        line = refused(script, **again)
        assert line.startswith("budget spent: table customers")
        assert "no release is kept" in line


def test_neither_another_run_nor_another_name_releases_again(script):
    script()
    (charge,) = script.charges()
    for again in ({"run": "other"}, {"dataset": "clients"}):
        assert f"its releases are kept in {script.ledger / charge['id']}" in refused(script, **again)
    kept, released = script.ledger / charge["id"], script.folder / "results/mine/release/customers"
    for name in ("context.parquet", "statement.md", "statement.json"):
        assert (kept / name).read_bytes() == (released / name).read_bytes()


def test_no_noise_is_drawn_for_a_release_that_is_refused(script):
    script()

    def noise(*_):
        raise AssertionError("noise was drawn")

    refused(script, run="other", discrete_gaussian=noise)


def test_an_existing_release_is_not_repeated_unless_it_is_moved_away(script):
    """Whatever makes Snakemake run the rule again: a newer table, other settings, `-F`."""
    twice = {"wanted": {"total": {"epsilon": 4.0, "delta": 6e-4}}}
    script(**twice)
    first = (script.folder / "results/mine/release/customers/context.parquet").read_bytes()
    assert "context.parquet: exists, and another release spends again" in refused(script, **twice)
    assert (script.folder / "results/mine/release/customers/context.parquet").read_bytes() == first
    os.rename("results/mine", "results/earlier")
    script(**twice)
    together = statement()["ledger"]["table_so_far"]
    assert together["delta"] == 6e-4
    assert 2.0 < together["epsilon"] < 3.5, "composed, not added"
    assert "budget spent" in refused(script, run="third", **twice)


def test_the_key_of_the_shards_is_drawn_anew_for_each_release(script):
    """And kept nowhere: nobody who sees a context can tell in which shard a record was."""
    keys = []

    def spy(private, *others):
        keys.append(private.key)
        return TabPATE(private, *others)

    for run in ("mine", "other"):
        script(run=run, wanted={"total": {"epsilon": 4.0, "delta": 6e-4}}, TabPATE=spy)
    assert len({*keys}) == 2
    assert min(map(len, keys)) >= 16


def test_another_clone_and_a_changed_row_do_not_release_again(script, monkeypatch):
    """The ledger is the user's, and knows the table by its rows."""
    script()
    table = pd.read_csv("table.csv")
    table.loc[0, "age"] = 19
    for name in ("clone", "clone/results"):
        os.mkdir(name)
    for name in ("facts.yaml", "model.json", "sidecar.json"):
        shutil.copy(name, "clone")
    monkeypatch.chdir("clone")
    table.to_csv("table.csv", index=False)
    write_json(fetch({"source": "file", "path": "table.csv"}, "raw.parquet", "downloads"), "raw.json")
    line = refused(script, dataset="clients")
    assert line.startswith("budget spent: table clients has been charged")
    assert "also as customers" in line


def test_a_ledger_that_did_not_pay_for_a_release_that_stands_is_refused(script, monkeypatch):
    script()
    monkeypatch.setenv("XDG_STATE_HOME", str(script.folder / "another state"))
    with pytest.raises(AuditError, match="this is not the ledger that was charged"):
        script(run="other")
    assert not (script.folder / "another state/memaudit/ledger/ledger.jsonl").read_bytes()


def test_an_emptied_ledger_is_refused(script):
    script()
    shutil.rmtree("results")
    (script.ledger / "ledger.jsonl").write_bytes(b"")
    assert "has no line for the folder" in refused(script)


def test_a_raised_total_is_printed_in_the_next_statement(script):
    script()
    assert "total_was_raised_from" not in statement()["ledger"]
    script(run="other", wanted={"total": {"epsilon": 4.0, "delta": 6e-4}})
    entries = statement("results/other")["ledger"]
    assert entries["total_was_raised_from"] == ["epsilon 2, delta 0.0003"]
    assert entries["releases_so_far"] == 2
    assert "| ledger: total was raised from | epsilon 2, delta 0.0003 |" in page("results/other")


@pytest.mark.parametrize("ledger", [None, "elsewhere"])
def test_an_audit_with_private_contexts_is_named_in_the_next_statement(script, ledger):
    (script.folder / "audit/table").mkdir(parents=True)
    note_audit(Request(str(script.folder / "table.csv"), "churn"), script.folder / "audit")
    assert script.charges() == []
    script(ledger=ledger)
    (look,) = statement()["private_contexts_measured_before"]
    assert look.startswith("an audit with private contexts")
    assert "may have been chosen with what these runs showed" in " ".join(page().split())


def test_a_table_that_nobody_looked_at_has_no_such_entry(script):
    script()
    assert "private_contexts_measured_before" not in statement()
    assert "these runs showed" not in page()
