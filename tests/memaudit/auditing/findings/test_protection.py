"""The data-protection section states the threat model, and refuses a date of review that cannot be."""

import datetime
import re

import pytest
from audit_examples import FACTS, HOSTILE, a_summary, annex
from page_states import of_rows_alike

from memaudit.auditing.findings import protection
from memaudit.auditing.findings.protection import Record, in_terms_of_data_protection
from memaudit.auditing.page import audit_page
from memaudit.common.errors import AuditError

TODAY = datetime.date(2026, 11, 23)
BY_HAND = Record("", "", "2026-11-23", {"memaudit": "0.1.0"})


def section(summary, facts=FACTS, threats=("labels", "probabilities"), record=BY_HAND):
    return in_terms_of_data_protection(summary, facts, threats, record, "tabicl")


def page(summary, **described):
    found = summary.model_copy(update={"protection": section(summary, **described)})
    return " ".join(audit_page.render(found, FACTS, annex()).split())


@pytest.mark.parametrize("text", ["", "2026-11-23", "2027-02-28"])
def test_a_date_of_review_is_an_iso_date_from_today_on(text):
    protection.require_review_date(text, TODAY)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-11-22", "is in the past"),
        ("2027-02-30", r"must be an ISO date \(YYYY-MM-DD\), such as 2026-11-23"),
        ("20270228", "YYYY-MM-DD"),
        ("28.2.2027", "YYYY-MM-DD"),
        ("01.02.2027", "YYYY-MM-DD"),
        ("2027-W01-1", "YYYY-MM-DD"),
    ],
)
def test_another_date_of_review_is_refused(text, message):
    with pytest.raises(AuditError, match=message):
        protection.require_review_date(text, TODAY)


def test_reviewer_and_review_are_lines_to_fill_in_unless_given():
    assert page(a_summary()).count('class="blank"') == 4
    filled = page(a_summary(), record=BY_HAND._replace(owner=HOSTILE, review_by="2027-05-01"))
    assert filled.count('class="blank"') == 2
    assert "<dd>2027-05-01</dd>" in filled
    assert "<dd>&lt;/td&gt;&lt;script&gt;" in filled
    assert "<script" not in filled


def test_the_threat_model_is_that_of_the_audit():
    summary = a_summary()
    assert "predicted probabilities" in section(summary).access
    assert "adds rows" in section(summary, threats=["probabilities", "poison"]).access
    labels = [one.model_copy(update={"threat": "label-only passive"}) for one in summary.adversaries]
    assert "labels alone" in section(summary.model_copy(update={"adversaries": labels}), threats=["labels"]).access
    assert section(summary).unit.startswith("one row of the table; ")
    assert section(of_rows_alike(summary)).unit.startswith("rows with the same features and different targets together")
    assert "count as one record; in an audit with a group" in page(of_rows_alike(summary))
    assert "count as one record" not in page(summary)
    assert "audit again with the column that names the person as group" in section(summary).unit
    assert "household" in section(summary, facts=FACTS | {"group": "household"}).unit
    assert "32 shadow contexts" in section(summary).intruder
    assert " in its context (sha256" in section(summary).system
    fitted = summary.model_copy(update={"fitted": True})
    assert " fitted on rows of " in section(fitted).system
    assert "The file of a fitted model may hold rows" in page(fitted)


def test_an_invalid_audit_is_no_evidence():
    assert not section(a_summary()).invalid
    assert "None of its numbers is evidence" in page(a_summary(placebo=True))
    assert "None of its numbers is evidence" not in page(a_summary())


def test_the_page_gives_no_legal_verdict():
    for summary in (a_summary(), a_summary(leak=False), a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8))):
        text = page(summary)
        text = text[text.index('id="protection"') :]
        assert "This is no legal verdict" in text
        assert not re.search(r"complian|lawful|\bis anonymous|\bare anonymous\b(?!, is decided)", text)
