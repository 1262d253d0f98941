"""The strongest score of an adversary who sees attention, its single scores, and its controls.

Two negative controls, which must not be detected, and a planted model whose attention looks records up, which must.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from memaudit.attacks.attack_entry import WHITE_BOX
from memaudit.attacks.white_box_scores import white_box
from memaudit.common import seeds
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.randomisation_tests import FEWEST_DRAWS
from memaudit.statistics.strongest_score import Panel, choose, judge_each, judge_strongest
from memaudit.studies.audit import planted_lookups
from memaudit.studies.audit.audit_attacks import by_persons
from memaudit.studies.audit.planted_checks import LOOKED_UP, lookup_rows
from memaudit.studies.audit.planted_effects import random_units
from memaudit.studies.audit.strongest_attack import (
    STRONGEST,
    attack_rows,
    choice_rows,
    exchanged_control,
    metric_options,
)

STUDY, THREAT = "audit", f"{WHITE_BOX} passive"
Row = dict[str, Any]


def white_box_rows(grid: xr.Dataset, params: Any) -> Iterator[Row]:
    """Tidy rows of the strongest white-box score, of every one, of the negative controls, and of a planted lookup.

    The negative controls have the records "placebo" and "companions", the lookup the key `checked` WHITE_BOX.

    grid: score matrix of `white_box_scores.joined`; params: of the job, with `seed`, `attacks` and `audit`. By person
    where some member shares its privacy unit with another one.
    """
    members, others = (grid.isel(record=side) for side in (grid.member.values, ~grid.member.values))
    by_person = by_persons(grid)
    panel = _panel(members, others, by_person, params)
    keys = {"dataset": grid.dataset, "model": "main", "records": "persons" if by_person else "members"}
    audit, options = params.audit, _options(keys, params)
    chosen = choose(panel, audit["fpr"])
    best = judge_strongest(panel, chosen, permutations=params.attacks["permutations"], **options)
    print(f"{grid.dataset}, {THREAT}: AUC {best[0].estimate:.3f}", flush=True)
    yield from attack_rows(_named(keys, STRONGEST), best, 1, audit)
    yield from choice_rows(chosen, _named(keys, STRONGEST), panel)
    for name, estimates in judge_each(panel, panel.attacks, **options).items():
        yield from attack_rows(_named(keys, name), estimates, 1, audit)
    keys = {**keys, "records": "companions"}
    found = exchanged_control(panel, audit["fpr"], **_options(keys, params))
    yield from attack_rows(_named(keys, STRONGEST), found, 1, audit)
    yield from _placebo_rows(others, keys, params)
    yield from _lookup_rows(members, others, by_person, {**keys, "records": "members"}, params)


def _panel(queried: xr.Dataset, others: xr.Dataset, by_person: bool, params: Any) -> Panel:
    """The white-box scores of queried records, by privacy unit or by record; others: records in no context."""
    attacks = white_box(queried, others, params.attacks["rmia"])
    of_panel = Panel.of_units if by_person else Panel.of_records
    return of_panel(attacks, queried.design.values, queried.unit.values, Scheme.of(queried.attrs))


def _lookup_rows(
    members: xr.Dataset, others: xr.Dataset, by_person: bool, keys: Mapping[str, str], params: Any
) -> Iterator[Row]:
    """The strongest score on a planted model whose attention looks records up."""
    rng = _options({**keys, "records": "lookup"}, params)["rng"]
    queried = planted_lookups.attended(random_units(members, LOOKED_UP, rng))
    panel = _panel(queried, others, by_person, params)
    yield from lookup_rows(panel, {**keys, "checked": WHITE_BOX}, params, rng)


def _placebo_rows(others: xr.Dataset, keys: Mapping[str, str], params: Any) -> Iterator[Row]:
    """The strongest score on records in no context, with a membership drawn at random."""
    keys = {**keys, "records": "placebo"}
    options = _options(keys, params)
    units = np.unique(others.unit.values, return_inverse=True)[1]
    drawn = membership_matrices.balanced(others.sizes["model"], units.max() + 1, options["rng"])
    attacks = white_box(others, others, params.attacks["rmia"])
    panel = Panel.of_records(attacks, membership_matrices.expand(drawn, units), units, membership_matrices.COLUMNS)
    chosen = choose(panel, params.audit["fpr"])
    found = judge_strongest(panel, chosen, permutations=FEWEST_DRAWS, **options)
    yield from attack_rows(_named(keys, STRONGEST), found, 1, params.audit)


def _options(keys: Mapping[str, str], params: Any) -> dict[str, Any]:
    rng = seeds.generator(params.seed, STUDY, *keys.values(), THREAT)
    return metric_options(params) | {"rng": rng}


def _named(keys: Mapping[str, str], name: str) -> dict[str, Any]:
    return {**keys, "threat": THREAT, "attack": name, "poison": 0}
