"""The adversary of the first line is one whose leak is detected."""

from audit_examples import a_summary, inferred, value


def test_a_detected_leak_comes_before_a_larger_one_by_chance():
    (column, _) = inferred(a_summary(), detected=False).inference.questions
    assert column.most().adversary == "without target"
    first = column.adversaries[0].model_copy(update={"probability": value(0.1, 0.05, 0.2, 0.0, True)})
    assert first.detected
    assert column.model_copy(update={"adversaries": [first, column.adversaries[1]]}).most().adversary == "calibrated"


def test_a_detected_leak_names_its_measures():
    column = inferred(a_summary(), detected=False).inference.questions[0]
    quiet = column.adversaries[0]
    assert quiet.shown_by() == ""
    assert quiet.model_copy(update={"probability": value(0.1, 0.05, 0.2, 0.0, True)}).shown_by() == (
        "mean posterior of the right answer"
    )
    assert inferred(a_summary()).inference.questions[0].adversaries[0].shown_by() == (
        "right answers and mean posterior of the right answer"
    )
