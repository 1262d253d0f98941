"""Write the page and the summary of an audit from its results.

python workflow_scripts/audit/write_page.py --input risk=risk.parquet threats=threats.parquet dedup=dedup.parquet \
    checks=audit.checks.parquet facts=facts.json cards=model.json --output page=index.html summary=summary.json \
    --wildcards '{"dataset": "table"}' --params "$(cat params.json)"

params: audit, the config's section; attacks: its settings of the attacks; seed. The inputs `groups`, `names`,
`mitigations`, `private` (contexts), `tuned` (models) and `inference` exist in the second stage only.
"""

from typing import Any

from memaudit.auditing.findings.protection import in_terms_of_data_protection, record_of_today
from memaudit.auditing.findings.recommendations import advise
from memaudit.auditing.page import audit_page
from memaudit.auditing.page.annex import Annex, checks_of, settings_of
from memaudit.auditing.summaries.protection_parts import Protection
from memaudit.auditing.summaries.stage_summary import RESULTS, Tables, counts, stage_summary
from memaudit.auditing.summaries.summary import Summary
from memaudit.common.checksums import sha256
from memaudit.common.io import read_json, read_table, replacing, write_json
from memaudit.common.job_inputs import several
from memaudit.privacy.public_facts import read_facts
from memaudit.statistics import mitigation_verdicts
from memaudit.studies.audit.audit_attacks import compared
from memaudit.workflow.job import run
from memaudit.workflow.sidecar import versions

FITTED = "estimator"  # the family of models that are fitted, and have no context that they read


def main(job):
    facts = read_json(job.input.facts)
    tables = {name: [read_table(path) for path in several(job.input.get(name) or [])] for name in RESULTS}
    summary = _summary(job, facts, tables)
    # Data protection is about people.
    protection = None if summary.rows_are else _protection(job, summary, facts)
    summary = summary.model_copy(update={"advice": advise(summary), "protection": protection})
    write_json(summary.model_dump(), job.output.summary)
    # The source of the bounds of private contexts.
    bounds = read_facts(job.input.public).source if job.input.get("public") else ""
    with replacing(job.output.page) as temporary:
        temporary.write_text(audit_page.render(summary, facts, _annex(job, facts, tables), bounds), encoding="utf-8")
    print(f"{len(summary.adversaries)} attacks, {summary.rated} records, {len(summary.advice)} recommendations")
    return {"seed": job.params.seed}


def _protection(job, summary: Summary, facts: dict[str, Any]) -> Protection:
    audit = job.params.audit
    record = record_of_today(audit["owner"], audit["review_by"], versions())
    return in_terms_of_data_protection(summary, facts, audit["threats"], record, _family(job))


def _summary(job, facts: dict[str, Any], tables: Tables) -> Summary:
    """The summary with verdicts on mitigations and the kind of model, without advice and data protection."""
    audit = job.params.audit
    score = compared(audit["threats"], facts["kind"] == "regression")
    names = read_json(job.input.names) if audit["show_values"] and job.input.get("names") else None
    found = stage_summary(tables, facts, audit, sets=job.params.attacks["sets"], score=score, names=names)
    verdicts = mitigation_verdicts.verdicts(found.mitigations, found.strict_leak())
    judged = [one.model_copy(update=made._asdict()) for one, made in zip(found.mitigations, verdicts, strict=True)]
    return found.model_copy(update={"mitigations": judged, "fitted": _family(job) == FITTED})


def _family(job) -> str:
    """Family of the audited model, which comes first."""
    return read_json(several(job.input.cards)[0])["family"]


def _annex(job, facts: dict[str, Any], tables: Tables) -> Annex:
    """Settings, checks, files and models of this audit."""
    audit, cards = job.params.audit, [read_json(path) for path in several(job.input.cards)]
    checks = checks_of(facts, counts(*tables["dedup"]), counts(*tables["checks"]), audit["show_values"])
    files = {"the table": facts["sha256"]} | {str(path): sha256(path) for path in job.input if "/models/" not in path}
    names = [audit["models"][arm] for arm in audit["models"]]
    settings = settings_of(audit, job.params.attacks, job.params.seed)
    return Annex.of(settings, checks, files, dict(zip(names, cards, strict=True)))


if __name__ == "__main__":
    run(main, globals())
