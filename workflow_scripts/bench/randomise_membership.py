"""CPU time of LiRA's exact randomisation null on one score matrix, against scoring every redraw the plain way.

python workflow_scripts/bench/randomise_membership.py --output results/bench/randomise_membership.json \
    --params '{"models": 256, "records": 1000, "draws": 999, "plain_draws": 20}'

The plain way scores every redraw with `attacks.calibrate` and reads the ROC curve. Aim: 999 redraws of 256 models and
1,000 records in at most 30 CPU seconds.
"""

from pathlib import Path

import numpy as np

from memaudit.attacks.calibrate import calibrate
from memaudit.common.seeds import generator
from memaudit.data.membership_matrices import Scheme, balanced
from memaudit.statistics import roc
from memaudit.statistics.randomisation_tests import randomisation_null
from memaudit.workflow.bench_card import cpu_seconds, write_card
from memaudit.workflow.job import run

FPRS = (0.1, 0.01, 0.001)
SCHEME = Scheme(block=16)


def main(job):
    params, rng = job.params, generator(1, "bench", "randomisation")
    membership = balanced(params.models, params.records, rng, SCHEME.block)
    signals = rng.normal(size=membership.shape)
    null, seconds = cpu_seconds(
        lambda: randomisation_null(signals, membership, "lira", rng, params.draws, fprs=FPRS, scheme=SCHEME)
    )
    plain, plain_seconds = cpu_seconds(lambda: plain_null(signals, membership, params.plain_draws, rng))
    report = {
        "models": params.models,
        "records": params.records,
        "draws": params.draws,
        "cpu_seconds": seconds,
        "plain_cpu_seconds": plain_seconds * params.draws / params.plain_draws,
        "mean_auc": float(null.values[:, 0].mean()),
        "plain_mean_auc": float(plain[:, 0].mean()),
    }
    write_card(report, job.output[0], ("numpy",))
    print(Path(job.output[0]).read_text())


def plain_null(signals: np.ndarray, membership: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """AUC and TPRs (draw, metric) of redrawn matrices."""
    values = []
    for _ in range(draws):
        redrawn = SCHEME.redraw(membership, None, rng)
        curve = roc.curve(roc.rank(calibrate(signals, redrawn, "lira"), redrawn))
        values.append([roc.area(*curve), *roc.at_fpr(*curve, FPRS)])
    return np.array(values)


if __name__ == "__main__":
    run(main, globals())
