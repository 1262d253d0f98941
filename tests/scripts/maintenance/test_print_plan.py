"""What a plan says of numbers that it cannot know, and how it tells the command that the run would not start."""

import runpy
from types import SimpleNamespace

import pytest
from conftest import PROJECT

from memaudit.common.snakemake_command import NO_START

SCRIPT = PROJECT / "workflow_scripts/maintenance/print_plan.py"
PARAMS = {
    "run": "results/mine",
    "unit_costs": str(PROJECT / "results/bench/unit_costs.json"),
    "jobs": {"lira_gather_grid": {"wine/efficient": [182272, 182272, 182272]}},
    "gpu": [],
    "cores": 2,
    "tables": {"wine": {"rows": 178, "columns": 13, "known": True, "damaged": None}},
    "settings": {"gpu_tflops": 10.0, "width": 0.1},
    "uncounted": [],
    "minutes": {"lira_gather_grid": 10},
    "shadows": {"lira": {"models": 1024, "fpr": [0.1], "records": {"wine": 1420}}},
}


@pytest.fixture
def plan(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(NO_START, str(tmp_path / "no_start"))

    def printed(**params):
        runpy.run_path(str(SCRIPT))["main"](SimpleNamespace(params=SimpleNamespace(**PARAMS | params), log=[]))
        return capsys.readouterr().out, (tmp_path / "no_start").exists()

    return printed


def test_a_run_that_would_not_start_is_told_to_the_command(plan):
    assert not plan(missing=[])[1]
    text, no_start = plan(missing=["models/mine/path: there is no file w.ckpt; put the weights there"])
    assert "A RUN WOULD NOT START: models/mine/path: there is no file w.ckpt" in text
    assert no_start


def test_numbers_of_records_are_those_before_duplicates_are_removed(plan):
    text, _ = plan(missing=[])
    assert "lira: 1,024 shadow models, at most 1,420 records of wine, less duplicates. An evaluation needs\n" in text
