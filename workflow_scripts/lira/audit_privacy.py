"""Empirical lower bounds on epsilon: how much privacy do an attack's rates refute? Beside a mechanism of known epsilon.

python workflow_scripts/lira/audit_privacy.py --input wine.nc --output audit.parquet \
    --params '{"seed": 1, "fpr": [0.1, 0.01],
        "audit": {"delta": 1e-5, "toy_epsilons": [1.0], "toy_models": 512, "toy_records": 100}}'
"""

import numpy as np

from memaudit import seeds, tidy
from memaudit.attacks.calibrate import calibrate
from memaudit.io import read_grid, write_table
from memaudit.statistics.epsilon_bounds import ADJACENCY, AuditPoint, audit_best_record, audit_pooled, gaussian_toy
from memaudit.workflow.job import run


def main(job):
    audit, delta, rows = job.params.audit, job.params.audit["delta"], []
    for path in job.input:
        grid = read_grid(path)
        grid = grid.isel(record=grid.member.values)
        keys = {
            "dataset": grid.dataset,
            "models": grid.sizes["model"],
            "adjacency": ADJACENCY[grid.draw],
            "delta": delta,
        }
        rows += _audit(grid.signal.values.astype(float), grid.design.values, keys, job.params, grid.unit.values)
    for epsilon in audit["toy_epsilons"]:
        rng = seeds.generator(job.params.seed, "lira", "audit", "toy", epsilon)
        # Records of every sensitivity up to 1: the mechanism is as leaky as stated for the last ones alone.
        sensitivities = np.linspace(0, 1, audit["toy_records"])
        signals, design = gaussian_toy(epsilon, delta, audit["toy_models"], rng, sensitivities)
        keys = {"dataset": "gaussian_toy", "models": len(design), "adjacency": "add/remove", "delta": delta}
        keys["true_epsilon"] = epsilon
        rows += _audit(signals, design, keys, job.params)
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": job.params.seed}


def _audit(signals: np.ndarray, design: np.ndarray, keys: dict, params, units: np.ndarray | None = None) -> list[dict]:
    pooled = {
        "naive": calibrate(signals, design, "lira"),
        "pp": calibrate(signals, design, "postprocessed"),
    }
    rows = []
    for fpr in params.fpr:
        rng = seeds.generator(params.seed, "lira", "audit", *keys.values(), fpr)
        points = [audit_pooled(name, scores, design, fpr, keys["delta"], rng, units) for name, scores in pooled.items()]
        points.append(audit_best_record(signals, design, fpr, keys["delta"], rng))
        rows += [row for point in points for row in _rows(point, keys | {"fpr": fpr, "score": point.score})]
    return rows


def _rows(point: AuditPoint, keys: dict) -> list[dict]:
    common = {"n": point.cells, "method": point.method}
    return [
        tidy.row("lira", keys, "epsilon", point.epsilon, unit="nats", low=point.epsilon, null=0.0, **common),
        tidy.row("lira", keys, "audited_tpr", point.tpr, low=point.tpr_low, null=point.target_fpr, **common),
        tidy.row("lira", keys, "audited_fpr", point.fpr, high=point.fpr_high, null=point.target_fpr, **common),
    ]


if __name__ == "__main__":
    run(main, globals())
