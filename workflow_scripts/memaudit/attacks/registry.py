"""The attacks that are compared on one grid of signals. Yours is one more line here: see docs/add-an-attack.md."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from scipy.special import expit

from memaudit.arrays import Array
from memaudit.attacks.calibrate import Method


class Attack(NamedTuple):
    """signals: (model, record) what the attack reads; method: a name of `calibrate.METHODS` or a function like theirs,
    (signals, design, **options) -> scores (model, record), higher = more likely a member."""

    signals: Array
    method: str | Method
    options: Mapping[str, Any] = {}


def attacks(signals: Array, population: Array, rmia: Mapping[str, float]) -> dict[str, Attack]:
    """Attacks by name. signals: (model, record) log p / (1 - p) of the true label p; population: (model, z) of records
    that are in no context; rmia: gamma and offline_a of the config."""
    # The logistic function of the signal is the probability that RMIA compares.
    probabilities, options = expit(signals), {"population": expit(population), "gamma": rmia["gamma"]}
    return {
        "signal alone": Attack(signals, "raw"),
        "lira mean": Attack(signals, "lira", {"convention": "mean"}),
        "lira mean (as published)": Attack(signals, "lira", {"convention": "mean", "leave": "self"}),
        "lira median": Attack(signals, "lira", {"convention": "median"}),
        "lira ddof1": Attack(signals, "lira", {"convention": "ddof1"}),
        "lira fixed variance": Attack(signals, "lira", {"spread": "pooled"}),
        "lira offline (cdf)": Attack(signals, "lira_offline", {"form": "cdf"}),
        "post-processed": Attack(signals, "postprocessed"),
        "rmia": Attack(probabilities, "rmia", options),
        "rmia offline": Attack(probabilities, "rmia", options | {"offline": rmia["offline_a"]}),
    }
