"""Attacks that read attention as cases of the study, beside LiRA on the answers of the same contexts, and a placebo."""

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from memaudit.attacks.attack_entry import WHITE_BOX
from memaudit.attacks.white_box_scores import white_box
from memaudit.common import seeds
from memaudit.statistics import threat_models
from memaudit.statistics.threat_models import Case, case

STRONGEST = "attention combined"
SEEN = "members seen inside"  # as many contexts as attention is read of


def white_box_cases(keys: Mapping[str, Any], seen: xr.Dataset, rmia: Mapping[str, float], seed: int) -> list[Case]:
    """The attacks on all members, LiRA on the same contexts, and the strongest one on records in no context.

    keys: of the arm; seen: score matrix of `white_box_scores.joined`; rmia: gamma of RMIA.
    """
    members, others = (seen.isel(record=side) for side in (seen.member.values, ~seen.member.values))
    named = {**keys, "records": SEEN}
    found = [case(named, name, one, members) for name, one in white_box(members, others, rmia).items()]
    found.append(case(named, "lira", threat_models.lira_of(members), members))
    rng = seeds.generator(seed, threat_models.STUDY, seen.dataset, "placebo", WHITE_BOX)

    def strongest(queried: xr.Dataset) -> Any:
        return white_box(queried, others, rmia)[STRONGEST]

    return [*found, threat_models.placebo(keys, seen, rng, STRONGEST, strongest)]


def beside(cases: Sequence[Case]) -> list[tuple[Case, Case]]:
    """Each attack on attention with LiRA on the same contexts, to be compared; [] without attention."""
    on_members = [one for one in cases if one.keys["records"] == SEEN]
    return [(one, lira) for lira in on_members if lira.name == "lira" for one in on_members if one is not lira]
