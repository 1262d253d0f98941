"""What an adversary who sees attention finds is evidence of its own, and named where it was run."""

from audit_examples import FACTS, a_summary, seen_inside

from memaudit.auditing.findings import protection, white_box_findings
from memaudit.auditing.findings.protection_criteria import criteria


def test_findings_are_those_of_the_strongest_score_of_attention():
    summary = seen_inside(a_summary())
    best = summary.white_box()[0]
    ranked, accused = white_box_findings.findings(summary)
    assert (ranked.value, accused.value) == (best.auc, best.tpr[f"{summary.fpr:g}"])
    assert white_box_findings.identified(summary) == [accused]
    places = [one.name for one in criteria(summary, grouped=False) if accused in one.findings]
    assert places == [
        "Singling out",
        "Personal data obtained from queries",
        "Threat modelling; maximum or average risk",
    ]


def test_without_such_an_adversary_there_is_none():
    summary = a_summary()
    assert white_box_findings.findings(summary) == []
    assert (
        "attention"
        not in protection.in_terms_of_data_protection(
            summary, FACTS, ["probabilities"], protection.Record("", "", "2026-11-23", {}), "tabicl"
        ).access
    )


def test_a_detected_negative_control_withdraws_them():
    assert white_box_findings.findings(seen_inside(a_summary(), control=True)) == []


def test_access_names_the_second_adversary():
    section = protection.in_terms_of_data_protection(
        seen_inside(a_summary()), FACTS, ["white-box"], protection.Record("", "", "2026-11-23", {}), "tabicl"
    )
    assert "a second adversary also reads attention weights" in section.access
