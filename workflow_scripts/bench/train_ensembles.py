"""CPU time of many tiny shadow models trained at once, against one by one, and of a language model without padding.

python workflow_scripts/bench/train_ensembles.py --output results/bench/train_ensembles.json \
    --params '{"models": 64, "records": 600, "batch": 32, "epochs": 3, "scratch": "results/bench"}'

Two kinds of network: an MLP of three layers of 64, and a residual network of 8, 16 and 32 channels on 8 x 8 pixels.
Both ways take the same steps up to rounding, which training amplifies: `largest_difference` is that of their logit
gaps. Evaluation of the models is not counted.

The language model is a shadow model of prompts whose lengths differ as those of MMLU do, where the longest has ten
times the tokens of the mean: whole prompts padded to the longest of all, against the longest of each batch, evaluation
included.
"""

import json
import tempfile
import time
from math import log
from pathlib import Path

import numpy as np
import torch

from memaudit.common.seeds import generator
from memaudit.models import classifier_networks
from memaudit.models.language_model_classifiers import OneTokenClassifier, language_model
from memaudit.models.model_folder import set_up
from memaudit.models.shadow_ensembles import Data, Group, Settings
from memaudit.models.token_questions import END
from memaudit.workflow.bench_card import write_card
from memaudit.workflow.job import run

MEAN_LENGTH, LONGEST, VOCABULARY = 24, 300, 200
NETWORKS = {
    "mlp": ((30,), lambda: classifier_networks.Mlp(30, 2, 64, 3)),
    "wrn": ((1, 8, 8), lambda: classifier_networks.WideResNet(1, 2, 10, 1, 8)),
}


def main(job):
    set_up(1)
    params = job.params
    with tempfile.TemporaryDirectory(dir=params.scratch) as folder:
        measured = {name: compared(name, params, Path(folder, name)) for name in NETWORKS}
        prompts = without_padding(params, Path(folder, "prompts"))
    ratio = {f"one_by_one_over_stacked_{name}": one["one_by_one"] / one["stacked"] for name, one in measured.items()}
    ratio["padded_over_cut_prompts"] = prompts["padded"] / prompts["cut"]
    report = {key: getattr(params, key) for key in ("models", "records", "batch", "epochs")} | {"prompts": prompts}
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


def without_padding(params, folder: Path) -> dict[str, float]:
    """CPU seconds of a language model's training and evaluation: padded to the longest prompt, and to a batch's."""
    rng = generator(0, "bench", "prompts")
    lengths = np.clip(rng.lognormal(log(MEAN_LENGTH), 0.7, params.records), 2, LONGEST).astype(int)
    lengths[0] = LONGEST
    tokens = rng.integers(0, VOCABULARY, (params.records, LONGEST))
    tokens[np.arange(LONGEST) >= lengths[:, None]] = END
    x, y = torch.from_numpy(tokens), torch.from_numpy(rng.integers(0, 4, params.records))
    member = rng.random((1, params.records)) < 0.5
    settings = Settings(0, "prompts", params.epochs, params.batch, 0.003, (params.epochs,))

    def build(_: int) -> torch.nn.Module:
        torch.manual_seed(0)
        return OneTokenClassifier(language_model("llama", VOCABULARY, LONGEST, 64, 2, 4, 192))

    def trained(name: str, padding: int | None) -> tuple[np.ndarray, float]:
        start = time.process_time()
        trace = Group(range(1), build, Data(x, y, padding=padding), member, settings, folder / name).train()
        return trace.gap[-1], time.process_time() - start

    (whole, padded), (short, cut) = trained("padded", None), trained("cut", END)
    return {"padded": padded, "cut": cut, "largest_difference": float(np.abs(whole - short).max())}


if __name__ == "__main__":
    run(main, globals())
