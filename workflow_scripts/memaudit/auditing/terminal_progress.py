"""What a person sees while an audit runs: one bar over both stages on a terminal or in a notebook, else plain lines."""

import re
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from memaudit.auditing.notebook_progress import NotebookBar, notebook_display

SAID = "memaudit: "
COUNTS = re.compile(rf"{SAID}(\d+) of (\d+) jobs done.*; (\w+)(?: .*)? starts$")
FAILED = re.compile(rf"{SAID}\w+ has failed; see ")
WORKING = "working"
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
STAGES = {"quick": "first numbers", "full": "whole audit", "predictions": "whole audit"}


def step(rule: str) -> str:
    """What a job of this rule does, for people."""
    return next((said for start, said in STEPS.items() if rule.startswith(start)), WORKING)


def remaining(seconds: float) -> str:
    """The time left in words; below 0 the stage takes longer than expected."""
    if seconds < 0:
        return "longer than expected"
    if seconds < 60:
        return "less than a minute left"
    minutes = round(seconds / 60)
    return f"about {minutes} {'minute' if minutes == 1 else 'minutes'} left"


class Display:
    """Progress of both stages of an audit, to be used as a context.

    expected: seconds that each stage is expected to take, in their order; clock: seconds.
    """

    def __init__(self, expected: Mapping[str, float], clock: Callable[[], float] = time.monotonic) -> None:
        self._expected, self._clock = dict(expected), clock
        self._stage, self._began, self._shown = next(iter(self._expected)), clock(), ""
        self._stack, self._bar, self._task, self._output = ExitStack(), None, None, None

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

    def starts(self, stage: str, expected: float | None = None) -> None:
        """A stage begins; expected: seconds that it will take, where they are known better by now."""
        self._stage, self._began = stage, self._clock()
        if expected is not None:
            self._expected[stage] = expected

    def left(self) -> float:
        """Seconds until both stages are finished; below 0 where this stage takes longer than expected."""
        names = list(self._expected)
        later = sum(self._expected[name] for name in names[names.index(self._stage) + 1 :])
        own = self._expected[self._stage] - (self._clock() - self._began)
        return own + later if own >= 0 or later == 0 else later

    def line(self, text: str) -> bool:
        """Show a line of Snakemake's for users; returns whether it may tell the cause of a failure."""
        if FAILED.match(text):
            print(text, flush=True)
            return False
        if not (found := COUNTS.match(text)):
            print(text, flush=True)
            return True
        done, jobs, rule = found.groups()
        self._at(int(done), int(jobs), step(rule))
        return False

    def _at(self, done: int, jobs: int, doing: str) -> None:
        described = f"{STAGES[self._stage]}: {doing}"
        if self._bar is not None:
            self._bar.update(self._task, description=described, completed=self._share())
        elif self._output is not None:
            self._output.at(self._share(), f"{described} ({remaining(self.left())})")
        elif described != self._shown:
            print(f"{SAID}{described} ({done} of {jobs} steps done, {remaining(self.left())})", flush=True)
        self._shown = described

    def _share(self) -> float:
        """Share of the expected time that has passed."""
        return min(max(1 - max(self.left(), 0.0) / sum(self._expected.values()), 0.0), 0.99)


class _Left(TextColumn):
    """The time left, drawn anew several times a second; the bar moves with it."""

    def __init__(self, display: Display) -> None:
        super().__init__("")
        self._display = display

    def render(self, task: Any) -> Any:
        """The text of this moment."""
        display = self._display
        task.completed = display._share()
        self.text_format = remaining(display.left())
        return super().render(task)
