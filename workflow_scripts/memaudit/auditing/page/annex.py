"""The annex of an audit's page: settings, checks of the table, models and files, as rows of texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from memaudit.auditing.reading.table_columns import rare_classes
from memaudit.config.key_reference import keys

# What the counts and checks of a table, and the sizes of an audit, are called in the annex, by their keys.
PLAN = {
    "minutes": "minutes asked for",
    "sets": "shadow contexts",
    "records": "records queried, at most",
    "whole": "minutes that the whole audit needs here",
    "seconds per set": "seconds that a shadow context took",
    "seconds left": "seconds left after the first numbers",
    "seconds expected": "seconds expected for the rest",
}
DEDUPLICATION = {
    "rows": "rows that were read",
    "without_target": "rows without a target",
    "duplicates": "rows that repeat another one",
    "conflicting_records": "records that differ from others in the target alone",
    "conflicting_sets": "sets of such records",
    "records": "records that are left",
    "units": "records or persons that are left",
}
SPLIT = {
    "shared_ids": "records on both sides of the split",
    "shared_copies": "records with a copy on the other side",
    "shared_groups": "persons with records on both sides",
    "members": "records that may be in a context",
    "nonmembers": "records that are in none",
    "tvd": "total variation distance of the classes of both sides",
    "ks": "Kolmogorov-Smirnov distance of the targets of both sides",
    "ks_p": "p-value of that distance",
    "wasserstein": "Wasserstein distance of the targets of both sides, in standard deviations",
    "covariate_auc": "AUC of a classifier that tells the sides by their features",
    "covariate_null": "AUC of that classifier by chance",
    "covariate_p": "p-value of that AUC",
}
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
    settings |= {f"size: {PLAN[key]}": value for key, value in audit["plan"].items()}
    flat = pd.json_normalize({"attacks": attacks}, sep="/").iloc[0]
    meanings = {key: meaning.replace("`", "") for key, _, meaning in keys()}
    return settings | {f"{meanings[key]} ({key})" if key in meanings else key: value for key, value in flat.items()}


def checks_of(
    facts: Mapping[str, Any], deduplication: Mapping[str, float], split: Mapping[str, float], show_values: bool = False
) -> dict[str, Any]:
    """Counts of the table and checks of its split into members and non-members; show_values: names of rare classes."""
    checks = {"rows": facts["rows"], "rows without a target": facts["without_target"], "target": facts["task"]}
    if facts.get("rare"):
        checks["rare classes"] = rare_classes(facts["rare"], show_values)
    checks |= {f"deduplication: {DEDUPLICATION[key]}": f"{value:.0f}" for key, value in deduplication.items()}
    return checks | {f"split: {SPLIT[key]}": _number(value) for key, value in split.items()}


def _card(card: Mapping[str, Any]) -> str:
    return f"{card['family']}, {card['mode']}, {card['licence']}, sha256 {card['sha256']}"


def _number(value: float) -> str:
    """A count with all of its digits, another number with three."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.3g}"


def _rows(table: Mapping[str, Any]) -> Rows:
    return [(str(name), str(value)) for name, value in table.items()]
