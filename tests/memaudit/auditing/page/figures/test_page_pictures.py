"""All pictures of a page, and why one is missing."""

from audit_examples import CURVES, a_summary

from memaudit.auditing.page.figures.page_pictures import pictures


def reasons(summary):
    found = pictures(summary)
    single = {name: one.reason for name, one in found.items() if name not in ("people", "key")}
    return single | {one.name: one.reason for one in found["people"]}


def test_an_example_has_all_pictures():
    assert set(reasons(a_summary()).values()) == {""}
    assert [one.name for one in pictures(a_summary())["people"]] == ["people-10"]


def test_results_of_an_earlier_version_have_no_curves():
    left = reasons(a_summary().model_copy(update={"curves": None}))
    assert {name for name, reason in left.items() if "give the command again" in reason} == {"roc", "histogram"}


def test_labels_of_few_values_have_a_curve_and_no_histogram():
    few = CURVES.model_copy(update={"scores": None, "distinct": 4})
    left = reasons(a_summary().model_copy(update={"curves": few}))
    assert left["roc"] == ""
    assert "only 4 different values" in left["histogram"]


def test_nothing_is_drawn_of_an_invalid_audit():
    found = pictures(a_summary(placebo=True))
    assert set(reasons(a_summary(placebo=True)).values()) == {"this audit is invalid, so its numbers are not drawn"}
    assert found["key"] == []
