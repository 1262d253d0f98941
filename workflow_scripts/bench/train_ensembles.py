"""CPU time of many tiny shadow models trained at once with stacked weights, against one after the other.

python workflow_scripts/bench/train_ensembles.py --output results/bench/train_ensembles.json \
    --params '{"models": 64, "records": 600, "batch": 32, "epochs": 3, "scratch": "results/bench"}'

Two kinds of network: an MLP of three layers of 64, and a residual network of 8, 16 and 32 channels on 8 x 8 pixels.
Both ways take the same steps up to rounding, which training amplifies: `largest_difference` is that of their logit
gaps. Evaluation of the models is not counted.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import torch

from memaudit.common.seeds import generator
from memaudit.models import classifier_networks
from memaudit.models.model_folder import set_up
from memaudit.models.shadow_ensembles import Data, Group, Settings
from memaudit.workflow.bench_card import write_card
from memaudit.workflow.job import run

NETWORKS = {
    "mlp": ((30,), lambda: classifier_networks.Mlp(30, 2, 64, 3)),
    "wrn": ((1, 8, 8), lambda: classifier_networks.WideResNet(1, 2, 10, 1, 8)),
}


def main(job):
    set_up(1)
    params = job.params
    with tempfile.TemporaryDirectory(dir=params.scratch) as folder:
        measured = {name: compared(name, params, Path(folder, name)) for name in NETWORKS}
    ratio = {f"one_by_one_over_stacked_{name}": one["one_by_one"] / one["stacked"] for name, one in measured.items()}
    report = {key: getattr(params, key) for key in ("models", "records", "batch", "epochs")}
    write_card(report | measured | {"ratio": ratio}, job.output[0], ("torch", "numpy"))
    print(json.dumps(ratio))


def compared(name: str, params, folder: Path) -> dict[str, float]:
    """CPU milliseconds per model and step, for both ways."""
    shape, make = NETWORKS[name]
    rng = generator(0, "bench", "ensembles")
    y = rng.integers(0, 2, params.records)
    x = rng.standard_normal((params.records, *shape)) + y.reshape(-1, *[1] * len(shape))
    data = Data(torch.from_numpy(x).float(), torch.from_numpy(y))
    member = rng.random((params.models, params.records)) < 0.5
    settings = Settings(0, name, params.epochs, params.batch, 0.003, (params.epochs,))

    def build(number: int) -> torch.nn.Module:
        torch.manual_seed(number)
        return make()

    def trained(numbers: range) -> tuple[np.ndarray, float]:
        group = Group(numbers, build, data, member[numbers], settings, folder / f"{numbers.start}-{len(numbers)}")
        trace = group.train()
        return trace.gap[-1], 1e3 * trace.counts["training_seconds"] / group.step

    at_once, stacked = trained(range(params.models))
    gaps, one_by_one = zip(*(trained(range(number, number + 1)) for number in range(params.models)), strict=True)
    difference = float(np.abs(at_once - np.concatenate(gaps)).max())
    return {"stacked": stacked, "one_by_one": float(np.mean(one_by_one)), "largest_difference": difference}


if __name__ == "__main__":
    run(main, globals())
