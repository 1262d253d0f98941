"""The ROC curve and the histogram say the numbers of the headline."""

from audit_examples import CURVES, value

from memaudit.auditing.page.figures.score_figures import roc_drawing, score_histogram
from memaudit.auditing.summaries.summary import Value


def test_the_curve_is_marked_where_the_headline_has_a_rate():
    tprs = {0.01: value(0.1, 0.05, 0.15, 0.01), 0.001: Value(estimate=0.02)}
    one = roc_drawing(CURVES.roc, tprs, 0.01, "records")
    assert "Where 1 % are accused wrongly, 10.0 [5.0, 15.0] % are identified." in one.caption
    assert "Where 0.1 %" not in one.caption  # below the rates that have an interval
    assert one.drawing.count("<circle") == 1
    assert 'class="band"' in one.drawing


def test_too_few_points_are_no_curve():
    assert "too few non-members" in roc_drawing(CURVES.roc[:1], {}, 0.01, "records").reason


def test_the_histogram_says_who_is_right_of_its_threshold():
    one = score_histogram(CURVES.scores, 100, 0.01, value(0.1, 0.05, 0.15), "persons")
    assert "1 % of the non-members, which sets the threshold, and 10.0 [5.0, 15.0] % of the members" in one.caption
    assert "50 answers about persons in the context" in one.caption
    assert {'class="inside"', 'class="outside"'} <= set(one.drawing.split())


def test_the_word_at_the_threshold_stays_in_the_drawing():
    """A threshold near the right end, as without a leak, has it on its left."""
    for threshold, anchor in ((0.5, "start"), (1.9, "end")):
        found = CURVES.scores.model_copy(update={"threshold": threshold})
        drawing = score_histogram(found, 100, 0.01, value(0.1, 0.05, 0.15), "records").drawing
        assert f'text-anchor="{anchor}">accused' in drawing


def test_a_score_of_few_values_has_no_histogram():
    assert "only 3 different values" in score_histogram(None, 3, 0.01, value(0.1, 0, 1), "records").reason
