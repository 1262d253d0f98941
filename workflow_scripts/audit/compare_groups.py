"""Compare the leakage of groups of chosen columns, and search for the subpopulation that leaks most.

python workflow_scripts/audit/compare_groups.py --input main=0.nc records=records.parquet schema=schema.json \
    --output tidy=groups.parquet names=groups.json --wildcards '{"dataset": "table"}' \
    --params '{"seed": 1, "attacks": {"fpr": [0.1, 0.01], "replicates": 200,
        "rmia": {"gamma": 1.0, "offline_a": 0.3}},
        "audit": {"by": ["c3"], "groups": 12, "permutations": 99, "fpr": 0.01, "threats": ["probabilities"]}}'

All are judged by the strongest permitted score. Groups are those of the target and of the chosen columns; the search
takes all columns of the table, on half of the privacy units, and confirms on the other half. Columns of numbers and
dates, and a target that is a number, are cut into quarters. The result numbers the groups of a column: quarters from
the smallest values on, others the largest first. Their names are values of the table, so they stand apart, in `names`,
beside the records.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.score_matrices import of_input
from memaudit.common import seeds, tidy
from memaudit.common.io import read_json, read_table, write_json, write_table
from memaudit.statistics.attack_performance import judge_options, rows
from memaudit.statistics.group_comparison import FEWEST, judge_groups
from memaudit.statistics.strongest_score import Panel
from memaudit.statistics.subpopulation_search import worst_subpopulation
from memaudit.studies.audit import strongest_attack
from memaudit.studies.audit.audit_attacks import first_variant, panels
from memaudit.workflow.job import run

STUDY = "audit"
MISSING, LEFT_OUT = "(missing)", "records left out"


def main(job):
    audit, grid = job.params.audit, first_variant(of_input(job, "main"))
    panel = panels(grid, audit["threats"], job.params.attacks["rmia"])["members"]
    records = read_table(job.input.records).set_index("id").loc[grid.record.values[grid.member.values]]
    schema = read_json(job.input.schema)
    kinds = {"target": schema["target"]["type"]} | {column["name"]: column["type"] for column in schema["columns"]}
    chosen, names, masks = ["target", *audit["by"]], {}, {}
    for column in dict.fromkeys([*chosen, *kinds]):
        groups = _groups(records[column], kinds[column], audit["groups"])
        names[column] = {str(number): name for number, (name, _) in enumerate(groups, 1)}
        masks |= {(column, number): mask for number, (_, mask) in enumerate(groups, 1)}
    attack = strongest_attack.as_attack(panel, audit["fpr"])
    of_chosen = {name: mask for name, mask in masks.items() if name[0] in chosen}
    results = [*_compared(attack, panel, of_chosen, job), *_left_out(of_chosen, job.wildcards.dataset)]
    results += _searched(attack, panel, masks, job)
    write_table(tidy.frame(results), job.output.tidy)
    write_json(names, job.output.names)
    return {"seed": job.params.seed}


def _compared(attack: Attack, panel: Panel, masks: Mapping[tuple, np.ndarray], job) -> Iterator[dict]:
    """Tidy rows of the groups of the target and of the chosen columns."""
    settings, rng = job.params.attacks, seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "groups")
    # A single group must be able to reach q = .05: its q is at least the number of groups / (permutations + 1).
    permutations = max(job.params.audit["permutations"], 20 * len(masks) - 1)
    options = judge_options({**settings, "permutations": permutations})
    # Groups of all columns at once: their q-values are corrected for all of them.
    for (column, number), judged in judge_groups(
        attack, panel.membership, masks, panel.groups, rng=rng, scheme=panel.scheme, **options
    ).items():
        keys = {"dataset": job.wildcards.dataset, "column": column, "group": number}
        yield from rows(STUDY, keys, [*judged.estimates, judged.excess])
        yield tidy.row(STUDY, keys, "records", judged.records, unit="count", n=judged.records)
        yield tidy.row(STUDY, keys, "auc q-value", judged.q_value, unit="probability", n=judged.records)


def _left_out(masks: Mapping[tuple, np.ndarray], dataset: str) -> Iterator[dict]:
    """Tidy rows of the groups that are too small to compare, and of all records of a column beyond its groups.

    masks: by (column, number), the records of a group (record,). The row of the latter has no number.
    """
    columns: dict[str, np.ndarray] = {}
    for (column, number), mask in masks.items():
        columns[column] = columns.get(column, False) | mask
        if (records := int(mask.sum())) < FEWEST:
            yield tidy.row(STUDY, {"dataset": dataset, "column": column, "group": number}, LEFT_OUT, records)
    for column, covered in columns.items():
        if records := int((~covered).sum()):
            yield tidy.row(STUDY, {"dataset": dataset, "column": column}, LEFT_OUT, records)


def _searched(attack: Attack, panel: Panel, masks: Mapping[tuple, np.ndarray], job) -> Iterator[dict]:
    """Tidy rows of the subpopulation that the search found; none where all candidates are too small."""
    rng = seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "subpopulations")
    options = {"replicates": job.params.attacks["replicates"], "permutations": job.params.audit["permutations"]}
    scores = calibrate(attack.signals, panel.membership, attack.method)
    found = worst_subpopulation(scores, panel.membership, masks, panel.groups, rng=rng, **options)
    if found is None:
        return
    keys = {"dataset": job.wildcards.dataset, "search": "worst"}
    for place, (column, number) in enumerate(found.names, 1):
        keys |= {f"column {place}": column, f"group {place}": number}
    yield from rows(STUDY, keys, [found.auc, found.excess])
    for metric, count in {
        "records": found.records,
        "records that confirm": found.confirmed,
        "subpopulations searched": found.searched,
    }.items():
        yield tidy.row(STUDY, keys, metric, count, unit="count", n=count)


def _groups(values: pd.Series, kind: str, most: int) -> list[tuple[str, np.ndarray]]:
    """Names and masks (record,) of quarters from the smallest values on, or of the largest groups.

    Missing values form a group, the last one of quarters.
    """
    if kind in ("numeric", "date"):
        quarters = pd.qcut(values.rank(method="average"), 4, labels=False, duplicates="drop")
        values = quarters.map(lambda number: f"quarter {number + 1:.0f}", na_action="ignore")
    text = values.astype(object).where(values.notna(), MISSING).astype(str)
    names = text.value_counts().index
    if kind in ("numeric", "date"):
        names = sorted(names, key=lambda name: (name == MISSING, name))
    return [(name, (text == name).to_numpy()) for name in names[:most]]


if __name__ == "__main__":
    run(main, globals())
