"""Write the page and the summary of an audit from its results.

python workflow_scripts/audit/write_page.py --input risk=risk.parquet threats=threats.parquet dedup=dedup.parquet \
    checks=audit.checks.parquet facts=facts.json cards=model.json --output page=index.html summary=summary.json \
    --wildcards '{"dataset": "table"}' --params "$(cat params.json)"

params: audit, the config's section; attacks: its settings of the attacks; seed. The inputs `groups`, `names`,
`mitigations`, `private` (contexts), `tuned` (models) and `inference` exist in the second stage only.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from memaudit.auditing import audit_page, summarize_controls, summarize_inference, summarize_results
from memaudit.auditing.annex import Annex, checks_of, settings_of
from memaudit.auditing.protection import in_terms_of_data_protection, record_of_today
from memaudit.auditing.protection_parts import Protection
from memaudit.auditing.recommendations import advise
from memaudit.auditing.summary import Summary, Table
from memaudit.common.checksums import sha256
from memaudit.common.io import read_json, read_table, replacing, write_json
from memaudit.common.job_inputs import several
from memaudit.privacy.public_facts import read_facts
from memaudit.statistics import mitigation_verdicts
from memaudit.studies.audit.audit_attacks import compared
from memaudit.workflow.job import run
from memaudit.workflow.sidecar import versions


def main(job):
    facts = read_json(job.input.facts)
    risk, threats = (read_table(path) for path in (job.input.risk, job.input.threats))
    summary = _summary(job, facts, risk, threats)
    # Data protection is about people.
    protection = None if summary.rows_are else _protection(job, summary, facts)
    summary = summary.model_copy(update={"advice": advise(summary), "protection": protection})
    write_json(summary.model_dump(), job.output.summary)
    # The source of the bounds of private contexts.
    bounds = read_facts(job.input.public).source if job.input.get("public") else ""
    with replacing(job.output.page) as temporary:
        temporary.write_text(audit_page.render(summary, facts, _annex(job, facts), bounds), encoding="utf-8")
    print(f"{len(summary.adversaries)} attacks, {len(risk)} records, {len(summary.advice)} recommendations")
    return {"seed": job.params.seed}


def _protection(job, summary: Summary, facts: dict[str, Any]) -> Protection:
    audit = job.params.audit
    record = record_of_today(audit["owner"], audit["review_by"], versions())
    family = read_json(several(job.input.cards)[0])["family"]  # the audited model comes first
    return in_terms_of_data_protection(summary, facts, audit["threats"], record, family)


def _summary(job, facts: dict[str, Any], risk: pd.DataFrame, threats: pd.DataFrame) -> Summary:
    audit, counts = job.params.audit, _counts(job.input.dedup)
    names = read_json(job.input.names) if audit["show_values"] and job.input.get("names") else None
    checks = _counts(job.input.checks)
    called = {safe: column["name"] for safe, column in facts["columns"].items()} | {"target": facts["target"]}
    score = compared(audit["threats"], facts["kind"] == "regression")
    deployed = summarize_results.deployed(threats, score)
    found = Summary(
        stage="full" if audit["complete"] else "quick",
        table=Table(
            rows=facts["rows"],
            without_target=facts["without_target"],
            taken=facts["taken"],
            duplicates=int(counts["duplicates"]),
            disputed=int(facts["taken"] - counts["duplicates"] - counts["records"]),
            records=int(checks["members"] + checks["nonmembers"]),
            columns=sum(column["use"] for column in facts["columns"].values()),
            task=facts["task"],
            kind=facts["kind"],
            sha256=facts["sha256"],
        ),
        shadow_sets=job.params.attacks["sets"],
        context=deployed.measured[-1].number,
        fpr=audit["fpr"],
        models=audit["models"],
        adversaries=summarize_results.adversaries(threats),
        deployments=summarize_results.deployments(threats),
        uneven=summarize_results.uneven(threats),
        curves=summarize_results.curves(threats),
        strength=summarize_controls.strength(threats, audit["fpr"], estimated=audit["smallest"]),
        controls=summarize_controls.controls(threats),
        growth=summarize_results.growth(threats),
        deployed=deployed,
        utilities=summarize_results.utilities(threats),
        groups=_optional(job, "groups", lambda groups: summarize_results.groups(groups, called, names)),
        subpopulation=_optional(job, "groups", lambda groups: summarize_results.subpopulation(groups, called, names))
        or None,
        mitigations=_optional(job, "mitigations", lambda results: summarize_results.mitigations(results, audit["fpr"])),
        private=_optional(job, "private", summarize_results.private_contexts),
        tuned=_optional(job, "tuned", summarize_results.tuned),
        inference=_optional(job, "inference", lambda results: summarize_inference.inference(results, called)) or None,
        calibration=summarize_results.calibration(threats),
        stability=summarize_results.stability(threats),
        showing=int(risk["shows"].sum()),
        rated=len(risk),
        rows_are=audit["records"],
        exposed=summarize_results.exposed(risk, audit["shown"]),
        advice=[],
    )
    verdicts = mitigation_verdicts.verdicts(found.mitigations, found.strict_leak())
    judged = [one.model_copy(update=made._asdict()) for one, made in zip(found.mitigations, verdicts, strict=True)]
    return found.model_copy(update={"mitigations": judged})


def _optional(job, name: str, summarise: Callable[..., Any]) -> Any:
    """Part of the summary from the tables of an input; [] where the stage has no such input."""
    paths = several(job.input.get(name) or [])
    return summarise(*map(read_table, paths)) if paths else []


def _counts(path: str) -> dict[str, float]:
    table = read_table(path)
    return dict(zip(table["metric"], table["estimate"], strict=True))


def _annex(job, facts: dict[str, Any]) -> Annex:
    """Settings, checks, files and models of this audit."""
    audit, cards = job.params.audit, [read_json(path) for path in several(job.input.cards)]
    checks = checks_of(facts, _counts(job.input.dedup), _counts(job.input.checks))
    files = {"the table": facts["sha256"]} | {str(path): sha256(path) for path in job.input if "/models/" not in path}
    names = [audit["models"][arm] for arm in audit["models"]]
    settings = settings_of(audit, job.params.attacks, job.params.seed)
    return Annex.of(settings, checks, files, dict(zip(names, cards, strict=True)))


if __name__ == "__main__":
    run(main, globals())
