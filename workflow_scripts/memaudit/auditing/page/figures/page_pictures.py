"""All pictures of an audit's page, by their names in its template."""

from typing import Any

from memaudit.attacks.registry import REGISTRY
from memaudit.auditing.findings import audit_strength
from memaudit.auditing.page.figures import mitigation_plane
from memaudit.auditing.page.figures.icon_arrays import BOX, FIGURE, icon_array
from memaudit.auditing.page.figures.leakage_figures import by_contexts, by_size
from memaudit.auditing.page.figures.picture import Picture
from memaudit.auditing.page.figures.record_strip import record_strip
from memaudit.auditing.page.figures.score_figures import roc_drawing, score_histogram
from memaudit.auditing.summaries.summary import Summary

INVALID = "this audit is invalid, so its numbers are not drawn"
EARLIER = "this audit was made by a version that kept no curve; give the command again"


def pictures(summary: Summary) -> dict[str, Any]:
    """Pictures by name; `people`: one by base rate; `key`: what the numbers of the plane of mitigations stand for."""
    drawn = {
        "people": _people(summary),
        "roc": _roc(summary),
        "histogram": _histogram(summary),
        "growth": by_contexts(summary.growth, REGISTRY[summary.growth.score].label),
        "size": by_size(summary.deployed, REGISTRY[summary.deployed.score].label),
        "plane": mitigation_plane.mitigation_plane(summary.mitigations),
        "strip": record_strip(summary.exposed, summary.rated, summary.showing, summary.nouns().rows),
    }
    if audit_strength.invalid(summary):
        drawn = {
            name: one.without(INVALID) if isinstance(one, Picture) else [each.without(INVALID) for each in one]
            for name, one in drawn.items()
        }
    return drawn | {"key": mitigation_plane.key(summary.mitigations) if drawn["plane"].drawing else []}


def _people(summary: Summary) -> list[Picture]:
    precision = summary.headline.precision
    who, figure = summary.nouns().accused, BOX if summary.rows_are else FIGURE
    return [
        icon_array(value, float(rate), who, summary.strict_leak(), figure=figure) for rate, value in precision.items()
    ]


def _roc(summary: Summary) -> Picture:
    if summary.curves is None:
        return Picture("roc", "Identified against wrongly accused", reason=EARLIER)
    tprs = {float(fpr): tpr for fpr, tpr in summary.headline.tpr.items()}
    return roc_drawing(summary.curves.roc, tprs, summary.fpr, summary.nouns().accused)


def _histogram(summary: Summary) -> Picture:
    if summary.curves is None:
        return Picture("histogram", "Scores of members and non-members", reason=EARLIER)
    tpr, found = summary.headline.tpr[f"{summary.fpr:g}"], summary.curves
    return score_histogram(found.scores, found.distinct, summary.fpr, tpr, summary.nouns().accused)
