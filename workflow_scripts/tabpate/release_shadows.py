"""Release PATE students from a shard of shadow contexts, and query them with all private and all test records.

python workflow_scripts/tabpate/release_shadows.py --input records=records.parquet schema=schema.json \
    public=config/public/wine.yaml key=key model=model.json --output 0.nc \
    --wildcards '{"dataset": "wine", "shard": "0"}' --params '{"seed": 1, "sets": 32, "shard": 16, "delta": 1e-5,
        "roles": {"test": 0.25, "held_out": 0.3, "max_records": null},
        "pairs": [["non_private", null], ["private", 1.0], ["private", 10.0]],
        "arms": {"private": {"method": "tabpate", "settings": {"queries": 100, "teachers": 10}}}}'

A shadow context is half of the private records, the same half for all conditions. Each condition runs its whole
mechanism on it; `non_private`, which has no epsilon, uses the half itself as context. Held-out public records are in no
shadow context. The answers of each finished student are kept, and a killed job continues.
"""

import numpy as np

from memaudit.common.io import write_grid
from memaudit.common.progress_bar import steps
from memaudit.data.public_private_split import PRIVATE, TEST
from memaudit.models.batched_queries import MEMORY
from memaudit.models.model_folder import device, load
from memaudit.privacy.pate_teachers import predictor
from memaudit.studies.tabpate.evaluation_tables import open_table
from memaudit.studies.tabpate.shadow_students import NON_PRIVATE, CachedPredictions, draw
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    files, params = job.input, job.params
    table = open_table(files.records, files.schema, files.public, files.key)
    shadows = draw(table, params)
    model = load(files.model, job.threads, table.public.schema())
    rows = shadows.largest if NON_PRIVATE in dict(params.pairs) else 0
    model.limits.check(f"{files.model}, data set {job.wildcards.dataset}", rows, table.x.shape[1], table.classes)
    predict = predictor(model, table.classes, job.resources.get("forward_mb", MEMORY))
    queried = np.flatnonzero(np.isin(shadows.role, [PRIVATE, TEST]))

    first = int(job.wildcards.shard) * params.shard
    sets = range(first, min(first + params.shard, params.sets))
    logits = []
    for number in steps(sets, "shadow contexts"):
        private, cached = shadows.private(number), CachedPredictions(predict)
        for condition, epsilon in params.pairs:
            student = condition, epsilon, private, table.x[queried], cached
            name = f"{number:06d} {condition} {epsilon}"
            logits.append(scratch.part(name, lambda student=student: shadows.answers(*student)))
    grid = shadows.grid(sets, params.pairs, queried).assign(logits=(("release", "record", "class"), np.stack(logits)))
    write_grid(grid.assign_attrs(mode=model.mode), job.output[0])
    return {"seed": params.seed, "device": device(), "dtype": "float32"}


if __name__ == "__main__":
    run(resumable(main), globals())
