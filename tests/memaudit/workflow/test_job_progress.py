"""What a user reads while a run goes on."""

import io
import logging
from threading import Event

import pytest

from memaudit.common.project_paths import CALLED_FROM
from memaudit.workflow import job_progress
from memaudit.workflow.job_progress import Brief, OneLine, Progress, ShortReason, WithoutEcho, keep_screen_short


class Run:
    """A logger with ten jobs of so many seconds each behind it, two at once."""

    def __init__(self, timed=True, seconds=60.0):
        self.lines, self.now, self.left = [], 0.0, [seconds] * 10
        self.logger = logging.Logger("run")
        self.logger.addHandler(Progress(lambda: self.left, 2, self.lines.append, timed, lambda: self.now))

    def starts(self):
        wildcards = {"dataset": "wine", "grid": "efficient"}
        self.event("job_info", rule_name="lira_gather_grid", wildcards=wildcards)
        return self.lines[-1]

    def event(self, event, **facts):
        self.logger.info("text", extra={"event": event, **facts})


@pytest.fixture
def run():
    return Run()


def test_a_job_that_starts_is_named_with_what_is_done_and_left(run):
    line = run.starts()
    assert line == "memaudit: 0 of 10 jobs done, 2 to 10 min left; lira_gather_grid wine efficient starts"
    run.left, run.now = run.left[1:], 30.0
    assert "1 of 10 jobs done" in run.starts()


def test_where_no_job_was_ever_measured_no_time_is_foretold():
    assert Run(timed=False).starts() == "memaudit: 0 of 10 jobs done; lira_gather_grid wine efficient starts"


def test_a_slow_machine_is_believed_after_a_while(run):
    """Half of the jobs took ten times as long as expected: so will the other half, 25 minutes."""
    run.left, run.now = run.left[5:], 1500.0
    assert "11 to 43 min left" in run.starts()


def test_a_fast_machine_is_believed_after_a_while(run):
    """Half of the jobs took a tenth of what was expected: so will the other half, a quarter of a minute."""
    run.left, run.now = run.left[5:], 15.0
    assert "up to 2 min left" in run.starts()


def test_no_short_time_is_told_while_a_run_of_short_jobs_does_not_get_on():
    """Of ten jobs of two seconds none has ended after minutes."""
    quick = Run(seconds=2.0)
    assert "less than a minute left" in quick.starts()
    quick.now = 150.0
    assert "up to 2 min left" in quick.starts()


def test_the_log_of_a_job_that_failed_is_named(run):
    run.event("job_error", rule_name="lira_gather_grid", log=["a.log"])
    assert run.lines == ["memaudit: lira_gather_grid has failed; see a.log"]


def test_a_job_that_an_interruption_has_ended_has_not_failed(run, monkeypatch):
    monkeypatch.setattr(job_progress, "INTERRUPTED", interrupted := Event())
    interrupted.set()
    run.event("job_error", rule_name="lira_gather_grid", log=["a.log"])
    assert run.lines == []


def test_the_log_is_named_as_seen_from_where_an_audit_was_called(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CALLED_FROM, str(tmp_path.parent))
    run.event("job_error", rule_name="lira_gather_grid", log=["a.log"])
    assert run.lines == [f"memaudit: lira_gather_grid has failed; see {tmp_path.name}/a.log"]


FAILED = "RuleException:\nCalledProcessError in file 'rules/data.smk', line 91:\nCommand 'set -e;  python a.py' "
ECHO = (
    f"{FAILED}returned non-zero exit status 1.",
    "Shutting down, this might take some time.",
    "Exiting because a job execution failed. Look above for error messages",
    "WorkflowError:\nAt least one job did not complete successfully.",
)
KEPT = (f"{FAILED}died with <Signals.SIGKILL: 9>.", "WorkflowError:\nNo space", "Complete log(s): a", None)


@pytest.mark.parametrize("local", [True, False])
def test_what_snakemake_adds_to_the_line_of_a_failed_job_is_kept_from_the_screen(local):
    kept = [WithoutEcho(local).filter(logging.makeLogRecord({"msg": msg})) for msg in (*ECHO, *KEPT)]
    assert kept == [False] * len(ECHO) + [True] * len(KEPT)
    block = logging.makeLogRecord({"event": "job_error", "msg": None})
    assert WithoutEcho(local).filter(block) is not local  # the logs of jobs elsewhere are shown


def test_the_fault_that_an_input_function_has_found_is_one_line(capsys):
    place = 'InputFunctionException in rule predict_rank_own in file "a.smk", line 114:\nError:\n'
    wrong = "own/records: there is no file a.parquet; put the file there"
    lines = (f"{place}  AuditError: {wrong}\nWildcards:\n  name=a\nTraceback:", f"{place}  KeyError: 'a'", None)
    kept = [OneLine().filter(logging.makeLogRecord({"msg": line})) for line in lines]
    assert kept == [False, True, True]
    assert capsys.readouterr().err == f"memaudit: {wrong}\n"


PARAMS = f"Params have changed: {'x' * 200_000}"
CUT = f"{PARAMS[:300]} ... (200,021 characters; Snakemake's log has all)"


@pytest.mark.parametrize(
    ("given", "shown"),
    [("Missing output", "Missing output"), (MANY := "a, " * 1000, MANY), (PARAMS, CUT), (CUT, CUT)],
)
def test_a_reason_with_a_whole_config_is_cut_off_and_the_record_stays(given, shown):
    record = logging.makeLogRecord({"reason": given})
    assert ShortReason(logging.Formatter("{reason}", style="{")).format(record) == shown
    assert record.reason == given


def test_a_record_without_a_reason_is_formatted_as_it_is():
    record = logging.makeLogRecord({"msg": "text"})
    assert ShortReason(logging.Formatter()).format(record) == "text"


def test_the_screen_is_kept_short_and_the_log_file_whole(tmp_path):
    """One handler of the screen has a formatter, one has none, as a logger plugin may."""
    logger, shown, plain = logging.Logger("run"), io.StringIO(), io.StringIO()
    handlers = [logging.StreamHandler(shown), logging.StreamHandler(plain), logging.FileHandler(tmp_path / "log")]
    handlers[0].setFormatter(whole := logging.Formatter("{reason}", style="{"))
    handlers[2].setFormatter(whole)
    for handler in handlers:
        logger.addHandler(handler)
    keep_screen_short(logger)
    logger.info("a.yaml is extended by additional config b.yaml", extra={"reason": "none"})
    logger.info("text", extra={"reason": PARAMS})
    assert [shown.getvalue(), plain.getvalue()] == [f"{CUT}\n", "text\n"]
    assert (tmp_path / "log").read_text(encoding="utf-8") == f"{PARAMS}\n"


def test_other_lines_of_the_log_say_nothing(run):
    run.logger.info("text")
    run.event("job_finished", job_id=3)
    assert run.lines == []


def test_brief_keeps_what_went_wrong_and_the_progress():
    records = [("text", logging.INFO), ("memaudit: 1 of 2 jobs done", logging.INFO), ("text", logging.ERROR)]
    kept = [Brief().filter(logging.makeLogRecord({"msg": msg, "levelno": level})) for msg, level in records]
    assert kept == [False, True, True]
