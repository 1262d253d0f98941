"""What a model folder holds beside fetched weights: its card, and the class of an estimator, which has no weights."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memaudit.common.checksums import sha256
from memaudit.common.io import write_json

FACTS = ("family", "task", "mode", "version", "options", "licence")
Entry = Mapping[str, Any]  # of a model in the catalogue


def write_estimator(entry: Entry, weights: Path) -> None:
    """Write import path and parameters of an estimator into the folder `weights`."""
    write_json({"class": entry["estimator"], "params": entry["params"]}, weights / "estimator.json")


def write_card(card: str | Path, name: str, entry: Entry, origin: str, weights: str | Path) -> None:
    """Write the card of a model; origin: where its weights come from; weights: file or folder of them."""
    facts = {key: entry[key] for key in FACTS} | {"name": name, "origin": origin}
    write_json(facts | {"sha256": sha256(weights)}, card)


def made_estimator(folder: Path, name: str, entry: Entry) -> Path:
    """Write the folder of an estimator for a job that fits it; return its card."""
    weights, card = folder / name / "weights", folder / name / "model.json"
    weights.mkdir(parents=True)
    write_estimator(entry, weights)
    write_card(card, name, entry, entry["estimator"], weights)
    return card
