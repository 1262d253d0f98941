"""Compare the leakage of groups: the classes of the target, and the categories of chosen columns.

python workflow_scripts/audit/compare_groups.py --input main=0.nc records=records.parquet schema=schema.json \
    --output tidy=groups.parquet names=groups.json --wildcards '{"dataset": "table"}' \
    --params '{"seed": 1, "attacks": {"fpr": [0.1, 0.01], "replicates": 200},
        "audit": {"by": ["c3"], "groups": 12, "permutations": 99}}'

The result numbers the groups of a column, the largest first. Their names are values of the table, so they stand apart,
in `names`, beside the records. Columns of numbers and dates, and a target that is a number, are cut into quarters.
"""

import numpy as np
import pandas as pd

from memaudit.attacks.score_matrices import of_input
from memaudit.common import seeds, tidy
from memaudit.common.io import read_json, read_table, write_json, write_table
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.attack_performance import judge_options, rows
from memaudit.statistics.group_comparison import judge_groups
from memaudit.studies.audit.audit_attacks import first_variant, lira_on_members
from memaudit.workflow.job import run

STUDY = "audit"


def main(job):
    grid = first_variant(of_input(job, "main"))
    attack, membership, units = lira_on_members(grid)
    records = read_table(job.input.records).set_index("id").loc[grid.record.values[grid.member.values]]
    audit, settings, results, names = job.params.audit, job.params.attacks, [], {}
    schema = read_json(job.input.schema)
    kinds = {column["name"]: column["type"] for column in schema["columns"]} | {"target": schema["target"]["type"]}
    masks = {}
    for column in ["target", *audit["by"]]:
        groups = _groups(records[column], kinds[column], audit["groups"])
        names[column] = {str(number): name for number, (name, _) in enumerate(groups, 1)}
        masks |= {(column, number): mask for number, (_, mask) in enumerate(groups, 1)}
        print(f"{column}: {len(groups)} groups", flush=True)
    rng = seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "groups")
    # A single group must be able to reach q = .05: its q is at least the number of groups / (permutations + 1).
    permutations = max(audit["permutations"], 20 * len(masks) - 1)
    options = judge_options({**settings, "permutations": permutations})
    # Groups of all columns at once: their q-values are corrected for all of them.
    for (column, number), judged in judge_groups(
        attack, membership, masks, units, rng=rng, scheme=Scheme.of(grid.attrs), **options
    ).items():
        keys = {"dataset": job.wildcards.dataset, "column": column, "group": number}
        results += rows(STUDY, keys, [*judged.estimates, judged.excess])
        results.append(tidy.row(STUDY, keys, "records", judged.records, unit="count", n=judged.records))
        results.append(tidy.row(STUDY, keys, "auc q-value", judged.q_value, unit="probability", n=judged.records))
    write_table(tidy.frame(results), job.output.tidy)
    write_json(names, job.output.names)
    return {"seed": job.params.seed}


def _groups(values: pd.Series, kind: str, most: int) -> list[tuple[str, np.ndarray]]:
    """Names and masks (record,) of the largest groups; missing values form a group."""
    if kind in ("numeric", "date"):
        quarters = pd.qcut(values.rank(method="average"), 4, labels=False, duplicates="drop")
        values = quarters.map(lambda number: f"quarter {number + 1:.0f}", na_action="ignore")
    text = values.astype(object).where(values.notna(), "(missing)").astype(str)
    return [(name, (text == name).to_numpy()) for name in text.value_counts().index[:most]]


if __name__ == "__main__":
    run(main, globals())
