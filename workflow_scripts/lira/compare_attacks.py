"""Evaluate every attack on one score matrix: AUC and TPR with intervals, randomisation nulls and a negative control.

python workflow_scripts/lira/compare_attacks.py --input wine.nc --output tidy=attacks.parquet roc=roc.parquet \
    --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "lira": {"fpr": [0.1, 0.01], "replicates": 200, "permutations": 99,
        "rmia": {"gamma": 2.0, "offline_a": 0.3}}}'

LiRA's fits leave the target and a partner from the other side out, so that chance alone gives 0.5 at any number of
models; "as published" leaves out the target alone. The negative control (placebo) attacks
records that are in no context; a matrix without such records has neither the control nor attacks that need them.
"""

from collections.abc import Iterator

import numpy as np

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.registry import ON_ONE_MATRIX, on_confidence
from memaudit.common import seeds, tidy
from memaudit.common.io import read_grid, write_table
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.attack_performance import (
    STRICT_ROC_FPRS,
    curve_rows,
    judge_attack,
    judge_options,
    roc_band,
    rows,
)
from memaudit.statistics.epsilon_bounds import best_record_scores, clopper_pearson_roc
from memaudit.statistics.roc import resolved
from memaudit.studies.lira.score_comparison import computable
from memaudit.workflow.job import run

CONTROL = "lira mean"


def main(job):
    lira, dataset = job.params.lira, job.wildcards.dataset
    grid = read_grid(job.input[0])
    members, others = (grid.isel(record=chosen) for chosen in (grid.member.values, ~grid.member.values))
    signals, membership = members.signal.values.astype(float), members.design.values
    options = judge_options(lira)
    population = others.signal.values.astype(float)
    compared = on_confidence(computable(ON_ONE_MATRIX, population), signals, population, lira["rmia"])

    results = []
    for name, attack in compared.items():
        rng = seeds.generator(job.params.seed, "lira", dataset, "attack", name)
        drawn = {"groups": members.unit.values, "scheme": Scheme.of(grid.attrs)}
        estimates = judge_attack(attack, membership, rng=rng, **drawn, **options)
        results += rows("lira", {"dataset": dataset, "records": "members", "attack": name}, estimates)
        print(f"{name}: AUC {estimates[0].estimate:.3f}", flush=True)
    rng = seeds.generator(job.params.seed, "lira", dataset, "placebo")
    if others.sizes["record"]:
        drawn = membership_matrices.expand(*_control_membership(grid.draw, len(membership), others.unit.values, rng))
        control = compared[CONTROL]._replace(signals=population)
        estimates = judge_attack(control, drawn, rng=rng, groups=others.unit.values, **options)
        results += rows("lira", {"dataset": dataset, "records": "placebo", "attack": CONTROL}, estimates)
    write_table(tidy.frame(results), job.output.tidy)

    curves = {"naive": "lira", "pp": "postprocessed"}
    points = [row for name, method in curves.items() for row in _curve(name, method, members, lira, rng)]
    points += _best_record(signals, membership, dataset, min(lira["fpr"]), rng)
    write_table(tidy.frame(points), job.output.roc)
    return {"seed": job.params.seed}


def _control_membership(
    draw: str, models: int, units: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A membership matrix of the study's own kind that no model has used; and the units that it is drawn for."""
    codes = np.unique(units, return_inverse=True)[1]
    draws = membership_matrices.balanced if draw == "balanced" else membership_matrices.bernoulli
    return draws(models, codes.max() + 1, rng), codes


def _curve(strategy: str, method: str, grid, lira: dict, rng: np.random.Generator) -> Iterator[dict]:
    """Tidy rows of the ROC curve of a strategy's scores, with its band."""
    membership = grid.design.values
    # As in the strategies: the target alone leaves its fits.
    scores = calibrate(grid.signal.values.astype(float), membership, method, leave="self")
    options = {"groups": grid.unit.values, "replicates": lira["replicates"]}
    band = roc_band(scores, membership, STRICT_ROC_FPRS, rng=rng, **options)
    keys = {"dataset": grid.dataset, "strategy": strategy}
    made = f"two-way bootstrap, {lira['replicates']} replicates; target left out"
    return curve_rows("lira", keys, STRICT_ROC_FPRS, band, membership, made)


def _best_record(
    signals: np.ndarray, membership: np.ndarray, dataset: str, fpr: float, rng: np.random.Generator
) -> Iterator[dict]:
    """ROC curve of the record that is predicted to have the highest TPR; its entries are independent."""
    scores, member = best_record_scores(signals, membership, fpr, rng)
    fprs = STRICT_ROC_FPRS[resolved(STRICT_ROC_FPRS, member)]
    for at, (tpr, low, high) in zip(fprs, clopper_pearson_roc(scores, member, fprs), strict=True):
        keys = {"dataset": dataset, "strategy": "best_record", "fpr": f"{at:.6g}"}
        made = "Clopper-Pearson, record chosen on the other half of the models"
        yield tidy.row("lira", keys, "roc_tpr", tpr, low=low, high=high, n=member.size, method=made, null=at)


if __name__ == "__main__":
    run(main, globals())
