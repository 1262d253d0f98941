"""CPU time of a shadow score matrix, against that of the model's own forward passes in it.

python workflow_scripts/bench/query_shadows.py --output results/bench/query_shadows.json --params '{"models": 64}'

Measured on the work of one shard: draw contexts, query the shipped model, write the matrix.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import xarray as xr
from sklearn.datasets import load_breast_cancer

from memaudit.attacks.shadow_queries import logit_signals
from memaudit.common.io import write_grid
from memaudit.common.seeds import generator
from memaudit.data import membership_matrices
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.workflow.bench_card import one_thread, write_card
from memaudit.workflow.job import run


class Clock:
    """CPU seconds spent between a module's call and its return."""

    def __init__(self, module: torch.nn.Module):
        self.seconds = 0.0
        module.register_forward_pre_hook(self._start)
        module.register_forward_hook(self._stop)

    def _start(self, *_):
        self._began = time.process_time()

    def _stop(self, *_):
        self.seconds += time.process_time() - self._began


def main(job):
    one_thread()
    x, y = load_breast_cancer(return_X_y=True)
    model = TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu")
    forward = Clock(model.module)
    queried = torch.ones(len(x), dtype=torch.bool)
    began = time.process_time()
    member = membership_matrices.balanced(job.params.models, len(x), generator(0, "bench"), block=16)
    rows = torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)
    signals = logit_signals(model, *rows, member, queried, classes=2)
    with tempfile.TemporaryDirectory() as folder:
        write_grid(xr.Dataset({"signal": (("model", "record"), signals)}), Path(folder, "grid.nc"))
    total = time.process_time() - began
    report = {
        "models": job.params.models,
        "records": len(x),
        "cpu_seconds": total,
        "forward_seconds": forward.seconds,
        "ratio": {"all_over_forward": total / forward.seconds},
    }
    write_card(report, job.output[0], ("tabicl", "torch", "numpy"))
    print(f"{total:.1f} CPU-seconds, {total / forward.seconds:.3f} times the model's own forward passes")


if __name__ == "__main__":
    run(main, globals())
