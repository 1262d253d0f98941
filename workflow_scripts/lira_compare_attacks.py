"""Judge every attack on one signal grid: AUC, TPR and their intervals, beside a permutation null and a placebo.

python workflow_scripts/lira_compare_attacks.py --input wine.nc --output tidy=attacks.parquet roc=roc.parquet \
    --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "lira": {"fpr": [0.1, 0.01], "replicates": 200, "permutations": 99,
        "rmia": {"gamma": 2.0, "offline_a": 0.3}}}'

LiRA's fits leave the target and a partner from the other side out, so that chance alone gives 0.5 at any number of
models; "as published" leaves out the target alone. The placebo asks the same about records that are in no context.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from memaudit import seeds, tidy
from memaudit.calibration.attacks import Attack, attacks
from memaudit.calibration.calibrate import calibrate
from memaudit.data import designs
from memaudit.evaluation import bootstrap, roc
from memaudit.evaluation.judge import Estimate, judge, permutation_null
from memaudit.io import read_grid, write_table
from memaudit.job import run

PLACEBO = "lira mean"
ROC_FPRS = np.geomspace(1e-4, 1, 41)


def main(job):
    lira, dataset = job.params.lira, job.wildcards.dataset
    grid = read_grid(job.input[0])
    members, others = (grid.isel(record=chosen) for chosen in (grid.member.values, ~grid.member.values))
    signals, design = members.signal.values.astype(float), members.design.values
    compared = attacks(signals, others.signal.values.astype(float), lira["rmia"])

    rows = []
    for name, attack in compared.items():
        rng = seeds.generator(job.params.seed, "lira", dataset, "attack", name)
        estimates = _judged(attack, design, members.unit.values, lira, rng)
        rows += _rows(estimates, {"dataset": dataset, "records": "members", "attack": name})
        print(f"{name}: AUC {estimates[0].estimate:.3f}", flush=True)
    rng = seeds.generator(job.params.seed, "lira", dataset, "placebo")
    shown = designs.expand(*_placebo_design(grid.draw, len(design), others.unit.values, rng))
    placebo = compared[PLACEBO]._replace(signals=others.signal.values.astype(float))
    estimates = _judged(placebo, shown, others.unit.values, lira, rng)
    rows += _rows(estimates, {"dataset": dataset, "records": "placebo", "attack": PLACEBO})
    write_table(tidy.frame(rows), job.output.tidy)

    curves = {"naive": "lira", "pp": "postprocessed"}
    write_table(
        tidy.frame([row for name, method in curves.items() for row in _curve(name, method, members, lira, rng)]),
        job.output.roc,
    )
    return {"seed": job.params.seed}


def _judged(
    attack: Attack, design: np.ndarray, groups: np.ndarray, lira: dict, rng: np.random.Generator
) -> list[Estimate]:
    values, method, options = attack
    null = permutation_null(values, design, method, rng, lira["permutations"], fprs=lira["fpr"], **options)
    scores = calibrate(values, design, method, **options)
    return judge(scores, design, fprs=lira["fpr"], rng=rng, groups=groups, replicates=lira["replicates"], null=null)


def _placebo_design(
    draw: str, models: int, units: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A design of the study's own kind, for show; and the units that it is drawn for."""
    codes = np.unique(units, return_inverse=True)[1]
    shown = designs.balanced if draw == "balanced" else designs.bernoulli
    return shown(models, codes.max() + 1, rng), codes


def _rows(estimates: list[Estimate], keys: dict[str, Any]) -> Iterator[dict]:
    for estimate in estimates:
        common = {"n": estimate.n, "method": estimate.method}
        interval = {"low": estimate.low, "high": estimate.high}
        yield tidy.row("lira", keys, estimate.metric, estimate.estimate, null=estimate.null, **interval, **common)
        yield tidy.row("lira", keys, f"{estimate.metric} p-value", estimate.p_value, unit="probability", **common)
        yield tidy.row("lira", keys, f"{estimate.metric} detected", estimate.detected, unit="yes or no", **common)


def _curve(strategy: str, method: str, grid, lira: dict, rng: np.random.Generator) -> Iterator[dict]:
    design = grid.design.values
    # As in the strategies: the target alone leaves its fits.
    scores = calibrate(grid.signal.values.astype(float), design, method, leave="self")
    ranking = roc.rank(scores, design)
    weights = bootstrap.two_way_weights(*design.shape, lira["replicates"], rng, grid.unit.values)
    replicates = bootstrap.tpr_replicates(ranking, ROC_FPRS, design.shape, weights)
    tprs = roc.at_fpr(*roc.curve(ranking), ROC_FPRS)
    for fpr, tpr, sample in zip(ROC_FPRS, tprs, replicates.T, strict=True):
        low, high = bootstrap.interval(sample)
        keys = {"dataset": grid.dataset, "strategy": strategy, "fpr": f"{fpr:.6g}"}
        made = f"two-way bootstrap, {lira['replicates']} replicates; target left out"
        yield tidy.row("lira", keys, "roc_tpr", tpr, low=low, high=high, n=design.size, method=made, null=fpr)


if __name__ == "__main__":
    run(main, globals())
