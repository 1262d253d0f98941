"""Small language models of the catalogue's families, random texts, and comparison of weights."""

import torch
import yaml
from conftest import PROJECT

from memaudit.common import seeds
from memaudit.models.language_models import build

CATALOGUE = yaml.safe_load((PROJECT / "config/language_models.yaml").read_text(encoding="utf-8"))["language_models"]
FAMILIES = {name: entry for name, entry in CATALOGUE.items() if "hub" not in entry}  # those that are made here
TINY = {"model_type": "gpt2", "config": {"n_embd": 32, "n_layer": 1, "n_head": 2}}


def texts(count, name="texts", words=1000, length=11):
    draw = seeds.generator(3, name)
    return [" ".join(f"w{word}" for word in draw.integers(words, size=length)) for _ in range(count)]


def model(seed=0, **config):
    return build({**TINY, "config": TINY["config"] | config}, 300, 64, seed)


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
