"""Folder of a model as the fetch rule writes it: the card, and of an estimator, which has no weights, its class."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memaudit.common.checksums import sha256
from memaudit.common.hub_address import hub_address
from memaudit.common.io import write_json

FACTS = ("family", "task", "mode", "version", "options", "licence")


def write_estimator(folder: Path, entry: Mapping[str, Any]) -> None:
    """Write the class and the parameters of an estimator's entry in the catalogue into a folder of weights."""
    write_json({"class": entry["estimator"], "params": entry["params"]}, folder / "estimator.json")


def write_card(card: str | Path, name: str, entry: Mapping[str, Any], weights: str | Path) -> None:
    """Write the `model.json` of a model from its entry in the catalogue and its folder of weights."""
    origin = entry["path"] or entry["estimator"] or hub_address(entry["hub"])
    facts = {key: entry[key] for key in FACTS} | {"name": name, "origin": origin}
    write_json(facts | {"sha256": sha256(weights)}, card)


def made_estimator(folder: Path, name: str, entry: Mapping[str, Any]) -> Path:
    """Write the folder of an estimator, where no rule has fetched it; return its card."""
    weights, card = folder / name / "weights", folder / name / "model.json"
    weights.mkdir(parents=True)
    write_estimator(weights, entry)
    write_card(card, name, entry, weights)
    return card
