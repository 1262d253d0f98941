"""Write public facts with bounds from noisy counts, where no codebook has bounds, and charge the ledger first.

python workflow_scripts/release/write_bounds.py --input table=raw.parquet facts=raw.json public=customers.yaml \
    --output bounds=bounds.yaml statement=statement.json --wildcards '{"dataset": "customers"}' \
    --params '{"run": "mine", "ledger": null, "entry": {"target": "churn", "group": null, "drop": [], "missing": [""]},
    "release": {"epsilon": 1.0, "delta": 1e-6, "total": {"epsilon": 1.5, "delta": 2e-6}, "settings": {"teachers": 20,
    "queries": 100}, "bounds": {"columns": ["income"], "epsilon": 0.2, "delta": 1e-6}}}'

A job that fails before it draws noise costs nothing; one that fails afterwards has spent the budget of the bounds.
"""

from pathlib import Path

import numpy as np
import yaml

from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.config.release_section import PART
from memaudit.privacy.accounting import Budget
from memaudit.privacy.composition import Cost, fits
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.ledger import RELEASED, Paid
from memaudit.privacy.ledger_lines import PrivateTable
from memaudit.privacy.noisy_bounds import facts_with, noisy_bounds, planned_bounds
from memaudit.privacy.release_jobs import copy_kept, ledger_of, private_table, refuse_existing
from memaudit.privacy.release_statement import guarantee_entries, ledger_entries, unit_in_words
from memaudit.privacy.tabpate_release import Settings, planned
from memaudit.workflow.digest import digest
from memaudit.workflow.job import run, tell

MECHANISM = "bounds of columns: ends of the bins whose counts, with noise, exceed a threshold; bins are public"


def main(job):
    request, dataset, group = job.params.release, job.wildcards.dataset, job.params.entry["group"]
    table = private_table(job.input, job.params.entry, job.threads)
    public, asked = table.public, request["bounds"]
    budget, total = Budget(asked["epsilon"], asked["delta"]).checked(public.records, PART), Budget(**request["total"])
    plan = planned_bounds(public, asked["columns"], budget)
    cost, private = Cost(budget, plan.guarantee), PrivateTable(dataset, table.rows)
    ledger = ledger_of(job.params.ledger, Path(job.output.bounds).absolute().parents[3])
    ledger.check(private, cost, total)
    refuse_release_beyond([*(one.cost for one in ledger.history(private)), cost], request, public, total)
    outputs = [job.output.bounds, job.output.statement]
    refuse_existing(outputs)
    terms = {"dataset": dataset, "mechanism": MECHANISM, "adjacency": "add or remove one unit"}
    terms |= {"unit": unit_in_words(group), "epsilon": budget.epsilon, "delta": budget.delta}
    terms |= {"guarantee": guarantee_entries(plan.guarantee, budget, one_row=group is None)}
    if looks := ledger.looks(private):
        terms["private_contexts_measured_before"] = looks

    purpose = f"bounds by run {job.params.run}"
    noise = Paid(discrete_gaussian, lambda: ledger.charge(private, cost, total, purpose, terms["unit"]))
    bounds = noisy_bounds(public, values_of(table, plan.columns), table.units, plan, noise)
    kept = ledger.place(noise.charge)
    found = f"{public.source}; bounds of {', '.join(bounds)} by noisy counts of a table, charge {noise.charge.id}"
    facts = yaml.safe_dump(facts_with(public, bounds, found), sort_keys=False, allow_unicode=True)
    (kept / Path(job.output.bounds).name).write_text(facts, encoding="utf-8")
    terms |= {"sigma": plan.sigma, "bounds": bounds, "ledger": ledger_entries(noise.charge, ledger.history(private))}
    write_json(terms, kept / RELEASED)
    copy_kept(kept, outputs)
    for name, (lower, upper) in bounds.items():
        tell(f"memaudit: bounds of {name}: [{lower:g}, {upper:g}]")
    tell(f"memaudit: paid ({budget.epsilon:g}, {budget.delta:g}); name {job.output.bounds} in release/public")
    return {"code": digest("release_write_bounds", env="tabular")}


def values_of(table, names):
    """Values (record, column) of columns of the table, or of its target."""
    features = dict(zip((column.name for column in table.public.columns), table.x.T, strict=True))
    return np.column_stack([features.get(name, table.y) for name in names])


def refuse_release_beyond(costs, request, public, total):
    """Raise AuditError where the release could not be paid after the bounds: they would be of no use."""
    budget = Budget(request["epsilon"], request["delta"])
    release = Cost(budget, planned(Settings(**request["settings"]), budget, public).guarantee(public))
    if not fits([*costs, release], total):
        raise AuditError(
            "release/total: does not cover the release after its bounds, and nothing was spent; raise it, or use a "
            "smaller budget"
        )


if __name__ == "__main__":
    run(main, globals())
