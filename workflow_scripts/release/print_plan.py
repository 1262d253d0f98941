"""Print what a release would buy with its budget; nothing is released and nothing is spent.

python workflow_scripts/release/print_plan.py --input table=raw.parquet facts=raw.json public=customers.yaml \
    gains=results/bench/private_gain.json \
    --params '{"dataset": "customers", "entry": {"target": "churn", "group": null, "drop": [], "missing": [""]},
    "release": {"epsilon": 1.0, "delta": 1e-6, "bounds": null, "settings": {"teachers": 20, "queries": 100}}}'

The table is read for the names of its columns alone: no other fact of it enters the plan.
"""

from memaudit.common.io import read_json
from memaudit.config.release_section import PART
from memaudit.privacy.accounting import Budget
from memaudit.privacy.noisy_bounds import planned_bounds
from memaudit.privacy.release_jobs import private_table, reading
from memaudit.privacy.release_plan import check_labels, columns_in_lines, in_lines
from memaudit.privacy.tabpate_release import Settings, planned
from memaudit.studies.private_gain import expected_gain
from memaudit.workflow.job import run, tell


def main(job):
    request = job.params.release
    public = private_table(job.input, job.params.entry, job.threads).public
    budget = Budget(request["epsilon"], request["delta"]).checked(public.records, PART)
    settings = Settings(**request["settings"])
    plan = planned(settings, budget, public)
    check_labels(plan, settings, public)
    tell("memaudit: the table is read by its public facts and its entry alone:")
    for line in columns_in_lines(public, reading(job.input, job.params.entry)):
        tell(f"memaudit:   {line}")
    tell(f"memaudit: a release of {job.params.dataset} at ({budget.epsilon:g}, {budget.delta:g}) would buy:")
    expected = expected_gain.in_lines(read_json(job.input.gains), settings, budget, public)
    for line in (*in_lines(plan, settings, public), *expected):
        tell(f"memaudit:   {line}")
    if asked := request["bounds"]:
        of_bounds = Budget(asked["epsilon"], asked["delta"]).checked(public.records, PART)
        tell(f"memaudit: before it, `release_bounds` at ({of_bounds.epsilon:g}, {of_bounds.delta:g}) would buy:")
        tell(f"memaudit:   {planned_bounds(public, asked['columns'], of_bounds).in_line()}")
    tell("memaudit:   nothing was spent")


if __name__ == "__main__":
    run(main, globals())
