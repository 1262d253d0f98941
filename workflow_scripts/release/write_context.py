"""Release a private context from a table with a statement of its guarantee, and charge the ledger of the table first.

python workflow_scripts/release/write_context.py --input table=raw.parquet facts=raw.json public=customers.yaml \
    model=model.json --output context=context.parquet words=statement.md statement=statement.json \
    --wildcards '{"dataset": "customers"}' --params '{"run": "mine", "seed": 1, "ledger": null, "entry": {"target":
    "churn", "group": null, "drop": [], "missing": [""]}, "release": {"epsilon": 1.0, "delta": 1e-6, "total": null,
    "model": "tabicl-small", "tuned": "nothing", "settings": {"teachers": 20, "queries": 100}}}'

A job that fails before it draws noise costs nothing; one that fails afterwards has spent the whole budget.
"""

import secrets
from dataclasses import asdict
from pathlib import Path

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json, write_table
from memaudit.config.release_section import PART
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.accounting import Budget
from memaudit.privacy.composition import Cost
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.ledger import RELEASED, Paid
from memaudit.privacy.ledger_lines import PrivateTable
from memaudit.privacy.pate_teachers import predictor
from memaudit.privacy.release_jobs import copy_kept, ledger_of, private_table, refuse_existing
from memaudit.privacy.release_plan import check_labels
from memaudit.privacy.release_statement import in_words, ledger_entries, query_counts, statement_terms
from memaudit.privacy.tabpate_release import Settings, TabPATE, planned
from memaudit.privacy.teacher_shards import Private
from memaudit.workflow.digest import digest
from memaudit.workflow.job import run, tell

FILES = ("context.parquet", "statement.md", RELEASED)  # the last one marks a complete release


def main(job):
    request, dataset, files = job.params.release, job.wildcards.dataset, job.input
    table = private_table(files, job.params.entry, job.threads)
    budget = Budget(request["epsilon"], request["delta"]).checked(table.public.records, PART)
    total = Budget(**(request["total"] or asdict(budget)))
    settings = Settings(**request["settings"])
    plan = planned(settings, budget, table.public)
    check_labels(plan, settings, table.public)
    guarantee = plan.guarantee(table.public)
    # All that can fail is computed before the charge.
    of_files = (files.public, read_json(files.model)["sha256"])
    terms = {"dataset": dataset} | statement_terms(
        request, job.params.entry["group"], table.public, guarantee, *of_files
    )
    results = Path(job.output.context).absolute().parents[3]
    ledger, private = ledger_of(job.params.ledger, results), PrivateTable(dataset, table.rows)
    charged = (private, Cost(budget, guarantee), total)
    ledger.check(*charged)
    if looks := ledger.looks(private):
        terms["private_contexts_measured_before"] = looks
    outputs = [job.output.context, job.output.words, job.output.statement]
    refuse_existing(outputs)
    in_words(terms | {"records": 0})  # what the page cannot state fails before the charge
    noise = Paid(discrete_gaussian, lambda: ledger.charge(*charged, f"release by run {job.params.run}", terms["unit"]))
    released = released_context(job, table, budget, noise)
    if noise.charge is None:
        raise AuditError(f"release: {budget} pays for no query, and nothing was spent; use fewer queries or more noise")
    facts = terms | {
        "records": len(released.x),
        "queries": query_counts(released, request["settings"]),
        "spent": released.statement,
        "ledger": ledger_entries(noise.charge, ledger.history(private)),
    }
    keep_release(ledger.place(noise.charge), table.public.decode(released.x, released.y), facts)
    copy_kept(ledger.place(noise.charge), outputs)
    tell(f"memaudit: released {len(released.x)} records of {dataset} at ({budget.epsilon:g}, {budget.delta:g})")
    # The rule has no digest of its code among its params, because new code must not spend budget again.
    code = digest("release_write_context", env="tabular")
    return {"seed": job.params.seed, "device": device(), "dtype": "float32", "code": code}


def released_context(job, table, budget, noise):
    """The release from a private table with fresh noise."""
    request, public, dataset = job.params.release, table.public, job.wildcards.dataset
    settings = Settings(**request["settings"])
    model = load(job.input.model, job.threads, public.schema())
    classes = len(public.target.values) if public.task == "classification" else None
    expected = public.records // max(1, settings.teachers)
    model.limits.check(f"release/model, data set {dataset}", expected, len(public.columns), classes)
    predict = predictor(model, classes, job.resources.get("forward_mb", MEMORY))
    # The key is discarded: it would reveal the shard of a record.
    key = secrets.token_bytes(32)
    rng = seeds.generator(job.params.seed, "release", dataset, "queries")
    private = Private(table.x, table.y, table.units, key, public)
    return TabPATE(private, predict, rng, noise).release(settings, budget)


def keep_release(folder, context, facts):
    """Write the files beside the ledger, where neither another run nor Snakemake deletes them."""
    write_table(context, folder / FILES[0])
    (folder / FILES[1]).write_text(in_words(facts), encoding="utf-8")
    write_json(facts, folder / FILES[2])


if __name__ == "__main__":
    run(main, globals())
