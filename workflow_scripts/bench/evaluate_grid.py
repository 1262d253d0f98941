"""CPU time and memory of strategies and scores on a large score matrix, against a NumPy pass and a loop over records.

python workflow_scripts/bench/evaluate_grid.py --output results/bench/evaluate_grid.json \
    --params '{"models": 4096, "records": 10000, "loop_records": 200}'

Each measurement runs in a process of its own; its peak is the kernel's (ru_maxrss), minus that of the imports. The
compared work differs on purpose: ours evaluates all strategies at three FPRs for every power of two from 16 models on,
or every score of the registry, one after the other; the plain pass and the loop only compute the log-likelihood ratios
of the whole matrix.
"""

from pathlib import Path

import numpy as np

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.naive_ratios import plain_ratios, ratios_by_record
from memaudit.attacks.registry import ON_ONE_MATRIX, on_confidence
from memaudit.common.io import MEBIBYTE
from memaudit.common.seeds import generator
from memaudit.studies.lira.aggregation_strategies import FPRS, evaluate
from memaudit.workflow.bench_card import cpu_seconds, in_own_process, peak_mib, write_card
from memaudit.workflow.job import run

CHUNK = 500
RMIA = {"gamma": 1.0, "offline_a": 0.3}


def main(job):
    models, records, few = job.params.models, job.params.records, job.params.loop_records
    ours, plain = measure(strategies, models, records), measure(plain_ratios, models, records)
    scored = {name: measure(score, models, records, name) for name in ON_ONE_MATRIX}
    scores = {key: [of[key] for of in scored.values()] for key in ("cpu_seconds", "peak_mib")}
    loop = measure(ratios_by_record, models, few)
    loop |= {"records": few, "cpu_seconds_at_full_size": loop["cpu_seconds"] * records / few}
    grid_mib = models * records * 4 / MEBIBYTE
    report = {
        "models": models,
        "records": records,
        "sizes": sizes_to(models),
        "fprs": FPRS,
        "grid_mib": grid_mib,
        "strategies": ours,
        "scores": scored,
        "plain_pass": plain,
        "record_loop": loop,
        "ratio": {
            "cpu_over_plain_pass": ours["cpu_seconds"] / plain["cpu_seconds"],
            "record_loop_over_ours": loop["cpu_seconds_at_full_size"] / ours["cpu_seconds"],
            "peak_over_grid": ours["peak_mib"] / grid_mib,
            "all_scores_cpu_over_plain_pass": sum(scores["cpu_seconds"]) / plain["cpu_seconds"],
            "largest_score_peak_over_grid": max(scores["peak_mib"]) / grid_mib,
        },
    }
    write_card(report, job.output[0], ("numpy",))
    print(Path(job.output[0]).read_text())


def measure(step, models, records, *options):
    """CPU seconds of a step in a new process, and its peak memory with the matrix, without the interpreter."""
    return in_own_process(timed, step, models, records, *options)


def timed(step, models, records, *options):
    before = peak_mib()
    signals, member = grid(models, records)
    _, seconds = cpu_seconds(lambda: step(signals, member, *options))
    return {"cpu_seconds": seconds, "peak_mib": peak_mib() - before}


def grid(models, records):
    """Gaussian records on scales of their own, gaps of up to two deviations, balanced membership; float32."""
    rng = generator(1, "bench", "grid")
    signals, member = np.empty((models, records), np.float32), np.empty((models, records), np.bool_)
    for start in range(0, records, CHUNK):
        part = slice(start, min(start + CHUNK, records))
        shape = member[:, part].shape
        member[:, part] = rng.random(shape, dtype=np.float32).argsort(0) < models // 2
        noise = rng.standard_normal(shape, dtype=np.float32)
        signals[:, part] = (noise + member[:, part] * rng.uniform(0, 2, shape[1])) * np.exp(rng.normal(size=shape[1]))
    return signals, member


def sizes_to(models):
    return [2**power for power in range(4, models.bit_length())]


def strategies(signals, member):
    evaluate(signals, member, sizes_to(len(member)))


def score(signals, member, name):
    """Scores of one attack of the registry; a fiftieth of the records serves as population, too."""
    population = signals[:, : max(1, signals.shape[1] // 50)]
    signals, method, options = on_confidence({name: ON_ONE_MATRIX[name]}, signals, population, RMIA)[name]
    calibrate(signals, member, method, **options)


if __name__ == "__main__":
    run(main, globals())
