"""CPU time and memory of all seven strategies on a large grid, beside one plain numpy pass and a loop over records.

python workflow_scripts/bench/evaluate_grid.py --output results/bench/evaluate_grid.json \
    --params '{"models": 4096, "records": 10000, "loop_records": 200}'

Each measurement runs in a process of its own; its peak is the kernel's (ru_maxrss), less that of the imports. What is
compared differs on purpose: ours reads off seven strategies at three FPRs for every power of two from 16 models on, the
plain pass and the loop make the log-likelihood ratios of the whole grid and stop there.
"""

import multiprocessing
import resource
import time
from pathlib import Path

import numpy as np

from memaudit.attacks.gaussian import CONVENTIONS, Gaussian
from memaudit.io import write_json
from memaudit.seeds import generator
from memaudit.studies.lira.aggregation_strategies import FPRS, evaluate
from memaudit.workflow.job import run

MIB = 2**20
CHUNK = 500


def main(job):
    models, records, few = job.params.models, job.params.records, job.params.loop_records
    ours, plain = measure(strategies, models, records), measure(plain_pass, models, records)
    loop = measure(loop_pass, models, few)
    loop |= {"records": few, "cpu_seconds_at_full_size": loop["cpu_seconds"] * records / few}
    grid_mib = models * records * 4 / MIB
    report = {
        "models": models,
        "records": records,
        "sizes": sizes_to(models),
        "fprs": FPRS,
        "grid_mib": grid_mib,
        "strategies": ours,
        "plain_pass": plain,
        "record_loop": loop,
        "ratio": {
            "cpu_over_plain_pass": ours["cpu_seconds"] / plain["cpu_seconds"],
            "record_loop_over_ours": loop["cpu_seconds_at_full_size"] / ours["cpu_seconds"],
            "peak_over_grid": ours["peak_mib"] / grid_mib,
        },
    }
    Path(job.output[0]).parent.mkdir(parents=True, exist_ok=True)
    write_json(report, job.output[0])
    print(Path(job.output[0]).read_text())


def measure(step, models, records):
    """CPU seconds of a step in a fresh process, and its peak memory with the grid, without the interpreter."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(timed, (step, models, records))


def timed(step, models, records):
    before = peak_mib()
    signals, design = grid(models, records)
    start = time.process_time()
    step(signals, design)
    return {"cpu_seconds": time.process_time() - start, "peak_mib": peak_mib() - before}


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def grid(models, records):
    """Gaussian records on scales of their own, gaps of up to two deviations, balanced membership; float32."""
    rng = generator(1, "bench", "grid")
    signals, design = np.empty((models, records), np.float32), np.empty((models, records), np.bool_)
    for start in range(0, records, CHUNK):
        part = slice(start, min(start + CHUNK, records))
        shape = design[:, part].shape
        design[:, part] = rng.random(shape, dtype=np.float32).argsort(0) < models // 2
        noise = rng.standard_normal(shape, dtype=np.float32)
        signals[:, part] = (noise + design[:, part] * rng.uniform(0, 2, shape[1])) * np.exp(rng.normal(size=shape[1]))
    return signals, design


def sizes_to(models):
    return [2**power for power in range(4, models.bit_length())]


def strategies(signals, design):
    evaluate(signals, design, sizes_to(len(design)))


def plain_pass(signals, design):
    """Leave-one-out log-likelihood ratios as one writes them first: running sums over the whole grid in float64."""
    signals = signals.astype(np.float64)

    def log_density(member):
        count = member.sum(0) - member
        mean = ((signals * member).sum(0) - signals * member) / count
        square = ((signals**2 * member).sum(0) - signals**2 * member) / count
        sigma = np.sqrt(np.maximum(square - mean**2, 1e-24))
        return -np.log(sigma) - 0.5 * ((signals - mean) / sigma) ** 2

    return log_density(design) - log_density(~design)


def loop_pass(signals, design):
    """The same ratios record by record and target by target, every fit from its own shadow models."""
    rule = CONVENTIONS["mean"]
    scores = np.empty(signals.shape)
    for record in range(signals.shape[1]):
        values, member = signals[:, record].astype(np.float64), design[:, record]
        for target in range(len(values)):
            fits = []
            for side in (member, ~member):
                shadow = np.delete(values, target)[np.delete(side, target)]
                fits.append(Gaussian(shadow.mean(), max(shadow.std(), rule.floor)))
            scores[target, record] = fits[0].log_density(values[target]) - fits[1].log_density(values[target])
    return scores


if __name__ == "__main__":
    run(main, globals())
