"""The page of an audit, for owners of data: one HTML file that loads nothing from elsewhere and escapes all names."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from memaudit.attacks.attack_entry import LABELS, ONE_QUERY, PROBABILITIES
from memaudit.attacks.registry import REGISTRY
from memaudit.auditing.findings import audit_strength
from memaudit.auditing.findings.recommendations import in_short, leaks
from memaudit.auditing.page import glossary, stacked_tables
from memaudit.auditing.page.annex import Annex
from memaudit.auditing.page.figures.page_pictures import pictures
from memaudit.auditing.page.figures.picture import fixed
from memaudit.auditing.reading.short_names import short_models, shortened
from memaudit.auditing.summaries.mitigation_parts import METHODS
from memaudit.auditing.summaries.summary import STRONGEST, Adversary, Summary, Value
from memaudit.templating import page_templates

TEMPLATES = Path(__file__).parent / "templates"
WIDTH, MARGIN = 240.0, 6.0
# What an adversary reads: all of the answer, or its label alone.
READ, READ_OF_NUMBERS = (PROBABILITIES, "labels"), ("the whole answer", "predicted numbers")
CONTROLS = {"placebo": "negative control", "companions": "negative control, memberships exchanged"}
MEASURES = {
    "spearman": "rank correlation of the vulnerability scores",
    "overlap_listed": "share of as long a list that both halves name",
}


def render(summary: Summary, facts: Mapping[str, Any], annex: Annex, public: str = "") -> str:
    """The page as HTML.

    facts: of the intake, with the true names of columns; public: source of the bounds of private contexts.
    """
    terms = partial(glossary.term, terms=glossary.of_model(summary.fitted))
    context = {"facts": facts, "annex": annex, "public": public, "linked": True}
    return stacked_tables.labelled(_rendered("audit.html", summary, context, terms))


def render_head(summary: Summary) -> str:
    """The head of the page and its first pictures as a part of another page: HTML that needs nothing beside it."""
    return _rendered("notebook.html", summary, {"linked": False}, lambda text, key: text)


def _rendered(template: str, summary: Summary, others: Mapping[str, Any], term: Callable[[str, str], str]) -> str:
    """A template made of a summary and what else it shows; term: a word of the glossary, as the page shows it."""
    summary = summary.model_copy(update={"models": short_models(summary.models)})
    used = (
        percent,
        hundredths,
        number,
        signed,
        points,
        unbroken,
        description,
        mark,
        posterior,
        fixed,
        significant,
        significant_chance,
    )
    filters = {one.__name__: one for one in (*used, shortened)} | {"term": term}
    return page_templates.render(template, _of_summary(summary) | others, TEMPLATES, filters=filters)


def _of_summary(summary: Summary) -> dict[str, Any]:
    """What the template shows of the summary, and the words and pictures for it, by name."""
    main, numbers, nouns = summary.headline, summary.predicts_numbers(), summary.nouns()
    precisions, by_person = [(float(rate), value) for rate, value in main.precision.items()], summary.by_person()
    return {
        "summary": summary,
        "main": main,
        "labels": {STRONGEST: "Strongest score"} | {name: entry.label for name, entry in REGISTRY.items()},
        "placebo": summary.placebo(),
        "companions": summary.companions(),
        "inside": summary.white_box(),
        "leaks": leaks(summary),
        "in_short": in_short(summary),
        "numbers": numbers,
        "measure": summary.measure(),
        "strength": audit_strength,
        "nouns": nouns,
        "who": nouns.accused,
        "precisions": precisions,
        "half": precisions[-1],
        "by_person": by_person,
        "context": f"about {summary.context}" if by_person else summary.context,
        "strict": summary.strict_leak(),
        "passed": f"that also accuses {100 * summary.fpr:g} of 100 {nouns.that} are not in the data",
        "compared": [one for one in summary.adversaries if one.records == "members" and _tested(one)],
        "targets": [one for one in summary.adversaries if one.records == "targets"],
        "alike": {one.model: one for one in summary.adversaries if one.records == "main alike"},
        "axis": score_axis([one.vulnerability for one in summary.exposed]),
        "controls": CONTROLS,
        "measures": MEASURES,
        "methods": METHODS,
        "pictures": pictures(summary),
        "glossary": glossary.of_target(numbers, summary.fitted),
    }


def _tested(one: Adversary) -> bool:
    """Whether it is a single score with a randomisation test: the one by which models are compared."""
    return one.attack != STRONGEST and one.auc.detected is not None


def score_axis(values: Sequence[Value]) -> tuple[float, float]:
    """Whole numbers that enclose the values, their intervals and 0, for the axis of a column."""
    ends = [end for one in values for end in (one.estimate, one.low, one.high) if end is not None]
    return float(math.floor(min([0.0, *ends]))), float(math.ceil(max([1.0, *ends])))


def posterior(share: float) -> str:
    """ "88 %"; "over 99 %" or "under 1 %" where rounding would claim certainty."""
    if share >= 0.995:
        return "over 99 %"
    return "under 1 %" if share < 0.005 else f"{100 * share:.0f} %"


def number(value: Value | None, digits: int = 2) -> str:
    """ "0.71 [0.65, 0.77]"; a dash where there is none."""
    if value is None or value.estimate is None:
        return "-"
    interval = (
        "" if value.low is None or value.high is None else f" [{fixed(value.low, digits)}, {fixed(value.high, digits)}]"
    )
    return f"{fixed(value.estimate, digits)}{interval}"


def significant(value: Value | None) -> str:
    """ "41.2 [38.5, 44.0]": the estimate with three significant digits, its interval with as many decimals."""
    return number(value, _digits(value))


def significant_chance(value: Value) -> str:
    """ "65.2": the value without skill, with as many decimals as `significant` gives the estimate."""
    return "-" if value.null is None else fixed(value.null, _digits(value))


def _digits(value: Value | None) -> int:
    """Decimals that leave an estimate three significant digits; 2 where there is none."""
    if value is None or not value.estimate:
        return 2
    return max(0, 2 - math.floor(math.log10(abs(value.estimate))))


def signed(value: Value | None, digits: int = 2) -> str:
    """ "+0.03 [+0.01, +0.05]"; a dash where there is none."""
    if value is None or value.estimate is None:
        return "-"
    low, middle, high = (
        None if one is None else f"{round(one, digits) + 0.0:+.{digits}f}"
        for one in (value.low, value.estimate, value.high)
    )
    return f"{middle}" + ("" if low is None or high is None else f" [{low}, {high}]")


def points(value: Value | None) -> str:
    """ "+1.3 [-0.6, +2.9]": a change of a share in percentage points; a dash where there is none."""
    if value is None or value.estimate is None:
        return "-"
    scaled = {key: None if getattr(value, key) is None else 100 * getattr(value, key) for key in ("low", "high")}
    return signed(Value(estimate=100 * value.estimate, **scaled), 1)


def hundredths(value: Value) -> str:
    """ "7.9 [6.2, 9.6]": a small share, of 100; a dash where there is none."""
    if None in (value.estimate, value.low, value.high):
        return "-"
    return f"{100 * value.estimate:.1f} [{100 * value.low:.1f}, {100 * value.high:.1f}]"


def percent(value: Value) -> str:
    """ "71 [65, 77]": a share in percent; a dash where there is none."""
    if None in (value.estimate, value.low, value.high):
        return "-"
    return f"{100 * value.estimate:.0f} [{100 * value.low:.0f}, {100 * value.high:.0f}]"


def unbroken(text: str) -> Markup:
    """The text as markup in which no option of the command line, such as --minutes, is broken at its hyphens."""
    return Markup(re.sub(r"(--\w[\w-]*)", r'<span class="value">\1</span>', str(escape(text))))


def description(adversary: Adversary, numbers: bool = False) -> str:
    """What an adversary observes and does, with the number of poisons; numbers: whether of a regressor."""
    action = ONE_QUERY if adversary.attack == STRONGEST else REGISTRY[adversary.attack].action
    if adversary.is_white_box():
        return f"sees the answer and the attention inside the model, {action}"
    read = READ_OF_NUMBERS if numbers else READ
    poisons = f" ({adversary.poison})" if adversary.poison else ""
    return f"reads {read[adversary.threat.startswith(LABELS)]}, {action}{poisons}"


def mark(value: Value, low: float, high: float) -> dict[str, float] | None:
    """Positions (px) of a value, its interval and its null on an axis from low to high; None without an estimate."""
    if value.estimate is None:
        return None

    def place(at: float) -> float:
        share = (min(max(at, low), high) - low) / (high - low)
        return round(MARGIN + (WIDTH - 2 * MARGIN) * share, 1)

    known = {key: getattr(value, key) for key in ("estimate", "low", "high", "null")}
    return {key: place(at) for key, at in known.items() if at is not None}
