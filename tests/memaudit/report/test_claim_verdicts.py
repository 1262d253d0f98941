"""A verdict shows the predicate of its claim with tolerance and conditions."""

from report_examples import CLAIM, JUDGED

from memaudit.report.claim_verdicts import verdicts


def test_a_verdict_shows_its_predicate_with_tolerance_and_conditions():
    one, two = verdicts(JUDGED, {"one": CLAIM, "two": CLAIM})
    assert (one.paper_value, one.comparisons, two.comparisons) == ("0.7", ["dataset=wine: 0.6"], [])
    assert one.test.startswith("auc (models 8 or 16) is close to 0.5, tolerance 0.1, where fpr at most 0.1; in 80%")
