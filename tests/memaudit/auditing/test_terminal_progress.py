"""A person sees what is done and the time left over both stages, and never the name of a rule."""

import io
import re
import sys

import pytest
from conftest import PROJECT

from memaudit.auditing.terminal_progress import STEPS, WORKING, Display, remaining, step

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


def test_plain_lines_say_the_step_once_and_the_time_over_both_stages(capsys):
    clock = Clock()
    with Display({"quick": 40, "full": 140}, clock) as display:
        assert not shown(display, "data_fetch_table")
        assert not shown(display, "data_split_records", 4)
        clock.now = 30
        assert not shown(display, "attacks_query_contexts", 7)
        clock.now = 50
        display.starts("full", 100)
        assert not shown(display, "attacks_query_contexts", 0)
    assert capsys.readouterr().out.splitlines() == [
        "memaudit: first numbers: preparing the table (3 of 11 steps done, about 3 minutes left)",
        "memaudit: first numbers: querying the model (7 of 11 steps done, about 2 minutes left)",
        "memaudit: whole audit: querying the model (0 of 11 steps done, about 2 minutes left)",
    ]


def test_causes_of_failures_are_printed_and_told_apart(capsys):
    with Display({"quick": 40}) as display:
        assert display.line("memaudit: out of memory; read fewer rows")
        assert not display.line("memaudit: audit_rate_records has failed; see a.log")
        assert not display.line("memaudit: 0 of 1 jobs done; audit_write_page table starts")
    assert "out of memory" in (printed := capsys.readouterr().out)
    assert "has failed; see a.log" in printed
    assert "writing the page" in printed


def test_a_stage_may_take_longer_than_expected():
    clock = Clock()
    display = Display({"quick": 40, "full": 100}, clock)
    clock.now = 60
    assert display.left() == 100
    display.starts("full")
    assert display.left() == 100
    clock.now = 170
    assert display.left() < 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "longer than expected"), (59, "less than a minute left"), (61, "about 1 minute left"), (150, "2 minutes")],
)
def test_the_time_left_is_in_words(seconds, words):
    assert words in remaining(seconds)


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
    assert "about 2 minutes left" in written
    assert "memaudit: result [0.1, 0.2]" in written
    assert "audit_rate_records" not in written
    assert "jobs done" not in written
