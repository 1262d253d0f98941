"""The pictures of the page of an audit of files of predictions."""

from typing import Any

from memaudit.auditing.page.figures.icon_arrays import BOX, FIGURE, icon_array
from memaudit.auditing.page.figures.page_pictures import INVALID
from memaudit.auditing.page.figures.picture import Words
from memaudit.auditing.page.figures.score_figures import roc_drawing, score_histogram
from memaudit.auditing.predictions import prediction_summary
from memaudit.auditing.predictions.prediction_summary import PredictionSummary
from memaudit.auditing.summaries.summary_parts import Value

WORDS = Words("in the data", "without a difference between the files")
NO_ESTIMATE = "no non-member was accused, so that the share has an interval and no estimate"


def pictures(summary: PredictionSummary) -> dict[str, Any]:
    """Pictures by name; `people`: one by base rate."""
    who, found = summary.nouns().accused, summary.curves
    points = {f"{one.fpr:g}": Value(estimate=one.tpr, low=one.low, high=one.high) for one in found.roc}
    tprs = {float(fpr): points[fpr] for fpr in ("0.1", f"{summary.fpr:g}") if fpr in points}
    tpr = tprs.get(summary.fpr) if summary.accusations else None
    figure = BOX if summary.rows_are else FIGURE
    people = [
        icon_array(worth, float(rate), who, bool(worth.detected), WORDS, NO_ESTIMATE, figure=figure)
        for rate, worth in summary.headline.precision.items()
    ]
    roc = roc_drawing(found.roc, tprs, summary.fpr, who, WORDS)
    histogram = score_histogram(found.scores, found.distinct, summary.fpr, tpr, who, WORDS)
    if summary.verdict == prediction_summary.INVALID:
        people, roc, histogram = (
            [one.without(INVALID) for one in people],
            roc.without(INVALID),
            histogram.without(INVALID),
        )
    return {"people": people, "roc": roc, "histogram": histogram}
