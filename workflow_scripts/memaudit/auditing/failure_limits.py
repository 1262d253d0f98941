"""`--fail-above`: limits on an audit's headline, judged by an end of the interval, for continuous integration."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memaudit.auditing.reading.request import FPR
from memaudit.common.screen_lines import show

if TYPE_CHECKING:
    from memaudit.auditing.predictions.prediction_summary import PredictionSummary
    from memaudit.auditing.summaries.summary import Summary
    from memaudit.auditing.summaries.summary_parts import Value

# Exit codes of an audit whose numbers are not valid, and of one above a limit.
INVALID, EXCEEDED = 3, 4
RATES = (0.1, FPR)  # false positive rates at which an audit measures the TPR
FORM = re.compile(r"(?P<metric>auc|tpr|precision)(@(?P<rate>[0-9.eE+-]*?))?(\.(?P<end>low|high))?=(?P<value>[^=]+)")
NAMES = "auc, tpr@RATE and precision@RATE, each with .low (the default) or .high"


@dataclass(frozen=True)
class Limit:
    """A limit on a metric of the headline. rate: of false positives (tpr), or the base rate (precision)."""

    text: str
    metric: str
    rate: float | None
    end: str  # low: above the limit is shown; high: not above it is not shown
    value: float

    def of(self, summary: "Summary | PredictionSummary") -> "Value":
        """The metric of the headline; without an interval where files of predictions allow no accusations."""
        from memaudit.auditing.summaries.summary_parts import Value

        main = summary.headline
        if self.metric == "auc":
            return main.auc
        known = main.tpr if self.metric == "tpr" else main.precision
        return known.get(f"{self.rate:g}", Value(estimate=None))


def limit(text: str) -> Limit:
    """A limit from the command line, such as auc=.6 or tpr@.01.high=.05. Raises argparse.ArgumentTypeError."""
    found = FORM.fullmatch(text)
    if found is None or (found["metric"] == "auc") != (found["rate"] is None):
        raise argparse.ArgumentTypeError(f"{text!r} is no limit such as auc=.6 or tpr@.01=.05; known are {NAMES}")
    value = _share(found["value"], text)
    rate = None if found["rate"] is None else _share(found["rate"], text)
    if found["metric"] == "tpr" and rate not in RATES:
        raise argparse.ArgumentTypeError(
            f"{text!r}: the TPR is measured at the false positive rates {' and '.join(f'{one:g}' for one in RATES)}"
        )
    return Limit(text, found["metric"], rate, found["end"] or "low", value)


def _share(text: str, whole: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{whole!r}: {text!r} is not a number from 0 to 1")
    return share


def unmeasured(limits: Sequence[Limit], base_rates: Sequence[float], fprs: Sequence[float] = RATES) -> str | None:
    """What is wrong with limits at rates that the audit does not use, None for nothing."""
    known = {"precision": ("base rates are", base_rates, "; see --base-rates")}
    known["tpr"] = ("false positive rates of this audit are", fprs, "")
    for one in limits:
        what, rates, hint = known.get(one.metric, ("", [one.rate], ""))
        if one.rate not in rates:
            return f"--fail-above {one.text!r}: the {what} {', '.join(f'{rate:g}' for rate in rates)}{hint}"
    return None


def judged(limits: Sequence[Limit], summary: "Summary | PredictionSummary") -> list[tuple[bool, str]]:
    """Whether each limit is exceeded, and the line that says it.

    By .low the lower end must lie above the limit, so nothing is exceeded without an interval; by .high the upper end
    must not, so without an interval it is exceeded.
    """
    results = []
    for one in limits:
        value = one.of(summary)
        end = value.low if one.end == "low" else value.high
        exceeded = one.end == "high" if end is None else end > one.value
        name = one.text.partition("=")[0].removesuffix(".low").removesuffix(".high")
        side = {"low": "lower", "high": "upper"}[one.end]
        known = "has no interval" if end is None else f"has the {side} end {end:.3g}"
        meaning = {
            ("low", True): "shown to be above",
            ("low", False): "not shown to be above",
            ("high", True): "not shown to be at most",
            ("high", False): "shown to be at most",
        }[one.end, exceeded]
        results.append((exceeded, f"{name} {known}: it is {meaning} {one.value:g}"))
    return results


def finish(folder: Path, valid: bool, limits: Sequence[tuple[bool, str]]) -> int:
    """Print how an audit was judged by its limits and where its page is; returns the exit code."""
    show([*(line for _, line in limits), f"the page is {str(folder / 'report.html')!r}"])
    return INVALID if not valid else EXCEEDED if any(above for above, _ in limits) else 0
