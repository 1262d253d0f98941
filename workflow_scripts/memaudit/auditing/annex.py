"""The annex of an audit's page: settings, checks of the table, models and files, as rows of texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from memaudit.auditing.table_columns import rare_classes

Rows = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Annex:
    """Contents of the annex: settings, files with their sha256, checks of the split, models' cards."""

    settings: Rows
    files: Rows
    checks: Rows
    cards: Rows

    @classmethod
    def of(
        cls, settings: Mapping[str, Any], checks: Mapping[str, Any], files: Mapping[str, str], cards: Mapping[str, Any]
    ) -> Self:
        """The annex of these tables; cards: by the models' names."""
        models = {name: _card(card) for name, card in cards.items()}
        return cls(*(_rows(table) for table in (settings, files, checks, models)))


def settings_of(audit: Mapping[str, Any], attacks: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The settings that this audit used; audit, attacks: sections of the config.

    Of attacks that this stage, or the chosen threats, leave out there are no settings to show.
    """
    settings = {"seed": seed, "threats": ", ".join(audit["threats"])}
    settings |= {"base rates": ", ".join(map(str, audit["base_rates"]))}
    if audit["complete"]:
        settings["permutations of groups, at least"] = audit["permutations"]
    threats = {"perturbation": "labels", "active": "poison", "attention": "white-box"}
    used = {"layer": True} | {section: threat in audit["threats"] for section, threat in threats.items()}
    attacks = {key: value for key, value in attacks.items() if key not in used or (audit["complete"] and used[key])}
    settings |= {f"plan: {key}": value for key, value in audit["plan"].items()}
    return settings | {f"attacks/{key}": value for key, value in pd.json_normalize(attacks, sep="/").iloc[0].items()}


def checks_of(
    facts: Mapping[str, Any], deduplication: Mapping[str, float], split: Mapping[str, float], show_values: bool = False
) -> dict[str, Any]:
    """Counts of the table and checks of its split into members and non-members; show_values: names of rare classes."""
    checks = {"rows": facts["rows"], "rows without a target": facts["without_target"], "target": facts["task"]}
    if facts.get("rare"):
        checks["rare classes"] = rare_classes(facts["rare"], show_values)
    checks |= {f"deduplication: {key}": f"{value:.0f}" for key, value in deduplication.items()}
    return checks | {f"split: {key}": _number(value) for key, value in split.items()}


def _card(card: Mapping[str, Any]) -> str:
    return f"{card['family']}, {card['mode']}, {card['licence']}, sha256 {card['sha256']}"


def _number(value: float) -> str:
    """A count with all of its digits, another number with three."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.3g}"


def _rows(table: Mapping[str, Any]) -> Rows:
    return [(str(name), str(value)) for name, value in table.items()]
