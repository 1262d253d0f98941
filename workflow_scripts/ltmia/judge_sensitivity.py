"""How the learned attack depends on the number of training combinations, or on each group of features.

python workflow_scripts/ltmia/judge_sensitivity.py --input scores=diversity_scores.parquet results=results.parquet \
    --output diversity.parquet --wildcards '{"part": "diversity"}' --params '{"seed": 1, "replicates": 200,
        "fpr": [0.01], "training": [["gpt2", "scipy", "full"]], "held_out": [["mamba2", "numpy", "full"]],
        "families": {"gpt2": "transformer", "mamba2": "state space"}, "ways": {"full": "full"},
        "contents": {"scipy": "text", "numpy": "code"}, "samples": 400}'

Inputs: of part `diversity` what `ltmia_measure_diversity` writes, of `importance` what `ltmia_permute_features` does;
and the results of `ltmia_judge_attacks`, which say what targets are fit. These are jobs of their own, so that one that
fails costs its own tables alone.
"""

from memaudit.common import tidy
from memaudit.common.io import read_table, write_table
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION
from memaudit.studies.ltmia.transfer_evaluation import Study
from memaudit.workflow.job import run

GIVEN = ("training", "held_out", "families", "contents", "ways", "fpr", "replicates", "seed")


def main(job):
    params, scores = job.params, read_table(job.input.scores)
    if scores.empty:  # ltmia/diversity/combinations: []
        write_table(tidy.frame([]), job.output[0])
        return {"seed": params.seed}
    given = {name: getattr(params, name) for name in GIVEN}
    study = Study(scores, **given, controls={}, sizes={}, unfit=unfit(read_table(job.input.results)))
    if job.wildcards.part == "diversity":
        rows = study.diversity(scores, params.training, params.samples)
    else:
        rows = study.importance(scores, params.families)
    write_table(tidy.frame(list(rows)), job.output[0])
    return {"seed": params.seed}


def unfit(results):
    """Names of targets that do not pass the blind check."""
    checks = tidy.expand(results[results["metric"] == "fit for attacks"])
    return checks.loc[checks["estimate"] == 0, list(COMBINATION)].astype(str).values.tolist()


if __name__ == "__main__":
    run(main, globals())
