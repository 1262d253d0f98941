"""Judge the probe against the ground truth of shadow models: LiRA, memorized records, and what the probe sees of them.

python workflow_scripts/iclmem/judge_shadows.py --input 0.nc 1.nc --output tidy=ground_truth.parquet \
    --params '{"seed": 1, "permutations": 999, "replicates": 200,
        "arms": {"slow": {"labels": "normal", "learning_rate": 1e-4}}}'

Inputs are the shards of `iclmem_probe_shadows` of all data sets and conditions, in any order; `arms` has the settings
of their conditions.
"""

from itertools import groupby

from memaudit.common import tidy
from memaudit.common.io import read_grid, write_table
from memaudit.studies.iclmem.shadow_ground_truth import join_models
from memaudit.studies.iclmem.shadow_verdicts import verdict_rows
from memaudit.workflow.job import run


def main(job):
    params, rows = job.params, []
    settings = {name: getattr(params, name) for name in ("seed", "permutations", "replicates")}
    for (dataset, arm), shards in _by_condition(map(read_grid, job.input)):
        condition = params.arms[arm]
        keys = {"dataset": dataset, "arm": arm, "labels": condition["labels"]}
        keys["learning_rate"] = f"{condition['learning_rate']:g}"
        models = sum(shard.sizes["model"] for shard in shards)
        rows += verdict_rows(join_models(shards), models, keys, settings)
    write_table(tidy.frame(rows), job.output.tidy)
    return {"seed": params.seed}


def _by_condition(grids):
    """(data set, condition) and its shards."""
    named = [((grid.attrs["dataset"], grid.attrs["arm"]), grid) for grid in grids]
    for name, group in groupby(sorted(named, key=lambda pair: pair[0]), key=lambda pair: pair[0]):
        yield name, [grid for _, grid in group]


if __name__ == "__main__":
    run(main, globals())
