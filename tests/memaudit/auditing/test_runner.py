"""The private folder of an audit, and requests that are refused before anything is written."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from audit_examples import CHOSEN, FACTS

from memaudit.auditing import command_line, model_choice, runner, stages
from memaudit.auditing.intake import take_in
from memaudit.auditing.request import Request
from memaudit.auditing.working_folder import private
from memaudit.common.errors import AuditError


def test_an_interrupted_audit_keeps_its_sizes(tmp_path):
    config = stages.overlay(
        "full", FACTS, {"minutes": 3, "sets": 48, "records": 500}, CHOSEN, model_choice.entries(["tabicl-small"])
    )
    (tmp_path / "full.yaml").write_text(yaml.safe_dump(config))
    again = stages.overlay("full", FACTS, {"sets": 32, "records": 500}, CHOSEN, model_choice.entries(["tabicl-small"]))
    assert runner._full_sizes(9.0, runner.Settings(tmp_path, minutes=3), again)["sets"] == 48


def test_first_numbers_do_not_replace_a_complete_page(tmp_path):
    (tmp_path / "summary.json").write_text('{"stage": "full"}')
    with pytest.raises(AuditError, match="--quick would replace"):
        runner._keep_complete(runner.Settings(tmp_path, quick=True))
    runner._keep_complete(runner.Settings(tmp_path))


@pytest.mark.parametrize(
    ("request_", "settings", "message"),
    [
        ({"seed": -1}, {}, "--seed: -1 is less than 0"),
        ({}, {"public": "f.yaml"}, "--public"),
        ({}, {"epsilon": [1.0]}, "--epsilon: needs --public FILE"),
        ({}, {"snakemake": ["-n"]}, "-n: "),
        ({}, {"snakemake": ["--until=x"]}, "--until"),
    ],
)
def test_an_invalid_request_is_refused_before_anything_is_written(tmp_path, request_, settings, message):
    with pytest.raises(AuditError, match=re.escape(message)):
        runner.run(Request("t.csv", "y", **request_), runner.Settings(tmp_path / "into", **settings), print)
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize(
    "settings",
    [{"finetune": True}, {"epsilon": [1.0], "public": "/no/file"}, {"threats": ["labels"], "finetune": True}],
)
def test_what_does_not_fit_the_table_is_refused_before_its_copy_replaces_another(tmp_path, settings):
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=70), "y": np.arange(70) % 2}).to_csv(tmp_path / "t.csv", index=False)
    request = Request(str(tmp_path / "t.csv"), "y")
    folder = tmp_path / "into"
    with private(folder):
        take_in(request, folder)
    before = [path.read_bytes() for path in sorted((folder / "table").iterdir())]
    other = replace(request, rows=65)
    with pytest.raises(AuditError):
        runner.run(other, runner.Settings(folder, **settings), lambda *_: pytest.fail("the table was taken in"))
    assert [path.read_bytes() for path in sorted((folder / "table").iterdir())] == before


def test_a_quick_audit_says_which_of_the_given_options_it_leaves_out(tmp_path, capsys):
    request = Request("t.csv", "y", by=["city"], infer=["age"])
    settings = {"folder": tmp_path, "threats": ["labels", "linkability"], "models": ["a", "b"]}
    left = runner.left_by_quick(request, runner.Settings(**settings, quick=True))
    assert left == ["--by", "--infer", "further models", "--threats linkability"]
    assert runner.left_by_quick(request, runner.Settings(**settings)) == []
    assert runner.left_by_quick(Request("t.csv", "y"), runner.Settings(tmp_path, quick=True)) == []
    command_line.report("schema", FACTS | {"left_by_quick": left[:2]})
    assert "--quick leaves out --by, --infer: audit without --quick for them" in capsys.readouterr().out
