"""CPU time of bootstrap replicates of a ROC curve over its segments, against a pass over all entries for each.

python workflow_scripts/bench/resample_curves.py --output results/bench/resample_curves.json \
    --params '{"targets": 48, "records": 1200, "memorized": 0.06, "replicates": 400}'

Both ways give the area and the TPR at an FPR of 1 %, for entries of which few are memorized; weights are those of a
two-way bootstrap.
"""

from pathlib import Path

import numpy as np

from memaudit.common.seeds import generator
from memaudit.statistics import roc, roc_segments
from memaudit.workflow.bench_card import cpu_seconds, write_card
from memaudit.workflow.job import run

FPR = 0.01


def main(job):
    params, rng = job.params, generator(1, "bench", "curves")
    shape = params.targets, params.records
    memorized = (rng.random(shape) < params.memorized).ravel()
    scores = rng.normal(size=memorized.size) + memorized
    drawn = [rng.poisson(1.0, (params.replicates, count)) for count in shape]
    weights = np.einsum("bt,br->btr", *drawn).reshape(params.replicates, -1).astype(float)
    ours, seconds = cpu_seconds(
        lambda: np.array([metrics(*curve) for curve in roc_segments.curves(scores, memorized, weights)])
    )
    plain, plain_seconds = cpu_seconds(lambda: over_entries(scores, memorized, weights))
    report = {
        "entries": memorized.size,
        "replicates": params.replicates,
        "cpu_seconds": seconds,
        "plain_cpu_seconds": plain_seconds,
        "largest_difference": float(np.abs(ours - plain).max()),
        "ratio": {"curves_over_entries_over_segments": plain_seconds / seconds},
    }
    write_card(report, job.output[0], ("numpy",))
    print(Path(job.output[0]).read_text())


def over_entries(scores: np.ndarray, memorized: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Area and TPR (replicate, metric) of whole curves, from one sort."""
    ranking = roc.rank(scores, memorized)
    return np.array([metrics(*roc.curve(ranking, of_entry)) for of_entry in weights[:, ranking.order]])


def metrics(fpr: np.ndarray, tpr: np.ndarray) -> list[float]:
    """Area, and TPR at the FPR."""
    return [roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, [FPR])]


if __name__ == "__main__":
    run(main, globals())
