"""A verdict shows the predicate of its claim with tolerance and conditions."""

from report_examples import CLAIM, JUDGED

from memaudit.report.claim_verdicts import predicate, verdicts


def test_a_verdict_shows_its_predicate_with_tolerance_and_conditions():
    one, two = verdicts(JUDGED, {"one": CLAIM, "two": CLAIM})
    assert (one.paper_value, one.comparisons, two.comparisons) == ("0.7", ["dataset=wine: 0.6"], [])
    assert one.test.startswith("auc (models 8 or 16) is close to 0.5, tolerance 0.1; where fpr at most 0.1; in 80%")


def test_a_predicate_names_the_printed_numbers_and_the_positive_control():
    number = {"value": 0.73, "tolerance": 0.1, "relative": True, "of": {"metric": "auc", "where": {"dataset": "mean"}}}
    control = {"metric": "auc", "where": {"arm": "plain"}, "quantity": "low"}
    text = predicate(
        CLAIM.model_validate(CLAIM.model_dump() | {"relation": "at_most", "numbers": [number], "control": control})
    )
    assert "auc (dataset mean) within 0.073 of the printed 0.73" in text
    assert "only where low of the interval of auc (arm plain) exceeds the bound" in text
