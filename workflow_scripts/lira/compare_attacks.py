"""Judge every attack on one score matrix: AUC, TPR and their intervals, beside a permutation null and a placebo.

python workflow_scripts/lira/compare_attacks.py --input wine.nc --output tidy=attacks.parquet roc=roc.parquet \
    --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "lira": {"fpr": [0.1, 0.01], "replicates": 200, "permutations": 99,
        "rmia": {"gamma": 2.0, "offline_a": 0.3}}}'

LiRA's fits leave the target and a partner from the other side out, so that chance alone gives 0.5 at any number of
models; "as published" leaves out the target alone. The placebo asks the same about records that are in no context.
"""

from collections.abc import Iterator

import numpy as np

from memaudit import seeds, tidy
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.registry import ON_ONE_MATRIX, on_confidence
from memaudit.data import membership_matrices
from memaudit.io import read_grid, write_table
from memaudit.statistics.attack_performance import judge_attack, roc_band, rows
from memaudit.workflow.job import run

PLACEBO = "lira mean"
ROC_FPRS = np.geomspace(1e-4, 1, 41)


def main(job):
    lira, dataset = job.params.lira, job.wildcards.dataset
    grid = read_grid(job.input[0])
    members, others = (grid.isel(record=chosen) for chosen in (grid.member.values, ~grid.member.values))
    signals, design = members.signal.values.astype(float), members.design.values
    asked = {"fprs": lira["fpr"], "replicates": lira["replicates"], "permutations": lira["permutations"]}
    compared = on_confidence(ON_ONE_MATRIX, signals, others.signal.values.astype(float), lira["rmia"])

    results = []
    for name, attack in compared.items():
        rng = seeds.generator(job.params.seed, "lira", dataset, "attack", name)
        estimates = judge_attack(attack, design, rng=rng, groups=members.unit.values, **asked)
        results += rows("lira", {"dataset": dataset, "records": "members", "attack": name}, estimates)
        print(f"{name}: AUC {estimates[0].estimate:.3f}", flush=True)
    rng = seeds.generator(job.params.seed, "lira", dataset, "placebo")
    shown = membership_matrices.expand(*_placebo_design(grid.draw, len(design), others.unit.values, rng))
    placebo = compared[PLACEBO]._replace(signals=others.signal.values.astype(float))
    estimates = judge_attack(placebo, shown, rng=rng, groups=others.unit.values, **asked)
    results += rows("lira", {"dataset": dataset, "records": "placebo", "attack": PLACEBO}, estimates)
    write_table(tidy.frame(results), job.output.tidy)

    curves = {"naive": "lira", "pp": "postprocessed"}
    write_table(
        tidy.frame([row for name, method in curves.items() for row in _curve(name, method, members, lira, rng)]),
        job.output.roc,
    )
    return {"seed": job.params.seed}


def _placebo_design(
    draw: str, models: int, units: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A design of the study's own kind, for show; and the units that it is drawn for."""
    codes = np.unique(units, return_inverse=True)[1]
    shown = membership_matrices.balanced if draw == "balanced" else membership_matrices.bernoulli
    return shown(models, codes.max() + 1, rng), codes


def _curve(strategy: str, method: str, grid, lira: dict, rng: np.random.Generator) -> Iterator[dict]:
    design = grid.design.values
    # As in the strategies: the target alone leaves its fits.
    scores = calibrate(grid.signal.values.astype(float), design, method, leave="self")
    band = roc_band(scores, design, ROC_FPRS, rng=rng, groups=grid.unit.values, replicates=lira["replicates"])
    for fpr, (tpr, low, high) in zip(ROC_FPRS, band, strict=True):
        keys = {"dataset": grid.dataset, "strategy": strategy, "fpr": f"{fpr:.6g}"}
        made = f"two-way bootstrap, {lira['replicates']} replicates; target left out"
        yield tidy.row("lira", keys, "roc_tpr", tpr, low=low, high=high, n=design.size, method=made, null=fpr)


if __name__ == "__main__":
    run(main, globals())
