"""An audit in the terms of data protection: which number is evidence for which criterion, and what is no evidence.

Sources: Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216); EDPB Opinion 28/2024 on AI
models; ISO/IEC 27559:2022; NIST SP 800-226. There is no legal verdict: whether a risk is acceptable is for people.
"""

import datetime
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from memaudit.auditing.findings import audit_strength
from memaudit.auditing.findings.attack_inventory import Audited, inventory
from memaudit.auditing.findings.protection_criteria import criteria
from memaudit.auditing.summaries.protection_parts import Protection
from memaudit.auditing.summaries.summary import Summary
from memaudit.common.errors import AuditError


class Record(NamedTuple):
    """Who reviews an audit, when, and with which software; owner, review_by: empty to fill in by hand."""

    owner: str
    review_by: str
    date: str
    versions: Mapping[str, str]


def record_of_today(owner: str, review_by: str, versions: Mapping[str, str]) -> Record:
    """The record of an audit that is made now."""
    return Record(owner, review_by, datetime.datetime.now(datetime.UTC).date().isoformat(), versions)


def require_review_date(text: str, today: datetime.date) -> None:
    """Raise AuditError unless the text is empty, or an ISO date that is not in the past."""
    if not text:
        return
    try:
        date = datetime.date.fromisoformat(text)
    except ValueError:
        date = None
    if date is None or date.isoformat() != text:
        raise AuditError(f"--review-by {text!r}: must be an ISO date (YYYY-MM-DD), such as {today.isoformat()}")
    if date < today:
        raise AuditError(f"--review-by {text}: is in the past")


def in_terms_of_data_protection(
    summary: Summary, facts: Mapping[str, Any], threats: Collection[str], record: Record, family: str
) -> Protection:
    """The data-protection section of an audit; facts: of the intake; threats: of the user; family: of the model."""
    return Protection(
        system=_system(summary, facts),
        access=_access(summary, threats),
        unit=_unit(summary, facts),
        intruder=_intruder(summary),
        invalid=audit_strength.invalid(summary),
        criteria=criteria(summary, bool(facts["group"])),
        attacks=inventory(summary, Audited(threats, family, facts["classes"], bool(facts["infer"]))),
        versions=dict(record.versions),
        date=record.date,
        reviewer=record.owner or None,
        review_by=record.review_by or None,
    )


def _system(summary: Summary, facts: Mapping[str, Any]) -> str:
    table = summary.table
    rows = f"fitted on rows of {facts['name']}" if summary.fitted else f"with rows of {facts['name']} in its context"
    return (
        f"{summary.models['main']} {rows} (sha256 {table.sha256}): "
        f"{table.rows} rows, {table.columns} columns and the target, {table.task}; audited with contexts of "
        f"{summary.context} {summary.nouns().rows}"
    )


def _access(summary: Summary, threats: Collection[str]) -> str:
    if summary.predicts_numbers():
        read = "predicted numbers alone" if audit_strength.reads_labels(summary) else "the whole predicted distribution"
    else:
        read = "predicted labels alone" if audit_strength.reads_labels(summary) else "predicted probabilities"
    rows = "; the adversary adds rows to the context, too" if "poison" in threats else ""
    seen = "no access to the model's file, memory or logs"
    if summary.white_box():
        seen = f"a second adversary also reads attention weights; otherwise {seen}"
    return f"queries of any record, answered with {read}{rows}; {seen}"


def _unit(summary: Summary, facts: Mapping[str, Any]) -> str:
    if facts["group"]:
        return f"the person (or household) that the column {facts['group']} names, with all of its rows"
    unit = "one row of the table"
    if summary.nouns().alike:
        unit = "rows with the same features and different targets together; else one row of the table"
    return f"{unit}; if a person has several rows, audit again with the column that names the person as group"


def _intruder(summary: Summary) -> str:
    queries = "one query about each record"
    if any(one.records == "targets" for one in summary.adversaries):
        queries += ", and many about some"
    return (
        "knows the attacked record with its target, has the same model and enough other records of the population to "
        f"build {summary.shadow_sets} shadow contexts (here from the table itself, the strongest assumption), and "
        f"makes {queries}"
    )
