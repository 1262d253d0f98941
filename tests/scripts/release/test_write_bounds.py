"""The script of `snakemake release_bounds`: what it charges, writes and refuses, and a release by the new bounds."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.data.table_sources import fetch
from memaudit.models.model_protocol import Limits
from memaudit.privacy.public_facts import read_public
from memaudit.workflow.job import Paths

FACTS = """source: a form
records: 2000
task: classification
target: ["no", "yes"]
columns:
  age: [18, 100]
  income: [-1.0e+9, 1.0e+9]
"""
RELEASE = {"epsilon": 1.0, "delta": 1e-6, "total": {"epsilon": 1.2, "delta": 2e-6}}
RELEASE |= {"settings": {"queries": 50, "prior": "moments", "alpha": 1.0, "by_class": True, "labels": "group"}}
RELEASE |= {"bounds": {"columns": ["income"], "epsilon": 0.2, "delta": 1e-6}}
ENTRY = {"target": "churn", "group": "home", "drop": [], "missing": ["?"]}
OUT = Path("results/mine/release_bounds/customers")


@pytest.fixture
def script(project, tmp_path, monkeypatch, capfd):
    """The script on a table of 2,000 records, in an empty folder; `given` replaces names of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rng = np.random.default_rng(0)
    age = rng.integers(18, 100, 2000)
    table = pd.DataFrame({"age": age, "income": rng.normal(3e4, 5e3, 2000), "home": rng.integers(0, 900, 2000)})
    table.assign(churn=np.where(age > 55, "yes", "no")).to_csv("table.csv", index=False)
    write_json(fetch({"source": "file", "path": "table.csv"}, "raw.parquet", "downloads"), "raw.json")
    (tmp_path / "facts.yaml").write_text(FACTS)

    def called(wanted=None, run="mine", entry=None, **given):
        main = runpy.run_path(str(project / "workflow_scripts/release/write_bounds.py"))["main"]
        main.__globals__.update(given)
        out = f"results/{run}/release_bounds/customers"
        params = {"run": run, "ledger": None, "entry": ENTRY | (entry or {}), "release": RELEASE | (wanted or {})}
        job = {"input": Paths(["table=raw.parquet", "facts=raw.json", "public=facts.yaml"]), "threads": 1}
        job |= {"output": Paths([f"bounds={out}/bounds.yaml", f"statement={out}/statement.json", "sidecar=s.json"])}
        main(SimpleNamespace(**job, params=SimpleNamespace(**params), wildcards=SimpleNamespace(dataset="customers")))
        return capfd.readouterr().err

    return called


def released_by(public, project):
    """The statement of a release by a file of public facts."""
    main = runpy.run_path(str(project / "workflow_scripts/release/write_context.py"))["main"]
    main.__globals__.update(load=lambda *_: SimpleNamespace(limits=Limits(None, None, None)))
    write_json({"sha256": "f" * 64}, "model.json")
    out = "results/mine/release/customers"
    inputs = ["table=raw.parquet", "facts=raw.json", f"public={public}", "model=model.json"]
    outputs = [f"context={out}/context.parquet", f"words={out}/statement.md", f"statement={out}/statement.json"]
    params = {"run": "mine", "seed": 1, "ledger": None, "entry": ENTRY}
    params |= {"release": RELEASE | {"model": "means", "tuned": "on nothing"}}
    job = {"input": Paths(inputs), "output": Paths(outputs), "threads": 1, "resources": {}}
    main(SimpleNamespace(**job, params=SimpleNamespace(**params), wildcards=SimpleNamespace(dataset="customers")))
    return read_json(f"{out}/statement.json")


NOISE = np.random.default_rng(0)


def seeded(center, sigma):
    """Counts with noise of a seed: without one they miss the bounds of a test in one run of a hundred, as is stated."""
    return center + np.rint(NOISE.normal(0, sigma, np.shape(center))).astype(int)


def charges():
    path = Path("state/memaudit/ledger/ledger.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_the_bounds_are_charged_stated_and_readable_as_public_facts(script):
    printed = script(discrete_gaussian=seeded)
    (charge,), said = charges(), read_json(OUT / "statement.json")
    assert charge["budget"] == {"epsilon": 0.2, "delta": 1e-6} == {key: said[key] for key in ("epsilon", "delta")}
    assert charge["purpose"] == "bounds by run mine"
    assert said["unit"] == charge["unit"] == "one home with all its rows"
    assert said["ledger"]["charge"] == charge["id"]
    known = read_public(OUT / "bounds.yaml", {"age": "numeric", "income": "numeric"})
    age, income = known.columns
    assert age.values == (18.0, 100.0)
    assert list(income.values) == said["bounds"]["income"]
    assert 0 <= income.values[0] <= 3e4 <= income.values[1] <= 2**17
    assert known.source == f"a form; bounds of income by noisy counts of a table, charge {charge['id']}"
    assert "memaudit: paid (0.2, 1e-06)" in printed
    assert yaml.safe_load((OUT / "bounds.yaml").read_text()).keys() == {
        "source",
        "records",
        "task",
        "target",
        "columns",
    }


def test_a_release_by_the_bounds_states_both_charges(script, project):
    script()
    said = released_by(OUT / "bounds.yaml", project)
    bounds, release = charges()
    assert said["public"]["source"].endswith(f"bounds of income by noisy counts of a table, charge {bounds['id']}")
    assert said["ledger"]["charge"] == release["id"]
    assert said["ledger"]["releases_so_far"] == 2
    assert 0.9 < said["ledger"]["table_so_far"]["epsilon"] < 1.2, "composed, not added"
    lower, upper = read_json(OUT / "statement.json")["bounds"]["income"]
    assert pd.read_parquet("results/mine/release/customers/context.parquet").income.between(lower, upper).all()


def test_a_number_target_has_bounds_of_its_own_values(script):
    facts = {
        "source": "a form",
        "records": 2000,
        "task": "regression",
        "target": [0, 1e9],
        "columns": {"age": [0, 1e9]},
    }
    Path("facts.yaml").write_text(yaml.safe_dump(facts))
    wanted = {"bounds": RELEASE["bounds"] | {"columns": ["target", "age"]}, "total": {"epsilon": 2.0, "delta": 2e-6}}
    wanted |= {"settings": {"queries": 50, "prior": "moments", "alpha": 1.0, "labels": "group"}}
    script(wanted, entry={"target": "income", "drop": ["churn"]}, discrete_gaussian=seeded)
    found = yaml.safe_load((OUT / "bounds.yaml").read_text())
    assert 3e4 <= found["target"][1] < 1e5
    assert 64 < found["columns"]["age"][1] < 256


def test_the_charge_is_written_before_noise_is_drawn(script):
    lines = []

    def noise(center, sigma):
        lines.append(len(charges()))
        return center

    script(discrete_gaussian=noise)
    assert lines == [1]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"total": {"epsilon": 1.01, "delta": 1e-6}}, "does not cover the release after its bounds"),
        ({"total": {"epsilon": 0.1, "delta": 2e-6}}, "more would exceed its total"),
        ({"bounds": {"columns": ["incomes"], "epsilon": 0.2, "delta": 1e-6}}, "incomes is no column of numbers"),
        ({"bounds": {"columns": ["income"], "epsilon": 0.2, "delta": 1e-3}}, "budget: delta 0.001 does not lie in"),
    ],
)
def test_what_cannot_be_paid_or_done_has_spent_nothing(script, wanted, message):
    with pytest.raises(AuditError, match=message):
        script(wanted)
    assert charges() == []
    assert not OUT.exists()


def test_the_same_bounds_are_not_paid_for_twice(script):
    large = {"total": {"epsilon": 9.0, "delta": 1e-5}}
    script(large)
    with pytest.raises(AuditError, match=r"bounds.yaml: exists"):
        script(large)
    with pytest.raises(AuditError, match=r"budget spent: .* its releases are kept in"):
        script({"total": {"epsilon": 0.2, "delta": 1e-6}}, run="other")
    assert len(charges()) == 1


def test_a_ledger_that_did_not_pay_for_bounds_that_stand_is_refused(script, monkeypatch, tmp_path):
    script()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    with pytest.raises(AuditError, match="this is not the ledger that was charged"):
        script(run="other")
