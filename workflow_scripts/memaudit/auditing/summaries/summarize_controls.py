"""What planted models show of an audit's attacks, looked up in tidy results; no number is computed here."""

from typing import Any

import pandas as pd

from memaudit.attacks.attack_entry import WHITE_BOX
from memaudit.auditing.summaries.strength_parts import AttackControl, Strength
from memaudit.auditing.summaries.summarize_results import value
from memaudit.common import tidy

NO_INNOCENTS = {"innocents": 0, "innocents_found": 0, "innocent_failed": False}


def strength(threats: pd.DataFrame, fpr: float, *, estimated: bool = True) -> Strength:
    """What the planted checks found; fpr: of the decision threshold; estimated: whether the smallest leak was."""
    table = _planted(threats)
    table = table[table["checked"].isna()]
    of = {kind: table[table["planted"] == kind] for kind in ("lookup", "innocent", "smallest")}
    smallest = {name: value(of["smallest"], name) for name in of["smallest"]["metric"]}
    known = {name: one.estimate for name, one in smallest.items()}
    return Strength(
        **_checked(table),
        lookup_changed=value(of["lookup"], "changed answers").estimate,
        estimated=estimated,
        units=int(of["smallest"]["n"].iloc[0]) if known else None,
        smallest_auc=known.get("smallest auc"),
        auc_effect=known.get("smallest auc effect"),
        smallest_tpr=known.get(f"smallest tpr@{fpr:g}"),
        tpr_effect=known.get(f"smallest tpr@{fpr:g} effect"),
    )


def controls(threats: pd.DataFrame) -> list[AttackControl]:
    """What the planted checks of single attacks found."""
    table = _planted(threats)
    return [
        AttackControl(attack=name, **(_looked_up(rows) | NO_INNOCENTS if name == WHITE_BOX else _checked(rows)))
        for name, rows in table.groupby("checked", sort=False)
    ]


def _planted(threats: pd.DataFrame) -> pd.DataFrame:
    """Results of planted models; `checked`: a single attack, missing for the headline."""
    table = tidy.expand(threats)
    return table[table["planted"].notna()].assign(checked=table.get("checked"))


def _checked(planted: pd.DataFrame) -> dict[str, Any]:
    """Values of `strength_parts.Planted` by results of one attack, none of which may be missing."""
    innocent = planted[planted["planted"] == "innocent"]
    return _looked_up(planted) | {
        "innocents": int(innocent.loc[innocent["metric"] == "found", "n"].iloc[0]),
        "innocents_found": int(value(innocent, "found").estimate),
        "innocent_failed": bool(value(innocent, "check failed").estimate),
    }


def _looked_up(planted: pd.DataFrame) -> dict[str, Any]:
    return {"lookup": value(planted[planted["planted"] == "lookup"], "lookup auc")}
