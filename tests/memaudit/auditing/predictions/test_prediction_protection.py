"""An audit of predictions in the terms of data protection: its numbers, and what is no evidence."""

import pytest
from prediction_examples import ACCUSED, FILES, RIGHT, control, scores

from memaudit.auditing.findings.protection import Record
from memaudit.auditing.findings.protection_criteria import criteria as criteria_of_tables
from memaudit.auditing.predictions.prediction_protection import criteria, in_terms_of_data_protection, inventory
from memaudit.auditing.predictions.prediction_summary import FileCounts, PredictionSummary, judged

FACTS = {"names": ["m.csv", "n.csv"]}
RECORD = Record("", "", "2026-11-23", {"memaudit": "0.1.0"})


def a_summary(files=FILES, **options):
    return judged(PredictionSummary(verdict="invalid", files=FileCounts(**files), fpr=0.01, **scores(**options)))


def test_the_criteria_are_those_of_an_audit_of_a_table():
    from audit_examples import a_summary as of_a_table

    found = criteria(a_summary(accusations=RIGHT))
    assert [one.name for one in found] == [one.name for one in criteria_of_tables(of_a_table(), False)]
    assert all(one.evidence and one.no_evidence for one in found)


def test_numbers_are_those_of_the_summary():
    found = {one.name: one.findings for one in criteria(a_summary(accusations=RIGHT))}
    accused, right = found["Singling out"]
    assert (accused.value.estimate, accused.value.null, accused.value.detected) == (0.1, 0.01, True)
    assert "3.3 of 100 members" in accused.power
    assert "if 50 of 100" in right.measure
    queries = found["Personal data obtained from queries"]
    assert [one.value.estimate for one in queries[:3]] == [0.7, 0.2, 0.2]
    assert queries[1].value.null == 0


def test_too_few_non_members_are_no_evidence_for_singling_out():
    found = criteria(a_summary())[0]
    assert not found.findings
    assert "too few non-members" in found.evidence


def test_the_record_names_files_unit_and_reason():
    section = in_terms_of_data_protection(a_summary(accusations=ACCUSED), FACTS, RECORD)
    assert "600 members of m.csv (sha256 000" in section.system
    assert section.unit.startswith("one row of the files")
    assert not section.invalid
    assert section.reviewer is None
    invalid = in_terms_of_data_protection(a_summary(splits=4, files=FILES | {"by_person": True}), FACTS, RECORD)
    assert "4 of 5 random splits" in invalid.invalid
    assert invalid.unit.startswith("the person")


@pytest.mark.parametrize("references", [False, True])
def test_every_attack_has_one_status(references):
    summary = a_summary(controls=[control("blind", 0.2)])
    if references:
        rmia = summary.scores[0].model_copy(update={"name": "rmia offline"})
        summary = summary.model_copy(update={"scores": [*summary.scores, rmia]})
    found = {one.attack: one for one in inventory(summary)}
    assert len(found) == len(inventory(summary))
    assert found["Loss (one answer)"].status == "run"
    (rmia,) = (one for name, one in found.items() if name.startswith("RMIA") and "(one answer)" in name)
    assert rmia.status == ("run" if references else "left out")
    assert all(one.reason for one in found.values() if one.status != "run")
