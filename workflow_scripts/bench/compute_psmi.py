"""CPU time and memory of PSMI, against whole arrays and the package, and on a large memory map.

python workflow_scripts/bench/compute_psmi.py --output results/bench/compute_psmi.json \
    --params '{"records": 2000, "features": 768, "directions": 2000, "classes": 4, "runs": 5, "package": null,
        "scratch": "results/bench", "large": {"records": 100000, "features": 4096, "directions": 64}}'

Hidden states are of float32, as networks give them. `arrays`: the algorithm of the package psmi 0.2.0:
densities of every record on every direction, not their logarithms, in float64 arrays of that size. Both ways draw the
same directions; `largest_difference` is that of their PSMI. `package`: the package itself, given the folder
with it (pip install --no-deps --target FOLDER psmi==0.2.0; it is not in the lock). `large`: states in a file, at this
size 1.6 GB, and the peak must stay within 4 GiB. Each is measured in a process of its own; its peak is the kernel's
(ru_maxrss), mapped pages of the file included.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from memaudit.attacks import psmi
from memaudit.common.seeds import generator
from memaudit.workflow.bench_card import cpu_seconds, in_own_process, peak_mib, write_card
from memaudit.workflow.job import run

ROWS = 1000  # of the large file that are drawn at once


def main(job):
    params = job.params
    size = {name: getattr(params, name) for name in ("records", "features", "directions", "classes")}
    measured = {way.__name__: measure(way, params.runs, *size.values()) for way in (ours, arrays)}
    difference = float(np.abs(measured["ours"][0] - measured["arrays"][0]).max())
    if params.package:
        measured["package"] = measure(package, params.runs, params.package, *size.values())
    ways = {name: cost for name, (_, cost) in measured.items()}
    with tempfile.TemporaryDirectory(dir=params.scratch) as folder:
        path = Path(folder, "states.npy")
        write_states(path, params.large["records"], params.large["features"])
        _, cost = measure(mapped, 1, path, params.large["directions"], params.classes)
        large = params.large | cost | {"file_mib": path.stat().st_size / 2**20}
    seconds = {name: cost["cpu_seconds"] for name, cost in ways.items()}
    ratio = {f"{name}_over_ours_psmi": spent / seconds["ours"] for name, spent in seconds.items() if name != "ours"}
    report = {"runs": params.runs, "large": large, "largest_difference": difference, "ratio": ratio}
    write_card(report | size | ways, job.output[0], ("numpy", "scipy"))
    print(Path(job.output[0]).read_text())


def measure(way, runs, *arguments):
    """PSMI of a way in a fresh process, (record,), and its median CPU seconds and peak memory."""
    return in_own_process(timed, way, runs, arguments)


def timed(way, runs, arguments):
    work = way(*arguments)
    values, seconds = zip(*(cpu_seconds(work) for _ in range(runs)), strict=True)
    return values[-1], {"cpu_seconds": statistics.median(seconds), "peak_mib": peak_mib()}


def drawn(records, features, classes):
    rng = generator(0, "bench", "psmi")
    labels = rng.integers(0, classes, records)
    states = rng.standard_normal((records, features)) + labels[:, None] * 0.05
    return states.astype(np.float32), labels


def ours(records, features, directions, classes):
    states, labels = drawn(records, features, classes)
    return lambda: psmi.estimate(states, labels, generator(0, "bench", "directions"), directions=directions).psmi


def arrays(records, features, directions, classes):
    states, labels = drawn(records, features, classes)

    def work():
        thetas = psmi.draw(generator(0, "bench", "directions"), directions, features)
        return of_arrays(states, labels, thetas.astype(np.float64))

    return work


def of_arrays(states, labels, thetas):
    projected = states @ thetas.T
    own, all_classes = np.zeros_like(projected), np.zeros_like(projected)
    for label in np.unique(labels):
        of_class = labels == label
        mean, sigma = projected[of_class].mean(0), projected[of_class].std(0)
        density = np.exp(-0.5 * ((projected - mean) / sigma) ** 2) / sigma
        own[of_class] = density[of_class]
        all_classes += of_class.mean() * density
    return np.log(own / all_classes).mean(1)


def package(folder, records, features, directions, classes):
    sys.path.insert(0, folder)
    from psmi import PSMI  # in a process of its own

    states, labels = drawn(records, features, classes)
    return lambda: PSMI(n_estimators=directions).fit_transform(states, labels)[0]


def mapped(path, directions, classes):
    states = np.load(path, mmap_mode="r")
    labels = np.arange(len(states)) % classes
    return lambda: psmi.estimate(states, labels, generator(0, "bench", "large"), directions=directions).psmi


def write_states(path, records, features):
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(records, features))
    rng = generator(0, "bench", "states")
    for start in range(0, records, ROWS):
        rows = file[start : start + ROWS]
        rows[:] = rng.random(rows.shape, dtype=np.float32)


if __name__ == "__main__":
    run(main, globals())
