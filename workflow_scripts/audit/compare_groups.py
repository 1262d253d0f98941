"""Which groups leak more: the classes of the target, and the categories of chosen columns.

python workflow_scripts/audit/compare_groups.py --input main=0.nc records=records.parquet schema=schema.json \
    --output tidy=groups.parquet names=groups.json --wildcards '{"dataset": "table"}' \
    --params '{"seed": 1, "attacks": {"fpr": [0.1, 0.01], "replicates": 200},
        "audit": {"by": ["c3"], "groups": 12, "permutations": 99}}'

The result numbers the groups of a column, the largest first; what they are called stands in `names`, beside the
records, for names of categories are values of the table. Columns of numbers and dates are cut into quarters.
"""

import numpy as np
import pandas as pd

from memaudit import seeds, tidy
from memaudit.attacks.score_matrices import confidence, of_input, variant
from memaudit.io import read_json, read_table, write_json, write_table
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.group_comparison import judge_groups
from memaudit.statistics.threat_models import ratio
from memaudit.workflow.job import run

STUDY = "audit"


def main(job):
    grid = of_input(job, "main")
    grid = variant(grid, grid.variant.values[0])
    grid = grid.isel(record=grid.member.values)
    records = read_table(job.input.records).set_index("id").loc[grid.record.values]
    audit, asked, results, names = job.params.audit, job.params.attacks, [], {}
    kinds = {column["name"]: column["type"] for column in read_json(job.input.schema)["columns"]}
    masks = {}
    for column in ["target", *audit["by"]]:
        groups = _groups(records[column], kinds.get(column, "categorical"), audit["groups"])
        names[column] = {str(number): name for number, (name, _) in enumerate(groups, 1)}
        masks |= {(column, number): mask for number, (_, mask) in enumerate(groups, 1)}
        print(f"{column}: {len(groups)} groups", flush=True)
    rng = seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "groups")
    # One group alone must be able to reach q = .05: its p is at least 1 / (permutations + 1), times their number.
    permutations = max(audit["permutations"], 20 * len(masks) - 1)
    options = {"fprs": asked["fpr"], "replicates": asked["replicates"], "permutations": permutations}
    attack, units = ratio(confidence(grid)), grid.unit.values
    # Groups of all columns at once: their q-values are corrected for all of them.
    for (column, number), judged in judge_groups(attack, grid.design.values, masks, units, rng=rng, **options).items():
        keys = {"dataset": job.wildcards.dataset, "column": column, "group": number}
        results += rows(STUDY, keys, [*judged.estimates, judged.excess])
        results.append(tidy.row(STUDY, keys, "records", judged.records, unit="count", n=judged.records))
        results.append(tidy.row(STUDY, keys, "auc q-value", judged.q_value, unit="probability", n=judged.records))
    write_table(tidy.frame(results), job.output.tidy)
    write_json(names, job.output.names)
    return {"seed": job.params.seed}


def _groups(values: pd.Series, kind: str, most: int) -> list[tuple[str, np.ndarray]]:
    """Names and masks (record,) of the largest groups; a missing value is a group, too."""
    if kind in ("numeric", "date"):
        quarters = pd.qcut(values.rank(method="average"), 4, labels=False, duplicates="drop")
        values = quarters.map(lambda number: f"quarter {number + 1:.0f}", na_action="ignore")
    text = values.astype(object).where(values.notna(), "(missing)").astype(str)
    return [(name, (text == name).to_numpy()) for name in text.value_counts().index[:most]]


if __name__ == "__main__":
    run(main, globals())
