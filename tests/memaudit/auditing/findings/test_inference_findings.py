"""Findings of columns belong to inference, those of halves to linkability."""

from audit_examples import FACTS, HOSTILE, a_summary, annex, inferred, value

from memaudit.auditing.findings import inference_findings
from memaudit.auditing.findings.protection_criteria import criteria
from memaudit.auditing.page import audit_page


def test_columns_and_halves_are_apart():
    summary = inferred(a_summary())
    columns, halves = (inference_findings.findings(summary, of_columns=one) for one in (True, False))
    assert [one.measure.split(":")[0] for one in columns] == [f"Column {HOSTILE} inferred rightly"] * 5
    assert all(one.measure.startswith("Halves joined rightly") for one in halves)
    assert [one.value.detected for one in halves] == [None, None, None, True, True]
    assert inference_findings.findings(a_summary(), of_columns=True) == []


def test_criteria_say_what_was_tested():
    plain, asked = (
        {one.name: one for one in criteria(summary, False)} for summary in (a_summary(), inferred(a_summary()))
    )
    assert plain["Inference"].findings == []
    assert "setting infer" in plain["Inference"].no_evidence
    assert len(asked["Inference"].findings) == 5
    assert "not tested" in plain["Linkability"].no_evidence.rpartition("column")[2]
    assert "part of a record" not in asked["Linkability"].no_evidence


def test_an_invalid_test_is_no_evidence():
    found = inference_findings.findings(inferred(a_summary(), failed=True), of_columns=True)
    assert not any(one.value.detected for one in found)
    assert all("invalid" in one.power for one in found)


def test_a_leak_by_the_posterior_alone_is_no_finding_on_right_answers():
    summary = inferred(a_summary(), detected=False)
    column, halves = summary.inference.questions
    first = column.adversaries[0].model_copy(update={"probability": value(0.1, 0.05, 0.2, 0.0, True)})
    asked = [column.model_copy(update={"adversaries": [first]}), halves]
    summary = summary.model_copy(update={"inference": summary.inference.model_copy(update={"questions": asked})})
    answers, posterior = inference_findings.findings(summary, of_columns=True)[-2:]
    assert (answers.value.detected, posterior.value.detected) == (False, True)
    assert "posterior" in posterior.measure


def test_an_adversary_who_misses_a_planted_lookup_is_withdrawn():
    summary = inferred(a_summary())
    column, halves = summary.inference.questions
    missed = [one.model_copy(update={"lookup_found": False}) for one in column.adversaries]
    assert not any(one.detected for one in missed)
    assert (
        column.model_copy(update={"adversaries": [column.adversaries[0], missed[1]]}).most().adversary == "calibrated"
    )
    asked = [column.model_copy(update={"adversaries": missed}), halves]
    summary = summary.model_copy(update={"inference": summary.inference.model_copy(update={"questions": asked})})
    found = inference_findings.findings(summary, of_columns=True)
    assert {one.power for one in found} == {"invalid: a planted lookup is not detected"}
    assert not any(one.value.detected for one in found)
    html = audit_page.render(summary, FACTS, annex())
    section = html[html.index('<section id="inference"') : html.index("Controls: a planted model that looks")]
    assert section.count("<strong>withdrawn</strong>") == 1 + len(missed)
    assert inference_findings.findings(summary, of_columns=False)[-1].value.detected
