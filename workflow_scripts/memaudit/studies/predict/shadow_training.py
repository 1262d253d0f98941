"""Shadow and target models of a prepared setting (`setting_records.prepare`): networks, training groups, checkpoints.

"Predicting memorization within LLMs fine-tuned for classification", Sections 5.1 and 5.8. The random streams of weights
and adapters are named after the setting and the model's number.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from safetensors.torch import load_file
from torch import Tensor, nn

from memaudit.common import seeds
from memaudit.common.io import readable
from memaudit.models import classifier_networks
from memaudit.models.lora import Adapter, adapt
from memaudit.models.model_folder import device, load
from memaudit.models.shadow_ensembles import Data, Group, Settings
from memaudit.models.token_questions import END
from memaudit.studies.predict.setting_records import labels, question_words, rivals
from memaudit.studies.predict.setting_sources import Setting

CHECKPOINTS = ("every", "until", "later")
# Questions are tokens already, but the model family requires the schema of a table.
SCHEMA = {"task": "classification", "columns": [], "target": {"name": "answer", "categories": ["A", "B"]}}


@dataclass(frozen=True)
class PreparedSetting:
    """A prepared setting, ready to train.

    weights: file that small language models start from; card: model.json of the catalogue's, if the setting has one.
    """

    grid: xr.Dataset
    setting: Setting
    seed: int
    weights: str
    card: str | None
    threads: int

    @property
    def name(self) -> str:
        """Name of the setting."""
        return self.grid.attrs["case"]

    def groups(self, shard: int) -> Iterator[range]:
        """Numbers of the models of a shard that are trained together."""
        together, size = self.setting["network"].get("together", 1), self.setting["shard"]
        for first in range(shard * size, min((shard + 1) * size, self.setting["models"]), together):
            yield range(first, first + together)

    def group(self, numbers: range, folder: Path, check: Callable[[], None] = lambda: None) -> Group:
        """These models, in a folder; targets among them have their hidden states kept."""
        training = {key: value for key, value in self.setting["training"].items() if key not in CHECKPOINTS}
        training |= {"clip_norm": training["clip_norm"] or inf, "checkpoints": checkpoints(self.setting["training"])}
        settings = Settings(self.seed, self.name, **training)
        membership, targets = self.grid.membership.values[numbers], range(numbers.start, self.setting["targets"])
        watched = min(len(targets), len(numbers))
        return Group(numbers, self.build, self._data, membership, settings, folder, watched, check)

    def build(self, number: int) -> nn.Module:
        """The model of that number, before training."""
        network = self.setting["network"]
        if network["kind"] in ("mlp", "wrn"):
            with torch.random.fork_rng():
                torch.manual_seed(self._seed("weights", number))
                return self._from_scratch(network)
        # Adapters are beside the weights, which no model changes and all share: those of 7e9 take 29 GB.
        frozen = {id(weight): weight for weight in self._base.parameters()} if network["adapter"] else {}
        module = deepcopy(self._base, frozen)
        if network["adapter"]:
            adapt(module, Adapter(**network["adapter"]), self._seed("adapter", number))
        return module

    def _seed(self, purpose: str, number: int) -> int:
        return seeds.integer(self.seed, "predict", self.name, purpose, number)

    def _from_scratch(self, network: Mapping[str, Any]) -> nn.Module:
        features, classes = self.grid.x.shape[1], self.grid.sizes["class"]
        if network["kind"] == "mlp":
            return classifier_networks.Mlp(features, classes, network["width"], network["depth"])
        return classifier_networks.WideResNet(features, classes, network["depth"], network["widen"], network["base"])

    @cached_property
    def _base(self) -> nn.Module:
        """The common start of all models that are not trained from scratch."""
        network = self.setting["network"]
        if network["kind"] == "in_context":
            from memaudit.models.in_context_classifier import InContext  # these packages take seconds

            context = (torch.from_numpy(self.grid[key].values) for key in ("context_x", "context_y"))
            return InContext(load(self.card, self.threads), *context)
        from memaudit.models.language_model_classifiers import OneTokenClassifier

        if network["model"]:
            return OneTokenClassifier(load(self.card, self.threads, SCHEMA).module)
        module = _small(self.setting, self.grid)
        with readable(self.weights):
            module.load_state_dict(load_file(self.weights), strict=False)  # the file holds tied weights once
        return OneTokenClassifier(module)

    @cached_property
    def _data(self) -> Data:
        x = torch.from_numpy(self.grid.x.values).to(device())
        if "scale" in self.grid.attrs:
            x = (x.float() - self.grid.attrs["shift"]) / self.grid.attrs["scale"]
        y = torch.from_numpy(labels(self.grid)).to(device())
        if self.setting["network"]["kind"] != "text":
            return Data(x, y)
        return Data(x, y, torch.from_numpy(rivals(self.grid)).to(device()), END)


def checkpoints(training: Mapping[str, Any]) -> tuple[float, ...]:
    """Epochs of the checkpoints: every `every` from 0 up to `until`, then `later` ones evenly spaced to the end."""
    every, until, end = training["every"], training["until"], training["epochs"]
    early = [place * every for place in range(int(until / every + 1e-9) + 1)]
    later = np.linspace(early[-1], end, training["later"] + 1)[1:] if early[-1] < end - 1e-9 else []
    return tuple(round(float(epoch), 6) for epoch in [*early, *later])


def pretrained(setting: Setting, grid: xr.Dataset, seed: int) -> dict[str, Tensor]:
    """Pre-trained weights of the setting's small language model; none for other networks."""
    if not setting["network"].get("small"):
        return {}
    from memaudit.models.language_model_classifiers import pretrain

    with torch.random.fork_rng():
        torch.manual_seed(seeds.integer(seed, "predict", grid.case, "weights"))
        module = _small(setting, grid)
    rng = seeds.generator(seed, "predict", grid.case, "pretraining")
    loss = pretrain(module, question_words(grid), rng=rng, **setting["network"]["small"]["pretraining"])
    print(f"{grid.case}: the small language model has a loss on random questions of {loss:.3f} nats")
    return {name: weight.detach().clone() for name, weight in module.named_parameters()}


def _small(setting: Setting, grid: xr.Dataset) -> nn.Module:
    from memaudit.models.language_model_classifiers import language_model

    small = {key: value for key, value in setting["network"]["small"].items() if key != "pretraining"}
    return language_model(vocabulary=question_words(grid).size, length=grid.x.shape[1], **small)
