"""The private folder of an audit, and requests that are refused before anything is written."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from audit_examples import FACTS

from memaudit.auditing import command_line, runner
from memaudit.auditing.reading.intake import take_in
from memaudit.auditing.reading.request import Request
from memaudit.auditing.running.working_folder import private
from memaudit.common.errors import AuditError


def test_first_numbers_do_not_replace_a_complete_page(tmp_path):
    (tmp_path / "summary.json").write_text('{"stage": "full"}')
    with pytest.raises(AuditError, match="--quick would replace"):
        runner._keep_complete(runner.Settings(tmp_path, quick=True))
    assert runner._keep_complete(runner.Settings(tmp_path))
    assert not runner._keep_complete(runner.Settings(tmp_path / "other"))


@pytest.fixture
def staged(tmp_path, monkeypatch):
    """A function that runs an audit whose stages are not computed: the configs of the stages, and what it reports."""
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=70), "y": np.arange(70) % 2}).to_csv(tmp_path / "t.csv", index=False)

    def run(expected, by=(), **settings):
        configs, reported = [], []
        monkeypatch.setattr(runner, "_stage", lambda stage, config, *_: configs.append((stage, config)) or {})
        monkeypatch.setattr(
            runner,
            "second_stage_sizes",
            lambda left, *_: {"sets": 32, "records": 70, "seconds expected": expected, "seconds left": left},
        )
        request = Request(str(tmp_path / "t.csv"), "y", by=list(by))
        runner.run(request, runner.Settings(tmp_path / "into", **settings), lambda *one: reported.append(one))
        return configs, [(stage, result) for stage, result in reported if stage != "schema"]

    return run


def test_a_short_budget_ends_with_the_first_numbers_and_says_what_would_do(staged):
    configs, reported = staged(110.0, minutes=1)
    assert [stage for stage, _ in configs] == ["quick", "quick"]
    (_, first), (_, last) = configs
    assert first["audit"]["smallest"]  # so that the records are not rated again
    assert last["audit"]["smallest"]
    assert last["audit"]["plan"] == first["audit"]["plan"] | {"whole": 2}
    assert [stage for stage, _ in reported] == ["quick", "late"]
    assert "would take about 2 minutes on this machine, and the budget is 1; --minutes 2 has them" in reported[-1][1]


def test_on_a_slow_machine_the_first_numbers_come_again_with_the_smallest_leak(staged):
    configs, reported = staged(900.0, minutes=3)
    assert [config["audit"]["smallest"] for _, config in configs] == [False, True]
    assert [stage for stage, _ in reported] == ["quick", "quick", "late"]


def test_an_audit_that_its_minutes_ended_does_not_rate_its_records_again(staged, tmp_path):
    """Given again it has the same config, for which nothing is to be done; with minutes enough it goes on."""
    before, reported = staged(900.0, minutes=3)
    (tmp_path / "into/quick.yaml").write_text(yaml.safe_dump(before[-1][1]))
    again, told = staged(900.0 - 30.0, minutes=3)  # the first stage takes no time now
    assert [config for _, config in again] == [before[-1][1]] * 2
    assert told[-1] == reported[-1]
    longer = before[-1][1]["audit"]["plan"]["whole"]
    assert [stage for stage, _ in staged(900.0, minutes=longer)[0]] == ["quick", "full"]
    other = staged(900.0, minutes=3, shown=5)[0]
    assert [config["audit"]["smallest"] for _, config in other] == [False, True]


@pytest.mark.parametrize(("expected", "settings"), [(110.0, {"minutes": 2}), (900.0, {"minutes": 1, "whole": True})])
def test_what_fits_or_is_asked_for_whatever_it_takes_is_computed(staged, expected, settings):
    configs, reported = staged(expected, **settings)
    assert [stage for stage, _ in configs] == [stage for stage, _ in reported] == ["quick", "full"]


@pytest.mark.parametrize("asked", [{"by": ["a"]}, {"threats": ["labels", "probabilities", "poison"]}])
def test_what_an_option_asks_for_is_measured_whatever_it_takes(staged, asked):
    assert [stage for stage, _ in staged(900.0, minutes=1, **asked)[0]] == ["quick", "full"]


def test_a_complete_audit_stays_complete(staged, tmp_path):
    staged(110.0, minutes=2)
    (tmp_path / "into/summary.json").write_text('{"stage": "full"}')
    assert [stage for stage, _ in staged(900.0, minutes=1)[0]] == ["quick", "full"]


@pytest.mark.parametrize(
    ("request_", "settings", "message"),
    [
        ({"seed": -1}, {}, "--seed: -1 is less than 0"),
        ({}, {"public": "f.yaml"}, "--public"),
        ({}, {"epsilon": [1.0]}, "--epsilon: needs --public FILE"),
        ({}, {"quick": True, "whole": True}, "--whole: measures what --quick leaves out"),
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
