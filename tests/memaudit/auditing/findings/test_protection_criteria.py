"""Every criterion names its source, its evidence with interval and power, and what is no evidence."""

import pytest
from audit_examples import a_summary, advised, mitigation, value

from memaudit.auditing.findings import singling_out
from memaudit.auditing.findings.protection_criteria import criteria


def by_name(summary, grouped=False):
    return {one.name: one for one in criteria(summary, grouped)}


def test_the_risks_of_wp216_and_the_clauses_of_the_others_are_there():
    found = by_name(a_summary())
    assert {"Singling out", "Linkability", "Inference", "Adversarial testing", "Differential privacy"} <= found.keys()
    assert len({one.source for one in found.values()}) == 4
    for one in found.values():
        assert one.place
        assert one.evidence
        assert one.no_evidence


@pytest.mark.parametrize("leak", [True, False])
def test_numbers_are_those_of_the_summary(leak):
    summary = a_summary(leak=leak)
    identified, accused, isolated, showing = by_name(summary)["Singling out"].findings
    assert isolated == singling_out.isolated(summary)[0]
    assert identified.value == summary.headline.tpr["0.01"]
    assert identified.value.detected == leak
    assert "identify 1.9 of 100 members" in identified.power
    assert (accused.value.estimate, accused.value.detected) == (0.6, leak)
    assert (showing.value.estimate, showing.value.low) == (3 / 400, None)
    (auc,) = by_name(summary)["Linkability"].findings
    assert auc.value == summary.headline.auc
    assert "AUC of 0.520" in auc.power


def test_the_largest_base_rate_is_named():
    summary = a_summary()
    headline = summary.headline
    headline.precision["0.5"] = value(0.9, 0.8, 0.95, 0.5)
    accused = by_name(summary)["Singling out"].findings[1]
    assert "if 50 of 100 candidates are members" in accused.measure
    assert accused.value.estimate == 0.9


def test_the_maximum_risk_is_that_of_the_most_vulnerable_record():
    findings = by_name(a_summary())["Threat modelling; maximum or average risk"].findings
    score, posterior = findings[-2:]
    assert "row 17" in score.measure
    assert (score.value.low, score.value.high) == (2, 4)
    assert (posterior.value.estimate, posterior.value.null) == (0.8, 0.1)


def test_what_was_not_tested_has_no_number():
    found = by_name(a_summary())
    assert not found["Inference"].findings
    assert not found["Differential privacy"].findings
    assert not found["Direct extraction of personal data from the model"].findings
    assert "no column names the persons" in found["Linkability"].no_evidence
    assert "linked to each other by the answers was not tested" in by_name(a_summary(), True)["Linkability"].no_evidence
    private = by_name(a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8)))
    assert "epsilon 1" in private["Differential privacy"].findings[0].measure
    assert private["Direct extraction of personal data from the model"].findings[0].value.estimate == 0.7


def test_mitigations_are_evidence_where_they_are_advised():
    name = "Mitigation and re-evaluation"
    found = by_name(advised(a_summary(), mitigations=[mitigation(), mitigation("decimals 1", reason="too few")]))[name]
    assert [one.value.estimate for one in found.findings] == [-0.1]
    assert found.evidence.startswith("1 mitigation")
    assert "No mitigation was tested" in by_name(advised(a_summary(), mitigations=[]))[name].evidence
