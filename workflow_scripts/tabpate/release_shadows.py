"""Release PATE students of a shard of shadow contexts, and query them with all private and all test records.

python workflow_scripts/tabpate/release_shadows.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json --output 0.nc \
    --wildcards '{"dataset": "wine", "shard": "0"}' --params '{"seed": 1, "sets": 32, "shard": 16, "delta": 1e-5,
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null},
        "pairs": [["non_private", null], ["private", 1.0], ["private", 10.0]],
        "arms": {"private": {"method": "tabpate", "settings": {"queries": 100, "teachers": 10}}}}'

A set is half of the private records, the same for all conditions, and each condition runs its whole mechanism on it;
`non_private`, which has no epsilon, has the half itself as context. Records that are held out as public are in no set.
The answers of each finished student are kept: a killed job continues.
"""

import numpy as np

from memaudit.data.public_private_split import PRIVATE, TEST
from memaudit.io import write_grid
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.pate_teachers import asker
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.studies.tabpate.shadow_students import NON_PRIVATE, CachedPredictions, draw
from memaudit.workflow.job import run
from memaudit.workflow.progress_bar import steps
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, wanted = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    shadows = draw(table, wanted)
    model = load(files.model, job.threads, table.public.schema())
    rows = shadows.largest if NON_PRIVATE in dict(wanted.pairs) else 0
    model.limits.check(f"{files.model}, data set {job.wildcards.dataset}", rows, table.x.shape[1], table.classes)
    ask = asker(model, table.classes, job.resources.get("forward_mb", MEMORY))
    queried = np.flatnonzero(np.isin(shadows.role, [PRIVATE, TEST]))

    first = int(job.wildcards.shard) * wanted.shard
    sets = range(first, min(first + wanted.shard, wanted.sets))
    logits = []
    for number in steps(sets, "shadow sets"):
        private, known = shadows.private(number), CachedPredictions(ask)
        for condition, epsilon in wanted.pairs:
            at = condition, epsilon, private, table.x[queried], known
            logits.append(scratch.part(f"{number:06d} {condition} {epsilon}", lambda at=at: shadows.answers(*at)))
    grid = shadows.grid(sets, wanted.pairs, queried).assign(logits=(("release", "record", "class"), np.stack(logits)))
    write_grid(grid.assign_attrs(mode=model.mode), job.output[0])
    return {"seed": wanted.seed, "device": device(), "dtype": "float32"}


if __name__ == "__main__":
    run(resumable(main), globals())
