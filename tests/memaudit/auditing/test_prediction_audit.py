"""The command `./memaudit audit --predictions`: its options, its lines on the screen; runs: tests/workflow."""

from pathlib import Path

import pytest
from audit_examples import HOSTILE
from prediction_examples import ACCUSED, FILES, scores

from memaudit.auditing import audit_options, command_line, prediction_audit
from memaudit.auditing.predictions.prediction_summary import FileCounts, PredictionSummary, judged


def parsed(*arguments):
    return audit_options.parser(with_table=False).parse_args(["audit", "--target", "y", *arguments])


def test_every_idle_option_is_one_of_the_command():
    options = vars(parsed("--predictions", "a", "b"))
    read = {"command", "table", "predictions", "reference", "id", "target", "group", "drop", "categorical", "missing"}
    read |= {"delimiter", "encoding", "decimal", "dates", "base_rates", "seed", "cores", "into", "rows", "pdf", "owner"}
    read |= {"review_by", "fail_above", "records"}
    assert read | {*prediction_audit.IDLE} == options.keys()


def test_the_folder_is_called_after_the_members():
    assert prediction_audit.folder_of(parsed("--predictions", "a/m.csv", "n.csv")).name == "audit-predictions-m"
    assert prediction_audit.folder_of(parsed("--predictions", "m", "n", "--into", "/x/y")) == Path("/x/y")


def test_the_screen_shows_what_was_read_and_found():
    facts = FILES | {"types": {HOSTILE: "numeric"}, "left_out": {"note": "free text"}, "references": 2, "sampled": 0}
    facts |= {"readings": {HOSTILE: "decimal comma"}, "probability_readings": ["12 % is read as 0.12"]}
    lines = prediction_audit.read_lines(facts)
    assert lines[0] == "600 rows of members and 500 rows of non-members, 2 columns of probabilities, 1 of features"
    assert lines[1:3] == ["3 rows are equal to an earlier one of their file and count once", "2 reference models"]
    assert lines[3] == "the probabilities are read with: 12 % is read as 0.12"
    assert lines[4] == f"  {HOSTILE!r}  numeric (decimal comma)"
    assert lines[-1] == "  'note'  left out: free text"
    summary = PredictionSummary(verdict="beyond the controls", files=FileCounts(**FILES), fpr=0.01, **scores())
    lines = prediction_audit.result_lines(summary)
    assert lines[0] == "result: AUC 0.70 [0.65, 0.75], chance 0.50, p 0.01: beyond the controls"
    assert lines[-3] == "Blind attack: features and target alone: AUC 0.50 [0.45, 0.55]"
    assert lines[-1].startswith("Treat the model's probabilities as personal data")


def without_a_run(monkeypatch, tmp_path, found):
    """Commands read these results in place of files and a stage of Snakemake."""
    facts = FILES | {"types": {}, "left_out": {}, "sampled": 0, "readings": {}, "probability_readings": []}
    monkeypatch.setattr(prediction_audit, "take_in", lambda request, folder: facts)
    monkeypatch.setattr(prediction_audit, "_made", lambda *_: found)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("limit", "options", "code"),
    [
        ("auc=.6", {}, 4),
        ("auc=.66", {}, 0),
        ("auc=.6", {"splits": 4}, 3),  # invalid
        ("tpr@.01=.05", {"accusations": ACCUSED}, 4),
        ("precision@.1=.5", {"accusations": ACCUSED}, 0),
        ("precision@.1.high=.9", {"accusations": ACCUSED}, 4),
        # Too few non-members: nothing is shown.
        ("tpr@.01=.05", {}, 0),
        ("tpr@.01.high=.05", {}, 4),
        ("precision@.1.high=.9", {}, 4),
    ],
)
def test_limits_set_the_exit_code(limit, options, code, tmp_path, monkeypatch, capsys):
    found = judged(PredictionSummary(verdict="invalid", files=FileCounts(**FILES), fpr=0.01, **scores(**options)))
    without_a_run(monkeypatch, tmp_path, found)
    arguments = ["audit", "--predictions", "m.csv", "n.csv", "--target", "y", "--fail-above", limit]
    assert command_line.main(arguments) == code
    assert limit.partition("=")[0].removesuffix(".high") in capsys.readouterr().out.splitlines()[-2]


@pytest.mark.parametrize("limit", ["tpr@.1=.2", "precision@.3=.2"])
def test_a_limit_that_is_not_measured_is_refused_before_anything_runs(limit, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        command_line.main(["audit", "--predictions", "m.csv", "n.csv", "--target", "y", "--fail-above", limit])
    assert stop.value.code == 2
    assert "rates of this audit are 0.01" in (said := capsys.readouterr().err) or "base rates are" in said
    assert not list(tmp_path.iterdir())


def test_a_review_in_the_past_is_refused(tmp_path, monkeypatch, capsys):
    without_a_run(monkeypatch, tmp_path, None)
    arguments = ["audit", "--predictions", "m.csv", "n.csv", "--target", "y", "--review-by", "2020-01-31"]
    assert command_line.main(arguments) == 1
    assert "is in the past" in capsys.readouterr().err
