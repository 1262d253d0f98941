"""What a person sees while an audit runs: one bar over both stages on a terminal or in a notebook, else plain lines."""

import re
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from memaudit.auditing.running.notebook_progress import NotebookBar, notebook_display
from memaudit.common.time_left import between, seconds_left

SAID = "memaudit: "
COUNTS = re.compile(rf"{SAID}(\d+) of (\d+) jobs done.*; (\w+)(?: .*)? starts$")
FAILED = re.compile(rf"{SAID}\w+ has failed; see ")
WORKING = "working"
UNCHANGED = "no job was needed: the results are those of the last run"
# What the jobs of a rule do, by the start of its name; the first that fits.
STEPS = {
    "models_": "preparing the model",
    "data_": "preparing the table",
    "attacks_draw_contexts": "drawing shadow contexts",
    "attacks_query_perturbed": "querying noisy copies",
    "attacks_query": "querying the model",
    "attacks_rank": "ranking records",
    "audit_attack": "testing the attacks",
    "audit_locate": "preparing the table",
    "audit_rate": "testing the attacks, rating records",
    "audit_compare": "comparing groups",
    "audit_query_candidates": "querying tried values",
    "audit_judge_inference": "testing what is inferred",
    "audit_judge": "comparing mitigations",
    "audit": "writing the page",
    "tabpate": "testing private contexts",
    "iclmem": "fine-tuning and probing",
}
# The rating of records takes as long as so many other jobs; the page comes after it.
RATING, RATED = 8, ("audit_write_page", "audit")
STAGES = {"quick": "first numbers", "full": "whole audit", "predictions": "whole audit"}


def step(rule: str) -> str:
    """What a job of this rule does, for people."""
    return next((said for start, said in STEPS.items() if rule.startswith(start)), WORKING)


class Display:
    """Progress of both stages of an audit, to be used as a context.

    expected: seconds that each stage is expected to take, in their order; least: of these, what a stage that has not
    begun takes at its smallest; clock: seconds.
    """

    def __init__(
        self, expected: Mapping[str, float], least: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._expected, self._least, self._clock = dict(expected), least, clock
        self._stage, self._began, self._shown = next(iter(self._expected)), clock(), ""
        self._started, self._done = self._began, 0.0  # of the audit; share of the stage's jobs
        self._stack, self._bar, self._task, self._output = ExitStack(), None, None, None
        self._idle: list[bool] = []  # whether each run of Snakemake had nothing to do

    def __enter__(self) -> Self:
        if sys.stdout.isatty():
            columns = TextColumn("{task.description}", markup=False), BarColumn(), _Left(self)
            self._bar = self._stack.enter_context(Progress(*columns, console=Console(), transient=True))
            self._task = self._bar.add_task("starting", total=1.0)
        elif display := notebook_display():
            self._output = self._stack.enter_context(closing(NotebookBar(display)))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()
        if self._idle and all(self._idle) and not any(error):
            print(f"{SAID}{UNCHANGED}", flush=True)

    def starts(self, stage: str, expected: float | None = None, last: bool = False) -> None:
        """A stage begins; expected: seconds that it takes, where they are known better by now; last: none follows."""
        self._stage, self._began, self._done = stage, self._clock(), 0.0
        if expected is not None:
            self._expected[stage] = expected
        if last:
            self._expected = {stage: self._expected[stage]}

    def left(self) -> float:
        """Seconds until both stages are finished, by the pace of this stage's jobs.

        The next stage is made so large that it fits the rest of the budget, but not smaller than its smallest, which
        takes longer on a slow machine.
        """
        names, elapsed = list(self._expected), self._clock() - self._began
        expected = self._expected[self._stage]
        own = seconds_left(self._done * expected, (1 - self._done) * expected, elapsed)
        if self._stage == names[-1]:
            return own
        budget = sum(self._expected.values()) - (self._clock() - self._started)
        return own + max(budget - own, seconds_left(self._done * expected, self._least, elapsed))

    def line(self, text: str) -> bool:
        """Show a line of Snakemake's for users; returns whether it may tell the cause of a failure."""
        if FAILED.match(text):
            print(text, flush=True)
            return False
        if not (found := COUNTS.match(text)):
            print(text, flush=True)
            return True
        done, jobs, rule = found.groups()
        self._done = self._share_done(int(done), int(jobs), rule)
        self._at(int(done), int(jobs), step(rule))
        return False

    def ended(self, idle: bool) -> None:
        """A run of Snakemake has ended; idle: it had nothing to do."""
        self._idle.append(idle)

    def _at(self, done: int, jobs: int, doing: str) -> None:
        described = f"{STAGES[self._stage]}: {doing}"
        if self._bar is not None:
            self._bar.update(self._task, description=described, completed=self.share())
        elif self._output is not None:
            self._output.at(self.share(), f"{described} ({between(self.left())} left)")
        elif described != self._shown:
            print(f"{SAID}{described} ({done} of {jobs} steps done, {between(self.left())} left)", flush=True)
        self._shown = described

    def _share_done(self, done: int, jobs: int, rule: str) -> float:
        """The part of the stage's work that is done when a job of this rule starts."""
        more = 0 if self._stage == "predictions" else RATING - 1
        return (done + more * (rule in RATED)) / (jobs + more)

    def share(self) -> float:
        """The part of the audit's time that has passed."""
        elapsed = self._clock() - self._started
        return min(elapsed / (elapsed + self.left() + 1e-9), 0.99)


class _Left(TextColumn):
    """The time left, drawn anew several times a second; the bar moves with it."""

    def __init__(self, display: Display) -> None:
        super().__init__("")
        self._display = display

    def render(self, task: Any) -> Any:
        """The text of this moment."""
        task.completed = self._display.share()
        self.text_format = f"{between(self._display.left())} left"
        return super().render(task)
