"""Poison shadow contexts with mislabelled copies of a target, release, and query the PATE student with the target.

Brainwash on the student: TabPATE, Section 5.3 and Appendix A.1.

python workflow_scripts/tabpate/poison_shadows.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json --output 0.nc \
    --wildcards '{"dataset": "wine", "shard": "0"}' --params '{"seed": 1, "sets": 16, "shard": 16, "delta": 1e-5,
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null}, "targets": 4, "budgets": [1, 4, 16],
        "pairs": [["non_private", null], ["private", 10.0]],
        "arms": {"private": {"method": "tabpate", "settings": {"queries": 100, "teachers": 10}}}}'

Each copy is a separate privacy unit that the adversary adds: the guarantee for the target does not cover it, and
its own id determines its shard. Each poison count is a separate release with fresh noise, and its owner would pay
for all of them. More copies can therefore correct an answer, and every count is queried. The adversary has the test
records: copies get the most likely wrong class by a context of these.
"""

from dataclasses import replace

import numpy as np

from memaudit import seeds
from memaudit.arrays import Indices
from memaudit.attacks.poisoning import reference_rows, runner_up
from memaudit.data.public_private_split import PRIVATE, TEST
from memaudit.io import write_grid
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.pate_teachers import asker
from memaudit.privacy.release_methods import Private
from memaudit.privacy.tabpate_release import Ask
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.studies.tabpate.shadow_students import CachedPredictions, Shadows, draw
from memaudit.workflow.job import run
from memaudit.workflow.progress_bar import steps
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, wanted = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    shadows, counts = draw(table, wanted), [0, *wanted.budgets]
    model = load(files.model, job.threads, table.public.schema())
    where, rows = f"{files.model}, data set {job.wildcards.dataset}", shadows.largest + max(counts)
    model.limits.check(where, rows, table.x.shape[1], table.classes)
    ask = asker(model, table.classes, job.resources.get("forward_mb", MEMORY))
    targets = _targets(shadows, wanted.targets)
    poison = scratch.part("poison", lambda: _poison(shadows, targets, ask))

    first = int(job.wildcards.shard) * wanted.shard
    sets = range(first, min(first + wanted.shard, wanted.sets))
    wrong = []
    for number in steps(sets, "shadow sets"):
        # Copies change their own shards alone: predictions of all other teachers are cached.
        known = CachedPredictions(ask)
        for condition, epsilon in wanted.pairs:
            at = number, condition, epsilon, targets, poison, counts, known
            wrong.append(scratch.part(f"{number:06d} {condition} {epsilon}", lambda at=at: _wrong(shadows, *at)))
    grid = shadows.grid(sets, wanted.pairs, targets).assign_coords(budget=counts)
    grid = grid.assign(wrong=(("release", "record", "budget"), np.stack(wrong)), poison_label=("record", poison))
    write_grid(grid.assign_attrs(mode=model.mode), job.output[0])
    return {"seed": wanted.seed, "device": device(), "dtype": "float32"}


def _targets(shadows: Shadows, count: int) -> Indices:
    """Positions of the records of `count` random private units."""
    members, table = np.flatnonzero(shadows.role == PRIVATE), shadows.table
    rng = seeds.generator(shadows.seed, "tabpate", table.public.dataset, "targets")
    chosen = rng.permutation(np.unique(table.units[members]))[:count]
    return members[np.isin(table.units[members], chosen)]


def _poison(shadows: Shadows, targets: Indices, ask: Ask) -> np.ndarray:
    """Poison label of each target: most likely wrong class by a context of as many test records as a shadow context."""
    table, others = shadows.table, np.flatnonzero(shadows.role == TEST)
    rng = seeds.generator(shadows.seed, "tabpate", table.public.dataset, "reference")
    known = others[reference_rows(table.y[others], shadows.largest, rng)]
    (logits,) = ask([(table.x[known], table.y[known])], table.x[targets])
    return runner_up(logits, table.y[targets], table.y[known])


def _wrong(
    shadows: Shadows,
    number: int,
    condition: str,
    epsilon: float | None,
    targets: Indices,
    poison: np.ndarray,
    counts: list[int],
    ask: Ask,
) -> np.ndarray:
    """(target, count) whether the student misclassifies a target after this number of copies was added."""
    wrong, private = np.zeros((len(targets), len(counts)), dtype=bool), shadows.private(number)
    for row, target, label in zip(wrong, targets, poison, strict=True):
        for place, copies in enumerate(counts):
            poisoned = _poisoned(private, shadows, target, label, copies)
            logits = shadows.answers(condition, epsilon, poisoned, shadows.table.x[[target]], ask)
            row[place] = logits[0].argmax() != shadows.table.y[target]
    return wrong


def _poisoned(private: Private, shadows: Shadows, target: int, label: int, copies: int) -> Private:
    """Private records with mislabelled copies of a target, each of a unit of its own."""
    name = shadows.table.records["id"].iloc[target]
    return replace(
        private,
        x=np.concatenate([private.x, np.repeat(shadows.table.x[[target]], copies, axis=0)]),
        y=np.append(private.y, np.full(copies, label)),
        units=[*private.units, *(f"copy {copy} of {name}" for copy in range(copies))],
    )


if __name__ == "__main__":
    run(resumable(main), globals())
