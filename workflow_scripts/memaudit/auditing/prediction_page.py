"""The page of an audit of files of predictions: one HTML file that shows counts and names of columns, and no cell."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memaudit.attacks.prediction_scores import NAMES
from memaudit.auditing import prediction_summary
from memaudit.auditing.audit_page import fixed, mark, number, signed
from memaudit.auditing.prediction_summary import Number, PredictionSummary
from memaudit.templating import page_templates

TEMPLATES = Path(__file__).parent / "templates"
CONTROLS = {
    "blind": "Blind attack: features and target alone",
    "stand-in": "Stand-in model, fitted on other members",
    "references": "Reference models",
}


def render(summary: PredictionSummary, facts: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """The page as HTML. facts: of the intake, with the names of columns; settings: for the annex, by name."""
    context = {
        "summary": summary,
        "facts": facts,
        "settings": [(name, str(value)) for name, value in settings.items()],
        "names": NAMES,
        "controls": CONTROLS,
        "sentences": sentences(summary),
        "who": "persons" if summary.files.by_person else "records",
        "invalid": prediction_summary.INVALID,
        "nothing": prediction_summary.NOTHING,
        "unclear": prediction_summary.UNCLEAR,
        "beyond": prediction_summary.BEYOND,
    }
    used = (number, signed, fixed, mark, of_hundred)
    return page_templates.render("predictions.html", context, TEMPLATES, filters={one.__name__: one for one in used})


def of_hundred(value: Number) -> str:
    """ "71 [65, 77]", or "[65, 100]" where there is an interval alone."""
    if value.low is None or value.high is None:
        return "-"
    ends = f"[{100 * value.low:.0f}, {100 * value.high:.0f}]"
    return ends if value.estimate is None else f"{100 * value.estimate:.0f} {ends}"


def sentences(summary: PredictionSummary) -> list[str]:
    """The verdict in words, then what limits it."""
    return [*_verdict(summary), *_power(summary)]


def _verdict(summary: PredictionSummary) -> list[str]:
    if summary.verdict == prediction_summary.INVALID:
        return [f"This audit is invalid: {_fault(summary)}. Do not use its numbers."]
    if summary.verdict == prediction_summary.NOTHING:
        return ["No difference between members and non-members was detected in the predictions."]
    auc = f"A member ranks above a non-member in {of_hundred(summary.auc)} of 100 comparisons."
    names = " and ".join(_short(one.name) for one in summary.controls if (one.excess.low or 0) <= 0)
    if summary.verdict == prediction_summary.UNCLEAR:
        first = "The predictions tell members from non-members, but this audit cannot tell memory from shift."
        why = "The files have no features to compare, and there are no reference models: any shift looks like memory."
        exceeds = (
            f"The attack does not exceed {names} beyond the statistical error, and that cannot see memory: the "
            "two files may just hold different records."
        )
        return [first, auc, exceeds if prediction_summary.is_controlled(summary) else why]
    first = "The predictions tell members from non-members better than the controls do, which cannot see memory."
    found = [_short(one.name) for one in summary.controls if one.auc.detected]
    also = (
        f"The files differ in other ways, too: {' and '.join(found)} also detected a difference, so that a part of the "
        "AUC may be shift."
    )
    return [first, auc, *([also] if found else [])]


def _short(name: str) -> str:
    return {"blind": "the blind attack", "stand-in": "the stand-in model", "references": "the reference models"}[name]


def _fault(summary: PredictionSummary) -> str:
    found = summary.planted
    if 2 * found.splits_detected > found.splits:
        number = f"{found.splits_detected} of {found.splits}"
        return f"the attack detected a difference in {number} random splits of the non-members"
    return "the attack did not detect a planted model that looks its members up"


def _power(summary: PredictionSummary) -> list[str]:
    sizes = " and ".join(
        f"{count} {what}" for count, what in zip(summary.files.units, ("members", "non-members"), strict=True)
    )
    if summary.smallest_auc is None:
        return [f"With {sizes} no AUC would have been detected with probability 0.8."]
    return [
        f"With {sizes} this audit detects an AUC of {summary.smallest_auc:.3f} with probability 0.8; a smaller one is "
        "more likely to be missed."
    ]
