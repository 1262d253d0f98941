"""Compute empirical lower bounds on epsilon and mu from attacks' rates, and from one context, beside a known mechanism.

mu is that of Gaussian DP. Bounds from one context take the first one: its records are canaries, in or out at random.

python workflow_scripts/lira/audit_privacy.py --input wine.nc --output audit.parquet \
    --params '{"seed": 1, "fpr": [0.1, 0.01], "rmia": {"gamma": 1.0, "offline_a": 0.3},
        "audit": {"delta": 1e-5, "toy_epsilons": [1.0], "toy_models": 512, "toy_records": 100}}'
"""

import numpy as np

from memaudit.attacks.calibrate import calibrate
from memaudit.common import seeds, tidy
from memaudit.common.io import read_grid, write_table
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import one_run_bounds
from memaudit.statistics.epsilon_bounds import ADJACENCY, AuditPoint, audit_best_record, audit_pooled, gaussian_toy
from memaudit.studies.lira.score_comparison import Matrix
from memaudit.workflow.job import run


def main(job):
    audit, delta, rows = job.params.audit, job.params.audit["delta"], []
    for path in job.input:
        whole = read_grid(path)
        grid = whole.isel(record=whole.member.values)
        keys = {
            "dataset": grid.dataset,
            "models": grid.sizes["model"],
            "adjacency": ADJACENCY[grid.draw],
            "delta": delta,
        }
        signals, membership = grid.signal.values.astype(float), grid.design.values
        others = whole.signal.values[:, ~whole.member.values].astype(float)
        matrix = Matrix(signals, membership, others, grid.unit.values, Scheme.of(grid.attrs))
        best = dict(matrix.scores(membership, job.params.rmia, ["combined"]))
        rows += _audit(signals, membership, keys, job.params, grid.unit.values, best)
        rows += _one_run(signals, membership, keys, grid.draw, grid.unit.values)
    for epsilon in audit["toy_epsilons"]:
        rng = seeds.generator(job.params.seed, "lira", "audit", "toy", epsilon)
        # Records of every sensitivity up to 1: the mechanism is as leaky as stated for the last ones alone.
        sensitivities = np.linspace(0, 1, audit["toy_records"])
        signals, membership = gaussian_toy(epsilon, delta, audit["toy_models"], rng, sensitivities)
        keys = {"dataset": "gaussian_toy", "models": len(membership), "adjacency": "add/remove", "delta": delta}
        keys["true_epsilon"] = epsilon
        rows += _audit(signals, membership, keys, job.params)
        rows += _one_run(signals, membership, keys, "bernoulli")
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": job.params.seed}


def _audit(
    signals: np.ndarray,
    membership: np.ndarray,
    keys: dict,
    params,
    units: np.ndarray | None = None,
    scores: dict[str, np.ndarray] | None = None,
) -> list[dict]:
    """Rows of the bounds from LiRA's scores, from further scores (model, record), and from the best record."""
    pooled = {
        "naive": calibrate(signals, membership, "lira"),
        "pp": calibrate(signals, membership, "postprocessed"),
        **(scores or {}),
    }
    rows = []
    for fpr in params.fpr:
        rng = seeds.generator(params.seed, "lira", "audit", *keys.values(), fpr)
        points = [
            audit_pooled(name, scores, membership, fpr, keys["delta"], rng, units) for name, scores in pooled.items()
        ]
        points.append(audit_best_record(signals, membership, fpr, keys["delta"], rng))
        rows += [row for point in points for row in _rows(point, keys | {"fpr": fpr, "score": point.score})]
    return rows


def _rows(point: AuditPoint, keys: dict) -> list[dict]:
    common = {"n": point.cells, "method": point.method}
    return [
        tidy.row("lira", keys, "epsilon", point.epsilon, unit="nats", low=point.epsilon, null=0.0, **common),
        tidy.row("lira", keys, "mu", point.mu, unit="mu", low=point.mu, null=0.0, **common),
        tidy.row("lira", keys, "audited_tpr", point.tpr, low=point.tpr_low, null=point.target_fpr, **common),
        tidy.row("lira", keys, "audited_fpr", point.fpr, high=point.fpr_high, null=point.target_fpr, **common),
    ]


def _one_run(
    signals: np.ndarray, membership: np.ndarray, keys: dict, draw: str, units: np.ndarray | None = None
) -> list[dict]:
    """Rows of the bounds from the first context; none for fixed-size sampling, where records are not independent.

    Under Bernoulli sampling the score is LiRA's, fitted on the other contexts, without pairs: the pair of a context
    depends on its membership. Under balanced sampling the others tell each membership: the raw signal is the score.
    """
    if draw == "fixed_size":
        return []
    if units is not None:
        # Records of one unit are in together: one of them is a canary.
        first = np.unique(units, return_index=True)[1]
        signals, membership = signals[:, first], membership[:, first]
    fitted = draw == "bernoulli"
    scores = calibrate(signals, membership, "lira", targets=1, leave="self")[0] if fitted else signals[0]
    bound = one_run_bounds.audit_one_run(scores, membership[0], keys["delta"])
    named = keys | {"score": "one_context"}
    method = f"{'LiRA' if fitted else 'raw signal'}, {bound.correct} of {bound.guesses} guesses correct: "
    found = {"epsilon": (bound.epsilon, "Steinke et al. 2023"), "mu": (bound.mu, "Mahloujifar et al. 2024")}
    return [
        tidy.row("lira", named, metric, value, unit="nats" if metric == "epsilon" else "mu", low=value, null=0.0)
        | {"n": membership.shape[1], "method": method + source}
        for metric, (value, source) in found.items()
    ]


if __name__ == "__main__":
    run(main, globals())
