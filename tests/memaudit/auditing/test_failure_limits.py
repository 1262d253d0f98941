"""Limits are read strictly, and judged by the end of the interval that they name."""

import argparse

import pytest
from audit_examples import a_summary, value

from memaudit.auditing import command_line, failure_limits, runner


@pytest.mark.parametrize(
    ("text", "exceeded", "says"),
    [
        ("auc=.6", True, "shown to be above 0.6"),  # the headline is 0.70 [0.65, 0.75]
        ("auc=.7", False, "not shown to be above 0.7"),
        ("auc.low=.65", False, "not shown to be above"),
        ("auc.high=.74", True, "not shown to be at most 0.74"),
        ("auc.high=.75", False, "shown to be at most 0.75"),
        ("tpr@.01=.04", True, "shown to be above"),  # 0.1 [0.05, 0.15]
        ("tpr@0.01.high=.2", False, "shown to be at most"),
        ("tpr@1e-2=.06", False, "not shown"),
        ("precision@.1=.4", True, "shown to be above"),  # 0.6 [0.5, 0.7]
    ],
)
def test_a_limit_is_judged_by_the_end_that_is_named(text, exceeded, says):
    ((found, line),) = failure_limits.judged([failure_limits.limit(text)], a_summary())
    assert found == exceeded
    assert says in line


def test_without_an_interval_nothing_is_shown():
    summary = a_summary()
    summary.headline.auc = value(0.9, None, None)
    limits = [failure_limits.limit("auc=.6"), failure_limits.limit("auc.high=.6")]
    assert [above for above, _ in failure_limits.judged(limits, summary)] == [False, True]


@pytest.mark.parametrize(
    "text",
    ["auc", "auc=", "auc=x", "auc=nan", "auc=1.5", "auc=-1", "acc=.6", "auc@.1=.6", "tpr=.1", "tpr@=.1", "tpr@.5=.1",
     "tpr@x=.1", "auc.mid=.6", "auc=.6=.7", "", "auc =.6", "precision@2=.5", "tpr@.01.low.high=.1"],
)  # fmt: skip
def test_a_wrong_limit_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError):
        failure_limits.limit(text)


@pytest.mark.parametrize("wrong", ["accuracy=.6", "precision@.3=.5"])
def test_a_wrong_limit_ends_the_command_in_one_line_before_anything_runs(wrong, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "run", lambda *_: pytest.fail("the audit has started"))
    with pytest.raises(SystemExit) as stop:
        command_line.main(["audit", "t.csv", "--target", "y", "--fail-above", wrong])
    assert stop.value.code == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert wrong in printed
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("limit", "placebo", "code"),
    [("auc=.6", False, 4), ("auc=.7", False, 0), ("auc=.7 auc.high=.7", False, 4), ("auc=.6", True, 3)],
)
def test_the_exit_code_tells_a_limit_from_an_invalid_audit(limit, placebo, code, tmp_path, monkeypatch, capsys):
    summary = a_summary(placebo=placebo).model_dump()
    monkeypatch.setattr(runner, "run", lambda request, settings, report: report("full", summary))
    arguments = ["audit", "t.csv", "--target", "y", "--into", str(tmp_path / "a"), "--fail-above", *limit.split()]
    assert command_line.main(arguments) == code
    assert "auc has the lower end 0.65" in capsys.readouterr().out
