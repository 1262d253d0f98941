"""Poison shadow contexts with mislabelled duplicates of a target, and query their PATE students with the target.

Brainwash on the student: TabPATE, Section 5.3 and Appendix A.1.

python workflow_scripts/tabpate/poison_shadows.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json --output 0.nc \
    --wildcards '{"dataset": "wine", "shard": "0"}' --params '{"seed": 1, "sets": 16, "shard": 16, "delta": 1e-5,
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null}, "targets": 4, "budgets": [1, 4, 16],
        "pairs": [["non_private", null], ["private", 10.0]],
        "arms": {"private": {"method": "tabpate", "settings": {"queries": 100, "teachers": 10}}}}'

Each poison is a separate privacy unit that the adversary adds: the guarantee for the target does not cover it, and its
own id determines its shard. Each poison count is a separate release with fresh noise, whose budget the owner would pay
each time. More poisons can therefore correct an answer, so that every count is queried. The adversary has the test
records: poisons get the most likely wrong class by a context of these.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from memaudit.attacks.poisoning import reference_rows, runner_up
from memaudit.common import seeds
from memaudit.common.arrays import Indices
from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.data.public_private_split import PRIVATE, TEST
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.pate_teachers import predictor
from memaudit.privacy.teacher_shards import Predict, Private
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.studies.tabpate.shadow_students import CachedPredictions, Shadows, draw
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, params = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    shadows, counts = draw(table, params), [0, *params.budgets]
    model = load(files.model, job.threads, table.public.schema())
    where, rows = f"{files.model}, data set {job.wildcards.dataset}", shadows.largest + max(counts)
    model.limits.check(where, rows, table.x.shape[1], table.classes)
    predict = predictor(model, table.classes, job.resources.get("forward_mb", MEMORY))
    targets = _targets(shadows, params.targets)
    poison = scratch.part("poison", lambda: _poison(shadows, targets, predict))

    first = int(job.wildcards.shard) * params.shard
    sets = range(first, min(first + params.shard, params.sets))
    wrong = []
    for number in steps(sets, "shadow contexts"):
        # Poisons change their own shards alone: predictions of all other teachers are cached.
        cached = CachedPredictions(predict)
        for condition, epsilon in params.pairs:
            student, of_targets = partial(_wrong, shadows, number, condition, epsilon, cached, counts), []
            # A part for each target: all of a student's targets can take longer than a job may.
            for place, attacked in enumerate(zip(targets, poison, strict=True)):
                name = f"{number:06d} {condition} {epsilon} {place:04d}"
                of_targets.append(scratch.part(name, partial(student, *attacked)))
            wrong.append(np.stack(of_targets))
    grid = shadows.grid(sets, params.pairs, targets).assign_coords(budget=counts)
    grid = grid.assign(wrong=(("release", "record", "budget"), np.stack(wrong)), poison_label=("record", poison))
    write_grid(grid.assign_attrs(mode=model.mode), job.output[0])
    return {"seed": params.seed, "device": device(), "dtype": "float32"}


def _targets(shadows: Shadows, count: int) -> Indices:
    """Positions of the records of `count` random private units."""
    members, table = np.flatnonzero(shadows.role == PRIVATE), shadows.table
    rng = seeds.generator(shadows.seed, "tabpate", table.public.dataset, "targets")
    chosen = rng.permutation(np.unique(table.units[members]))[:count]
    return members[np.isin(table.units[members], chosen)]


def _poison(shadows: Shadows, targets: Indices, predict: Predict) -> np.ndarray:
    """Poison label of each target: most likely wrong class by a context of as many test records as a shadow context."""
    table, others = shadows.table, np.flatnonzero(shadows.role == TEST)
    rng = seeds.generator(shadows.seed, "tabpate", table.public.dataset, "reference")
    known = others[reference_rows(table.y[others], shadows.largest, rng)]
    (logits,) = predict([(table.x[known], table.y[known])], table.x[targets])
    return runner_up(logits, table.y[targets], table.y[known])


def _wrong(
    shadows: Shadows,
    number: int,
    condition: str,
    epsilon: float | None,
    predict: Predict,
    counts: list[int],
    target: int,
    label: int,
) -> np.ndarray:
    """(count,) whether the student misclassifies a target after this number of poisons was added."""
    wrong, private = np.zeros(len(counts), dtype=bool), shadows.private(number)
    for place, count in enumerate(counts):
        poisoned = _poisoned(private, shadows, target, label, count)
        logits = shadows.answers(condition, epsilon, poisoned, shadows.table.x[[target]], predict)
        wrong[place] = logits[0].argmax() != shadows.table.y[target]
    return wrong


def _poisoned(private: Private, shadows: Shadows, target: int, label: int, count: int) -> Private:
    """Private records with mislabelled duplicates of a target, each a separate unit."""
    target_id = shadows.table.records["id"].iloc[target]
    return replace(
        private,
        x=np.concatenate([private.x, np.repeat(shadows.table.x[[target]], count, axis=0)]),
        y=np.append(private.y, np.full(count, label)),
        units=[*private.units, *(f"copy {number} of {target_id}" for number in range(count))],
    )


if __name__ == "__main__":
    run(resumable(main), globals())
