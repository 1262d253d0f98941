"""The command `./memaudit audit --predictions`: its options, its lines on the screen; runs: tests/workflow."""

from pathlib import Path

import pytest
from audit_examples import HOSTILE
from prediction_examples import FILES, scores

from memaudit.auditing import command_line, prediction_audit
from memaudit.auditing.prediction_summary import FileCounts, PredictionSummary
from memaudit.common.errors import AuditError


def parsed(*arguments):
    return command_line._parser(with_table=False).parse_args(["audit", "--target", "y", *arguments])


def test_every_idle_option_is_one_of_the_command():
    options = vars(parsed("--predictions", "a", "b"))
    read = {"command", "table", "predictions", "reference", "id", "target", "group", "drop", "categorical", "missing"}
    read |= {"delimiter", "encoding", "base_rates", "seed", "cores", "into", "rows", "pdf"}
    assert read | {*prediction_audit.IDLE, *prediction_audit.UNSUPPORTED} == options.keys()


def test_an_option_of_audits_of_a_table_is_refused():
    for option, value in (("--owner", "me"), ("--review-by", "2999-12-31"), ("--fail-above", "auc=.6")):
        options = parsed("--predictions", "a", "b", option, value)
        with pytest.raises(AuditError, match=f"^{option}: is for audits of a table, not for --predictions"):
            prediction_audit.check(options, parsed("TABLE"))


@pytest.mark.parametrize(
    ("arguments", "named"), [(["--predictions"], True), (["--pred"], True), (["--profile"], False)]
)
def test_the_option_may_be_shortened(arguments, named):
    assert prediction_audit.named_in(["audit", *arguments]) == named


def test_the_folder_is_called_after_the_members():
    assert prediction_audit.folder_of(parsed("--predictions", "a/m.csv", "n.csv")).name == "audit-predictions-m"
    assert prediction_audit.folder_of(parsed("--predictions", "m", "n", "--into", "/x/y")) == Path("/x/y")


def test_without_predictions_a_table_is_audited():
    options = command_line._parser().parse_args(["audit", "t.csv", "--target", "y"])
    assert prediction_audit.main(options, options, []) is None


def test_the_screen_shows_what_was_read_and_found():
    facts = FILES | {"types": {HOSTILE: "numeric"}, "left_out": {"note": "free text"}, "references": 2, "sampled": 0}
    lines = prediction_audit.read_lines(facts)
    assert lines[0] == "600 rows of members and 500 rows of non-members, 2 columns of probabilities, 1 of features"
    assert lines[1:3] == ["3 rows are equal to an earlier one of their file and count once", "2 reference models"]
    assert lines[-1] == "  'note'  left out: free text"
    summary = PredictionSummary(verdict="beyond the controls", files=FileCounts(**FILES), fpr=0.01, **scores())
    lines = prediction_audit.result_lines(summary)
    assert lines[0] == "result: AUC 0.70 [0.65, 0.75], chance 0.50, p 0.01: beyond the controls"
    assert lines[-2] == "Blind attack: features and target alone: AUC 0.50 [0.45, 0.55]"
