"""Release a private context from a table with a statement of its guarantee, and charge the ledger of the table first.

python workflow_scripts/release/write_context.py --input table=raw.parquet facts=raw.json public=customers.yaml \
    model=model.json --output context=context.parquet words=statement.md statement=statement.json \
    --wildcards '{"dataset": "customers"}' --params '{"run": "mine", "seed": 1, "ledger": "ledger", "entry": {"target":
    "churn", "group": null, "drop": [], "missing": [""]}, "release": {"epsilon": 1.0, "delta": 1e-6, "total": null,
    "model": "tabicl-small", "tuned": "nothing", "settings": {"teachers": 20, "queries": 100}}}'

A job that fails before it draws noise costs nothing; one that fails afterwards has spent the whole budget.
"""

import secrets
import shutil
from dataclasses import asdict
from pathlib import Path

from memaudit.common import seeds
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, replacing, write_json, write_table
from memaudit.config.release_section import PART
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.accounting import Budget
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.ledger import RELEASED, Ledger, Paid
from memaudit.privacy.pate_teachers import predictor
from memaudit.privacy.private_table_reader import read_raw
from memaudit.privacy.release_statement import ACCOUNTING, MECHANISM, guarantee_entries, in_words, query_counts
from memaudit.privacy.tabpate_release import Settings, TabPATE, planned
from memaudit.privacy.teacher_shards import Private
from memaudit.workflow.digest import digest
from memaudit.workflow.job import run, tell

FILES = ("context.parquet", "statement.md", RELEASED)  # the last one marks a complete release


def main(job):
    request, dataset, files = job.params.release, job.wildcards.dataset, job.input
    raw = read_json(files.facts)
    entry = job.params.entry | {"typed": raw["typed"], "target": job.params.entry["target"] or raw["target"]}
    table = read_raw(files.table, files.public, entry, job.threads)
    budget = Budget(request["epsilon"], request["delta"]).checked(table.public.records, PART)
    total = Budget(**(request["total"] or asdict(budget)))
    ledger, charged = Ledger(job.params.ledger), (dataset, table.identity, budget, total)
    ledger.check(*charged)
    outputs = list(zip(FILES, job.output, strict=False))
    if existing := [path for _, path in outputs if Path(path).exists()]:
        raise AuditError(f"{existing[0]}: exists, and another release spends again; move it away to release again")

    facts = statement_terms(job, table.public, budget)
    in_words(facts | {"records": 0})  # what the page cannot state fails before the charge
    noise = Paid(discrete_gaussian, lambda: ledger.charge(*charged, f"release by run {job.params.run}"))
    released = released_context(job, table, budget, noise)
    if noise.charge is None:
        raise AuditError(f"release: {budget} pays for no query, and nothing was spent; use fewer queries or more noise")
    facts |= {
        "records": len(released.x),
        "queries": query_counts(released, request["settings"]),
        "spent": released.statement,
        "ledger": {"charge": noise.charge.id, "time": noise.charge.time, "total": asdict(total)}
        | {"table_so_far": asdict(ledger.spent(dataset, table.identity))},
    }
    keep_release(ledger.place(noise.charge), table.public.decode(released.x, released.y), facts)
    for name, path in outputs:
        with replacing(path) as temporary:
            shutil.copyfile(ledger.place(noise.charge) / name, temporary)
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


def statement_terms(job, public, budget):
    """Entries of the statement that do not depend on the records."""
    request, group = job.params.release, job.params.entry["group"]
    plan = planned(Settings(**request["settings"]), budget, public)
    return {
        "dataset": job.wildcards.dataset,
        "mechanism": MECHANISM[request["settings"].get("labels", "votes")],
        "adjacency": "add or remove one unit",
        "unit": f"one {group} with all its rows" if group else "one row",
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "guarantee": guarantee_entries(plan.guarantee(public), budget, one_row=group is None),
        "accounting": ACCOUNTING[request["settings"].get("accounting", "joint")],
        "public": {
            "file": Path(job.input.public).name,
            "sha256": sha256(job.input.public),
            "source": public.source,
            "records": public.records,
            "settings": request["settings"],
        },
        "tuned": request["tuned"],
        "model": {"name": request["model"], "sha256 of its folder of weights": read_json(job.input.model)["sha256"]},
        "noise": "discrete Gaussian of OpenDP, from the randomness of the operating system",
    }


def keep_release(folder, context, facts):
    """Write the files beside the ledger, where neither another run nor Snakemake deletes them."""
    folder.mkdir(mode=0o700)
    write_table(context, folder / FILES[0])
    (folder / FILES[1]).write_text(in_words(facts), encoding="utf-8")
    write_json(facts, folder / FILES[2])


if __name__ == "__main__":
    run(main, globals())
