"""Sentences and table of docs/own-rates.md from results/bench/own_rates.json."""

from collections.abc import Mapping
from typing import Any

from memaudit.plotting.result_tables import texts_table

RATES = {"tpr": "TPR", "fpr": "FPR"}
WIDE = 0.8  # width of an interval that hardly any rate could miss
HEAD = ["models", "predictor", "rate", "stated", "measured", "interval", "targets inside"]


def context(measured: Mapping[str, Any]) -> dict[str, Any]:
    """The values that docs/templates/own-rates.md names."""
    lines = [
        (name, rates["predictor"], rate, rates[rate])
        for name, setting in measured["settings"].items()
        for rates in setting["rates"]
        for rate in RATES
    ]
    return {
        "settings": [{"name": name} | dict(setting) for name, setting in measured["settings"].items()],
        "count": len(lines),
        "inside": sum(one["place"] == "inside" for *_, one in lines),
        "others": [
            f"{RATES[rate]} of {predictor} on {name} ({one['place']})"
            for name, predictor, rate, one in lines
            if one["place"] != "inside"
        ],
        "wide": list(dict.fromkeys(f"{RATES[rate]} of {predictor}" for _, predictor, rate, one in lines if _wide(one))),
        "brackets": measured["sources"],
        "table": texts_table(HEAD, [_cells(*line) for line in lines]),
    }


def _wide(one: Mapping[str, Any]) -> bool:
    return one["stated"]["high"] - one["stated"]["low"] > WIDE


def _cells(name: str, predictor: str, rate: str, one: Mapping[str, Any]) -> list[str]:
    texts = [
        f"{each['estimate']:.2f} [{each['low']:.2f}, {each['high']:.2f}]" for each in (one["stated"], one["measured"])
    ]
    inside = f"{one['targets_inside']} of {one['targets']}"
    return [name, predictor, RATES[rate], *texts, one["place"], inside]
