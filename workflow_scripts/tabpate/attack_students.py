"""Attack released PATE students for membership in the private records (TabPATE, Section 5.3, Figure 1).

python workflow_scripts/tabpate/attack_students.py --input shadows=0.nc shadows=1.nc poisoned=poisoned.nc \
    --output tidy=students.parquet roc=roc.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "delta": 1e-5, "fpr": [0.05, 0.01], "replicates": 200, "permutations": 39}'

LiRA, calibrated by the other shadow contexts, on each condition and epsilon; a negative control on records in no shadow
context, with a random membership matrix; lower bounds on epsilon; differences of each private condition from
`non_private` on the same contexts; and how many of the attacked students give one answer for all records. With
`poisoned` also Brainwash: the number of poisons that make the student wrong.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.score_matrices import confidence
from memaudit.common import seeds, tidy
from memaudit.common.constant_students import ATTACKED
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, write_table
from memaudit.common.job_inputs import several
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import COLUMNS, Scheme
from memaudit.statistics.attacked_records import Attacked
from memaudit.statistics.threat_models import fewest_poisons, ratio
from memaudit.studies.tabpate.student_attacks import AttackedCondition, Judge
from memaudit.studies.tabpate.student_utility import STUDY
from memaudit.workflow.job import run


def main(job):
    settings = {name: getattr(job.params, name) for name in ("fpr", "replicates", "permutations", "delta", "seed")}
    judge = Judge(**settings)
    shadows = list(_by_release(job, "shadows"))
    conditions = [condition for grid in shadows for condition in _lira(job, grid)]
    if job.input.get("poisoned"):
        conditions += [_brainwash(grid) for grid in _by_release(job, "poisoned")]
    results, curves = [_constant_students(grid) for grid in shadows], []
    for condition in conditions:
        results += judge.results(condition)
        if condition.keys["records"] == "members":
            results += judge.audit(condition)
            curves += judge.curve(condition)
        for other in condition.beside(conditions):
            results += judge.differences(condition, other)
    write_table(tidy.frame(results), job.output.tidy)
    write_table(tidy.frame(curves), job.output.roc)
    return {"seed": job.params.seed}


def _by_release(job, name: str) -> Iterator[xr.Dataset]:
    """Grid of each condition and epsilon, shadow contexts in order. Raises AuditError for a missing shadow context."""
    grids = [read_grid(path) for path in several(job.input.get(name))]
    whole = xr.concat(grids, "release", data_vars="minimal", coords="minimal", combine_attrs="override")
    sets = np.unique(whole["set"].values)
    for condition, epsilon in dict.fromkeys(zip(whole.arm.values, whole.epsilon.values, strict=True)):
        one = whole.isel(release=(whole.arm.values == condition) & (whole.epsilon.values == epsilon)).sortby("set")
        if not np.array_equal(one["set"].values, sets):
            where = f"tabpate, data set {job.wildcards.dataset}, condition {condition}, epsilon {epsilon:g}"
            raise AuditError(f"{where}: {one.sizes['release']} of {len(sets)} shadow contexts; rerun its shards")
        keys = {"dataset": job.wildcards.dataset, "arm": str(condition), "epsilon": f"{epsilon:g}"}
        yield one.rename(release="model").assign_attrs(keys=keys)


def _constant_students(grid: xr.Dataset) -> dict[str, Any]:
    answers = grid.logits.values.argmax(-1)
    constant = (answers == answers[:, :1]).all(1)
    method = "shadow contexts whose student gives one answer for all private and test records"
    return tidy.row(
        STUDY, grid.attrs["keys"], ATTACKED, constant.sum(), unit="contexts", n=len(constant), method=method
    )


def _lira(job, grid: xr.Dataset) -> Iterator[AttackedCondition]:
    """LiRA on the private records and, as negative control, on others with the same random memberships for all."""
    members, others = (grid.isel(record=chosen) for chosen in (grid.member.values, ~grid.member.values))
    yield _attacked(members, "lira", "members", ratio(confidence(members)), members.design.values)
    units = np.unique(others.unit.values, return_inverse=True)[1]
    rng = seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "placebo")
    membership = membership_matrices.expand(
        membership_matrices.balanced(grid.sizes["model"], units.max() + 1, rng), units
    )
    yield _attacked(others, "lira", "placebo", ratio(confidence(others)), membership)


def _brainwash(grid: xr.Dataset) -> AttackedCondition:
    """Brainwash: index of the smallest poison count that makes the student wrong, one past the last if none does."""
    wrong = grid.wrong.values
    budgets = wrong.shape[-1]
    places = np.where(wrong.any(-1), wrong.argmax(-1), budgets)
    return _attacked(grid, "brainwash", "targets", fewest_poisons(places), grid.design.values, budgets)


def _attacked(
    grid: xr.Dataset, name: str, records: str, attack: Attack, membership: np.ndarray, budgets: int = 0
) -> AttackedCondition:
    """The attack `name` on some records; budgets: number of poison counts of Brainwash."""
    # Records of the negative control have whole columns, in one block.
    scheme = COLUMNS if records == "placebo" else Scheme.of(grid.attrs)
    attacked = Attacked(grid.record.values, attack, membership, grid.unit.values, scheme)
    return AttackedCondition(grid.attrs["keys"] | {"attack": name, "records": records}, attacked, budgets)


if __name__ == "__main__":
    run(main, globals())
