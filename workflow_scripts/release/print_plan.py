"""Print what a release would buy with its budget; nothing is released and nothing is spent.

python workflow_scripts/release/print_plan.py --input table=raw.parquet facts=raw.json public=customers.yaml \
    --params '{"dataset": "customers", "entry": {"target": "churn", "group": null, "drop": [], "missing": [""]},
    "release": {"epsilon": 1.0, "delta": 1e-6, "settings": {"teachers": 20, "queries": 100}}}'

The table is read for the names of its columns alone: no other fact of it enters the plan.
"""

from memaudit.common.io import read_json
from memaudit.config.release_section import PART
from memaudit.privacy.accounting import Budget
from memaudit.privacy.private_table_reader import read_raw
from memaudit.privacy.release_plan import check_labels, in_lines
from memaudit.privacy.tabpate_release import Settings, planned
from memaudit.workflow.job import run, tell


def main(job):
    request, raw = job.params.release, read_json(job.input.facts)
    entry = job.params.entry | {"typed": raw["typed"], "target": job.params.entry["target"] or raw["target"]}
    public = read_raw(job.input.table, job.input.public, entry, job.threads).public
    budget = Budget(request["epsilon"], request["delta"]).checked(public.records, PART)
    settings = Settings(**request["settings"])
    plan = planned(settings, budget, public)
    check_labels(plan, settings, public)
    tell(f"memaudit: a release of {job.params.dataset} at ({budget.epsilon:g}, {budget.delta:g}) would buy:")
    for line in in_lines(plan, settings, public):
        tell(f"memaudit:   {line}")
    shape = f"about {public.records} rows, {len(public.columns)} columns"
    tell(f"memaudit:   expected accuracy: run the study tabpate on a public table of like shape ({shape})")
    tell("memaudit:   nothing was spent")


if __name__ == "__main__":
    run(main, globals())
