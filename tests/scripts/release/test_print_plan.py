"""The script of `snakemake release_plan`: what it prints for the owner of a table, who has spent nothing."""

import runpy
from types import SimpleNamespace

import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.data.table_sources import fetch
from memaudit.workflow.job import Paths

FACTS = """source: a test
records: 1000
task: classification
target: ["no", "yes"]
columns: {age: [18, 100]}
"""
RELEASE = {"epsilon": 1.0, "delta": 1e-5, "bounds": None, "settings": {"teachers": 20, "queries": 100}}


@pytest.fixture
def plan(project, tmp_path, monkeypatch, capfd):
    """Lines of the plan of a release."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    pd.DataFrame({"age": range(20, 80), "churn": ["no", "yes"] * 30}).to_csv("table.csv", index=False)
    write_json(fetch({"source": "file", "path": "table.csv"}, "raw.parquet", "downloads"), "raw.json")
    (tmp_path / "facts.yaml").write_text(FACTS)
    main = runpy.run_path(str(project / "workflow_scripts/release/print_plan.py"))["main"]

    def printed(bounds=None, **settings):
        gains = f"gains={project}/results/bench/private_gain.json"
        entry = {"target": "churn", "group": None, "drop": [], "missing": ["?"]}
        params = {
            "dataset": "customers",
            "entry": entry,
            "release": RELEASE | {"bounds": bounds} | ({"settings": settings} if settings else {}),
        }
        inputs = Paths(["table=raw.parquet", "facts=raw.json", "public=facts.yaml", gains])
        main(SimpleNamespace(input=inputs, params=SimpleNamespace(**params), threads=1))
        assert not (tmp_path / "state").exists()
        return capfd.readouterr().err.splitlines()

    return printed


def test_the_plan_has_labels_noise_cost_and_the_expected_share_of_public_tables(plan):
    lines = plan(queries=300, prior="moments", alpha=1.0, by_class=True, labels="group", equal_classes=True)
    assert lines[:3] == [
        "memaudit: the table is read by its public facts and its entry alone:",
        "memaudit:   'age'    numeric, from 18 to 100, decimal point",
        "memaudit:   'churn'  categorical, 2 texts are known, the target",
    ]
    assert lines[3] == "memaudit: a release of customers at (1, 1e-05) would buy:"
    assert lines[4] == "memaudit:   labels: at most 300 of 300 queries"
    (expected,) = [line for line in lines if "expected accuracy" in line]
    assert "by `class_moments, equal classes` keep 44% (26% to 62%) of the gain over chance" in expected
    assert expected.endswith("6 tables of 750 to 1,000 records at epsilon 1")
    assert lines[-1] == "memaudit:   nothing was spent"


def test_settings_that_buy_too_little_are_refused(plan):
    with pytest.raises(AuditError, match=r"release/settings: the budget buys at most [01] labels"):
        plan(teachers=25, queries=500, threshold=15.0, sigma1=12.0, sigma2=8.0)


def test_bounds_that_would_be_paid_for_have_their_noise(plan):
    lines = plan(bounds={"columns": ["age"], "epsilon": 0.2, "delta": 1e-5})
    assert lines[-3] == "memaudit: before it, `release_bounds` at (0.2, 1e-05) would buy:"
    assert lines[-2].startswith("memaudit:   bounds of age: noise of counts sigma 16.3 records; ")
    with pytest.raises(AuditError, match="release/bounds/columns: income is no column of numbers"):
        plan(bounds={"columns": ["income"], "epsilon": 0.2, "delta": 1e-5})
