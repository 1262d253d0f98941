"""CPU time and memory of batched queries and of LiRA's evaluation as their tables grow, over two decades each.

python workflow_scripts/bench/scale_engine.py --output results/bench/scale_engine.json --params '{"runs": 3, "top": 1}'

Each point has a process of its own, forked when the model is open: CPU seconds are the median of its runs, memory is
what its peak (ru_maxrss, the kernel's) grows by after a tiny first call; it includes torch's allocations, which
tracemalloc misses. Slopes are fitted to the logarithms of the upper half of the points; those of the arithmetic
likewise, to the counts of memaudit/models/flops.py. `top` shrinks every largest size, for a trial.
"""

import numpy as np
import torch

from memaudit.common.seeds import generator
from memaudit.models import flops
from memaudit.models.batched_queries import TABLES, Question, answer
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.studies.lira.aggregation_strategies import evaluate
from memaudit.workflow.bench_card import growth_slopes, one_thread, own_cost, write_card
from memaudit.workflow.job import run

POINTS = 7
MEMORY = 4096  # MiB: more than the largest point needs
# What grows: its largest size, a hundred times the smallest, and the fixed sizes.
ENGINE = {
    "contexts": (2000, {"rows": 10, "queries": 1, "features": 8}),
    "rows": (10000, {"contexts": 1, "queries": 50, "features": 8}),
    "queries": (10000, {"contexts": 1, "rows": 200, "features": 8}),
    "features": (500, {"contexts": 1, "rows": 100, "queries": 50}),
}
EVALUATION = {"models": (1024, {"records": 10000}), "records": (10000, {"models": 1024})}


def main(job):
    one_thread()
    model = TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu")
    architecture = {name: getattr(model.module, name) for name in flops.TABICL}
    axes = []
    for axis, (largest, fixed) in ENGINE.items():
        sizes = spaced(largest * job.params.top)
        points = [{axis: size} | fixed for size in sizes]
        measurements = [own_cost(ask, job.params.runs, model, point) for point in points]
        counted = [arithmetic(point, architecture) for point in points]
        axes.append(
            described("engine", axis, fixed, sizes, measurements) | {"arithmetic": growth_slopes(sizes, counted)}
        )
        print(axes[-1])
    for axis, (largest, fixed) in EVALUATION.items():
        sizes = spaced(largest * job.params.top)
        measurements = [own_cost(judge, job.params.runs, {axis: size} | fixed) for size in sizes]
        axes.append(described("evaluation", axis, fixed, sizes, measurements))
        print(axes[-1])
    report = {"runs": job.params.runs, "tables_per_pass": TABLES, "axes": axes}
    write_card(report, job.output[0], ("tabicl", "torch", "numpy"))


def spaced(largest):
    """Even numbers, evenly spaced in their logarithm over two decades."""
    return [2 * round(size / 2) for size in np.geomspace(largest / 100, largest, POINTS)]


def described(part, axis, fixed, sizes, measurements):
    seconds, peaks = zip(*measurements, strict=True)
    measured = {"seconds": list(seconds), "peak_mib": list(peaks)}
    return {
        "part": part,
        "axis": axis,
        "fixed": fixed,
        "sizes": sizes,
        "slopes": growth_slopes(sizes, measurements),
    } | measured


def arithmetic(point, architecture):
    """Operations and bytes that the formulas count; a pass holds no more than TABLES contexts."""
    table = (point["rows"], point["queries"], point["features"])
    count = flops.tabicl(*table, **architecture), flops.tabicl_bytes(*table, **architecture)
    return point["contexts"] * count[0], min(point["contexts"], TABLES) * count[1]


def ask(model, point):
    answer(model, questions(2, 10, 1, 4))  # the first pass sets up the module
    tables = questions(*(point[name] for name in ("contexts", "rows", "queries", "features")))
    return lambda: answer(model, tables, MEMORY)


def questions(contexts, rows, queries, features):
    rng = generator(0, "bench", "scale")
    labels = torch.arange(rows) % 2

    def table(count):
        return torch.from_numpy(rng.standard_normal((count, features), dtype=np.float32))

    return [Question(table(rows), labels, table(queries)) for _ in range(contexts)]


def judge(point):
    rng = generator(0, "bench", "scale")
    shape = point["models"], point["records"]
    member = rng.random(shape, dtype=np.float32).argsort(0) < shape[0] // 2
    signals = rng.standard_normal(shape, dtype=np.float32) + member
    evaluate(signals[:, :10], member[:, :10], [shape[0]])
    return lambda: evaluate(signals, member, [shape[0]])


if __name__ == "__main__":
    run(main, globals())
