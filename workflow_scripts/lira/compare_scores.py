"""Compare LiRA's and RMIA's scores at growing numbers of shadow models: AUC, TPR, and differences from plain LiRA.

python workflow_scripts/lira/compare_scores.py --input wine.nc --output scores.parquet \
    --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "lira": {"sizes": [16, 32], "fpr": [0.01, 0.001], "replicates": 200,
        "rmia": {"gamma": 1.0, "offline_a": 0.3}}}'

The first number is 8, whatever the smallest of `sizes`: scores differ most where shadow models are few.
"""

from memaudit.common import seeds, tidy
from memaudit.common.io import read_grid, write_table
from memaudit.common.progress_bar import steps
from memaudit.data.membership_matrices import Scheme
from memaudit.studies.lira.score_comparison import FEWEST_MODELS, Matrix, compare
from memaudit.workflow.job import run


def main(job):
    lira, dataset = job.params.lira, job.wildcards.dataset
    grid = read_grid(job.input[0])
    members, others = (grid.isel(record=chosen) for chosen in (grid.member.values, ~grid.member.values))
    signals, population = (part.signal.values.astype(float) for part in (members, others))
    matrix = Matrix(signals, members.design.values, population, members.unit.values, Scheme.of(grid.attrs))
    rows = []
    for models in steps(sorted({FEWEST_MODELS, *lira["sizes"]}), "numbers of models"):
        rng = seeds.generator(job.params.seed, "lira", dataset, "scores", models)
        options = {name: lira[name] for name in ("rmia", "replicates")}
        rows += compare(matrix.first(models), {"dataset": dataset, "models": models}, rng, fprs=lira["fpr"], **options)
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": job.params.seed}


if __name__ == "__main__":
    run(main, globals())
