"""A person sees what is done and the time left over both stages, and never the name of a rule."""

import io
import re
import sys

import pytest
from conftest import PROJECT

from memaudit.auditing.running.terminal_progress import STEPS, UNCHANGED, WORKING, Display, step
from memaudit.common.time_left import SPREAD

LINE = "memaudit: {done} of 11 jobs done, less than a minute left; {rule} table main 0 starts"


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    """A screen that is one."""

    def isatty(self):
        return True


def shown(display, rule, done=3):
    return display.line(LINE.format(done=done, rule=rule))


def test_every_rule_that_an_audit_runs_has_words():
    rules = re.findall(r"^rule (\w+):", "".join(path.read_text() for path in (PROJECT / "rules").rglob("*.smk")), re.M)
    studies = ("data_", "models_fetch", "attacks_", "audit", "tabpate_", "iclmem_")
    run = [rule for rule in rules if rule.startswith(studies)]
    assert len(run) > 20
    unsaid = {rule for rule in run if step(rule) == WORKING}
    # Of the attack study alone.
    assert all(rule.startswith("attacks_") for rule in unsaid)
    assert not any(said in rules for said in STEPS.values())


def test_plain_lines_say_the_step_once_and_the_time_over_both_stages_as_a_range(capsys):
    clock = Clock()
    with Display({"quick": 40, "full": 140}, 60, clock) as display:
        assert not shown(display, "data_fetch_table", 0)
        assert not shown(display, "data_split_records", 4)
        clock.now = 25
        assert not shown(display, "attacks_query_contexts", 7)
        clock.now = 50
        display.starts("full", 100)
        assert not shown(display, "attacks_query_contexts", 0)
    assert capsys.readouterr().out.splitlines() == [
        "memaudit: first numbers: preparing the table (0 of 11 steps done, 2 to 6 min left)",
        "memaudit: first numbers: querying the model (7 of 11 steps done, 1 to 6 min left)",
        "memaudit: whole audit: querying the model (0 of 11 steps done, 1 to 4 min left)",
    ]


def test_causes_of_failures_are_printed_and_told_apart(capsys):
    with Display({"quick": 40}) as display:
        assert display.line("memaudit: out of memory; read fewer rows")
        assert not display.line("memaudit: audit_rate_records has failed; see a.log")
        assert not display.line("memaudit: 0 of 1 jobs done; audit_write_page table starts")
    assert "out of memory" in (printed := capsys.readouterr().out)
    assert "has failed; see a.log" in printed
    assert "writing the page" in printed


def at(display, clock, seconds, done, jobs=10):
    """The seconds left after so many seconds and jobs."""
    clock.now = seconds
    display.line(f"memaudit: {done} of {jobs} jobs done; attacks_query_contexts table main 0 starts")
    return display.left()


def test_the_time_left_is_learnt_from_the_first_jobs_of_a_slow_machine():
    """Jobs take five times as long as expected: so will the rest of the first stage, and the second at its smallest."""
    clock = Clock()
    display = Display({"quick": 40, "full": 140}, 60, clock)
    assert at(display, clock, 0, 0) == pytest.approx(180)
    true = 200 + 300  # 5 times the first stage, and 5 times the second one's smallest
    early, late = at(display, clock, 100, 5), at(display, clock, 160, 8)
    for found, left in ((early, true - 100), (late, true - 160)):
        assert left / SPREAD < found < left * SPREAD, (found, left)
    assert late > 140  # what was expected of the second stage alone
    clock.now = 200
    display.starts("full", 300)  # as predicted from the first stage: its pace is not counted twice
    assert display.left() == 300


def test_a_second_stage_fits_the_rest_of_the_budget_where_that_is_longer_than_its_smallest():
    clock = Clock()
    display = Display({"quick": 40, "full": 560}, 60, clock)
    for seconds, done in ((20, 5), (60, 8)):
        assert at(display, clock, seconds, done) == pytest.approx(600 - seconds)


def test_the_time_left_grows_while_nothing_gets_done_and_never_runs_out():
    clock = Clock()
    display = Display({"predictions": 60}, clock=clock)
    before = at(display, clock, 30, 5)
    assert at(display, clock, 300, 5) > before > 0
    display.starts("predictions", 15, last=True)
    assert display.left() == 15


@pytest.mark.parametrize(("idle", "told"), [([True, True], True), ([True, False], False), ([], False)])
def test_an_audit_that_needed_no_job_says_so(idle, told, capsys):
    with Display({"quick": 40, "full": 100}) as display:
        for one in idle:
            display.ended(one)
    assert (capsys.readouterr().out == f"memaudit: {UNCHANGED}\n") == told


def test_a_failed_audit_does_not(capsys):
    display = Display({"quick": 40})
    display.ended(True)
    with pytest.raises(ValueError, match="failed"), display:
        raise ValueError("failed")
    assert UNCHANGED not in capsys.readouterr().out


def test_a_terminal_has_one_bar_without_names_of_rules(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with Display({"quick": 40, "full": 100}) as display:
        shown(display, "attacks_query_contexts")
        print("memaudit: result [0.1, 0.2]")
        shown(display, "audit_rate_records")
        display._bar.refresh()
    written = screen.getvalue()
    assert "first numbers: testing the attacks, rating records" in written
    assert "1 to 5 min left" in written
    assert "memaudit: result [0.1, 0.2]" in written
    assert "audit_rate_records" not in written
    assert "jobs done" not in written
