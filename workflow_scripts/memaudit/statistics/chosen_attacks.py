"""The strongest of the attacks on labels, and of poisons with a chosen label, each chosen on other contexts."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from memaudit.attacks import boundary_distance
from memaudit.attacks.attack_entry import LABELS, Attack
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import attack, threat
from memaudit.attacks.score_matrices import confidence, stable
from memaudit.attacks.signals import correctness
from memaudit.common import seeds, tidy
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.attack_performance import Estimate, rows
from memaudit.statistics.detection_size import smallest_auc, tells
from memaudit.statistics.strongest_score import AUC, TPR, Panel, choose, judge_each, judge_strongest

STRONGEST_LABELS = "strongest labels"
CHOSEN = {LABELS: "chosen poisons on labels", "probabilities": "chosen poisons"}


def attacks_on_labels(grid: xr.Dataset, settings: Mapping[str, Any]) -> dict[str, Attack]:
    """Attacks of a passive adversary who reads labels alone, by name, on the same records and contexts.

    grid: score matrix of labels near the targets; settings: `scale` and `count` of the noisy copies.
    """
    scale, count = settings["scale"], settings["count"]
    kept = stable(grid, scale, count)
    place = np.flatnonzero(np.isclose(grid["scale"].values, scale) & (grid["count"].values == count))[0]
    right = grid.right.values[..., place].astype(np.float64)
    finest = boundary_distance.resolution(grid.attrs["directions"], grid.attrs["steps"])
    return {
        "boundary": attack("boundary", grid.distance.values.astype(np.float64), floor=finest),
        "copies correct": attack("copies correct", right, floor=resolution_floor(1 / count)),
        "perturbation": attack("perturbation", kept, floor=resolution_floor(1 / count)),
        "lira correctness shrunk": attack(
            "lira correctness shrunk", grid.correct.values.astype(np.float64), floor=resolution_floor(1)
        ),
    }


def label_panel(grid: xr.Dataset, settings: Mapping[str, Any]) -> Panel:
    """The attacks of `attacks_on_labels`, judged by record."""
    facts = grid.design.values, grid.unit.values, Scheme.of(grid.attrs)
    return Panel.of_records(attacks_on_labels(grid, settings), *facts)


def label_queries(grid: xr.Dataset, settings: Mapping[str, Any]) -> dict[str, int]:
    """Label queries for one record and context, by attack."""
    lines, copies = grid.attrs["directions"] * grid.attrs["steps"], settings["count"]
    each = {"boundary": lines, "copies correct": copies, STRONGEST_LABELS: copies + lines}
    return {name: 1 + number for name, number in each.items()}


def poison_panel(grid: xr.Dataset, reads: str) -> Panel:
    """Poisons of each label and number, on the answers with several poisoned records in a context.

    reads: labels or probabilities. The target's true label is a choice, too.
    """
    of = xr.Dataset(
        {"logits": (("model", "record", "poisons", "copy", "class"), grid.chosen_logits.values)},
        {"label": ("record", grid.target_label.values)},
    )
    attacks = {}
    for choice, poisons in enumerate(grid.poisons.values):
        for number, copies in enumerate(grid["copy"].values):
            one, name = of.isel(poisons=choice, copy=number), f"{copies} copies, {poisons} label"
            if reads == LABELS:
                truth = np.broadcast_to(one.label.values, one.logits.shape[:2])
                right = correctness(one.logits.values.astype(float), truth).astype(np.float64)
                attacks[name] = attack(CHOSEN[LABELS], right, floor=resolution_floor(1))
            else:
                attacks[name] = attack("chosen poisons", confidence(one))
    return Panel.of_records(attacks, grid.chosen_design.values, grid.target_unit.values, Scheme.of(grid.attrs))


def strongest_of(panel: Panel, settings: Mapping[str, Any], rng: np.random.Generator) -> list[Estimate]:
    """AUC and TPRs of the attack of a panel that is chosen on other contexts, with a randomisation null.

    settings: fpr, replicates and permutations of a study.
    """
    chosen = choose(panel, min(settings["fpr"]))
    options = {"fprs": settings["fpr"], "replicates": settings["replicates"], "rng": rng}
    return judge_strongest(
        panel, {name: chosen[name] for name in (AUC, TPR)}, permutations=settings["permutations"], **options
    )


def each_of(panel: Panel, settings: Mapping[str, Any], rng: np.random.Generator) -> dict[str, list[Estimate]]:
    """AUC and TPRs of every attack of a panel with its interval, without a null."""
    return judge_each(panel, panel.attacks, fprs=settings["fpr"], replicates=settings["replicates"], rng=rng)


def rows_of(
    keys: Mapping[str, Any], near: xr.Dataset | None, poisoned: xr.Dataset | None, params: Any
) -> Iterator[dict[str, Any]]:
    """Tidy rows of the strongest attack on labels, its parts, and poisons with a chosen label.

    keys: dataset, arm, model and records; near, poisoned: score matrices, None where targets have no noisy copies, or
    no context is poisoned; params: of the job, with `seed`, `attacks`. No rows of a matrix that cannot detect the AUC
    of `attacks/detectable` (`detection_size`).
    """
    settings = params.attacks
    panels, queries = {}, {}
    if near is not None:
        panels[STRONGEST_LABELS] = label_panel(near, settings["perturbation"])
        queries = label_queries(near, settings["perturbation"])
    if poisoned is not None:
        panels |= {name: poison_panel(poisoned, reads) for reads, name in CHOSEN.items()}
    for name, one in panels.items():
        if not tells(*one.membership.shape, settings.get("detectable")):
            print(f"{keys['dataset']}, {name}: too few contexts and records", flush=True)
            continue
        rng = seeds.generator(params.seed, "attacks", *keys.values(), name)
        yield from _rows(keys, name, strongest_of(one, settings, rng), queries.get(name, 1), one)
        if name == STRONGEST_LABELS:
            each = each_of(one, settings, rng)
            for part in ("boundary", "copies correct"):
                yield from _rows(keys, part, each[part], queries[part], one)


def _rows(
    keys: Mapping[str, Any], name: str, found: list[Estimate], queries: int, panel: Panel
) -> Iterator[dict[str, Any]]:
    named = {**keys, "threat": threat(name), "attack": name, "poison": 0}
    print(f"{tidy.setting(named)}: AUC {found[0].estimate:.3f}", flush=True)
    yield from rows("attacks", named, found)
    yield tidy.row("attacks", named, "queries", queries, unit="queries", n=panel.membership.size)
    smallest = smallest_auc(*panel.membership.shape)
    yield tidy.row("attacks", named, "smallest auc", smallest, n=panel.membership.size)
