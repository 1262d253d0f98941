"""How large a run of the learned attack is, in numbers that the paper prints of its own (LT-MIA, Section 4.1).

The workflow knows them from the config, and pages of published runs from the config that was published with them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memaudit.common import tidy

METRIC = "setting"


def numbers(config: Mapping[str, Any]) -> dict[str, int]:
    """Numbers of a run by quantity; config: its section `ltmia`."""
    learnt = [
        (model, corpus, config["tunings"][group["tuning"]])
        for group in config["training"]
        for model in group["models"]
        for corpus in group["corpora"]
    ]
    parts = config["texts"]["parts"]
    texts = parts["member"] + parts["nonmember"]
    left = texts - round(texts * config["validation"]) - round(texts * config["test"])
    return {
        "combinations to learn from": len(learnt),
        "models to learn from": len({model for model, _, _ in learnt}),
        "models to learn from tuned with adapters": len({model for model, _, tuning in learnt if tuning["lora"]}),
        "corpora to learn from": len({corpus for _, corpus, _ in learnt}),
        "held-out combinations": sum(len(group["models"]) * len(group["corpora"]) for group in config["held_out"]),
        "members of a combination": parts["member"],
        "texts that train the classifier": len(learnt) * left,
        "texts at every number of combinations": config["diversity"]["samples"],
        "tokens of a text": config["texts"]["length"],
    }


def base_numbers(parameters: Mapping[str, float], made_here: Iterable[str]) -> dict[str, float]:
    """Numbers of the base models by quantity: their weights by name, and the names of those pre-trained here."""
    return {
        "weights of the largest model": max(parameters.values()),
        "base models pre-trained by others": len(parameters.keys() - set(made_here)),
    }


def rows(found: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Tidy rows of such numbers; those of the paper are in config/published.yaml."""
    for quantity, number in found.items():
        yield tidy.row("ltmia", {"source": "here", "quantity": quantity}, METRIC, number, unit="", method="as set")
