"""Write the page and the summary of an audit of files of predictions.

python workflow_scripts/audit/show_predictions.py --input scores=predictions.json risk=risk.parquet facts=facts.json \
    --output page=index.html summary=summary.json --params "$(cat params.json)"

params: seed; predictions, the config's section.
"""

from memaudit.auditing.findings.protection import record_of_today
from memaudit.auditing.predictions import prediction_page
from memaudit.auditing.predictions.prediction_protection import in_terms_of_data_protection
from memaudit.auditing.predictions.prediction_summary import FileCounts, PredictionSummary, judged
from memaudit.common.checksums import sha256
from memaudit.common.io import read_json, replacing, write_json
from memaudit.workflow.job import run
from memaudit.workflow.sidecar import versions


def main(job):
    facts, scores, settings = read_json(job.input.facts), read_json(job.input.scores), job.params.predictions
    files = {key: facts[key] for key in ("rows", "duplicates", "units", "by_person", "classes", "references", "sha256")}
    counts = FileCounts(**files, features=len(facts["types"]))
    given = {"files": counts, "fpr": settings["fpr"], "rows_are": settings["records"]}
    summary = judged(PredictionSummary(verdict="invalid", **given, **scores))
    if not summary.rows_are:
        record = record_of_today(settings["owner"], settings["review_by"], versions())
        protection = in_terms_of_data_protection(summary, facts, record)
        summary = summary.model_copy(update={"protection": protection})
    write_json(summary.model_dump(), job.output.summary)
    annex = {"seed": job.params.seed} | {name: settings[name] for name in sorted(settings) if settings[name] != ""}
    annex |= dict(zip(("sha256 of members", "sha256 of non-members"), facts["sha256"], strict=True))
    annex |= {f"sha256 of {name}": sha256(job.input.get(name)) for name in ("scores", "risk")}
    with replacing(job.output.page) as temporary:
        temporary.write_text(prediction_page.render(summary, facts, annex), encoding="utf-8")
    print(f"AUC {summary.auc.estimate:.3f}: {summary.verdict}")
    return {"seed": job.params.seed}


if __name__ == "__main__":
    run(main, globals())
