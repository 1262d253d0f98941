"""Model folder of an estimator, which has no weights to fetch: a job that fits it may write the folder itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memaudit.common.checksums import sha256
from memaudit.common.io import write_json

FACTS = ("family", "task", "mode", "version", "options", "licence")


def made_estimator(folder: Path, name: str, entry: Mapping[str, Any]) -> Path:
    """Write the folder of an estimator, from its entry in the catalogue, as the fetch rule does; return its card."""
    weights, card = folder / name / "weights", folder / name / "model.json"
    weights.mkdir(parents=True)
    write_json({"class": entry["estimator"], "params": entry["params"]}, weights / "estimator.json")
    facts = {key: entry[key] for key in FACTS} | {"name": name, "origin": entry["estimator"]}
    write_json(facts | {"sha256": sha256(weights)}, card)
    return card
