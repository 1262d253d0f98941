"""Tidy results of the ground truth: AUC of each attack, memorized records, and whether the probe ranks them.

All p-values are of permuted coins, corrected over the epochs and attacks of a condition (max-T). Key `records`:
trained, of which half were queries of each shadow model, or control, which none was fine-tuned on.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from memaudit.common import seeds, tidy
from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap
from memaudit.statistics.detection_power import POWER_OF_MEANS, smallest_of_largest
from memaudit.statistics.permutation_tests import max_t
from memaudit.statistics.within_model_auc import auc_replicates, interval, model_pair_weights
from memaudit.studies.iclmem.outcome_rules import LEVEL
from memaudit.studies.iclmem.probe_misses import MISSES, MISSES_NONE
from memaudit.studies.iclmem.run_metrics import IN_CONTEXT, PROBED, SIGNALS, STUDY
from memaudit.studies.iclmem.shadow_ground_truth import (
    ATTACKS,
    CALIBRATED,
    FEWEST_MODELS,
    LIRA,
    ShadowScores,
    agreement,
    memorized,
    shadow_scores,
)

Rows = Iterator[dict[str, Any]]

RECORDS = {"trained": False, "control": True}
UNSEEN = "has nothing to miss"
REFERENCE = (IN_CONTEXT, *CALIBRATED)  # attacks that the signals of the probe are held against


class Family(NamedTuple):
    """Tests of one condition that are corrected together, by (epoch, attack).

    p, detectable: of the tests; chance: mean under permuted coins; method: note of the correction.
    """

    p: Array
    detectable: Array
    chance: Array
    method: str


def verdict_rows(grid: xr.Dataset, models: int, keys: Mapping[str, str], settings: Mapping[str, Any]) -> Rows:
    """Rows of one condition; grid: `join_models`; models: number that were fine-tuned, diverged ones among them.

    settings: seed, permutations, replicates. Where fewer than FEWEST_MODELS have not diverged only their number is
    reported.
    """
    kept, epochs = grid.sizes["model"], [int(epoch) for epoch in grid.epoch.values]
    yield tidy.row(
        STUDY, keys, "shadow models", kept, n=models, unit="models", method="counted; those that diverged have none"
    )
    if kept < FEWEST_MODELS:
        return
    for records, control in RECORDS.items():
        if not (grid.control.values == control).any():
            continue
        by_epoch = [shadow_scores(grid, epoch, control, settings["permutations"], settings["seed"]) for epoch in epochs]
        family = _family(
            [[scores.aucs[name].mean() for name in ATTACKS] for scores in by_epoch],
            [[scores.permuted_aucs(name) for name in ATTACKS] for scores in by_epoch],
        )
        for at, (epoch, scores) in enumerate(zip(epochs, by_epoch, strict=True)):
            named = {**keys, "epoch": f"{epoch:g}", "records": records}
            aucs = list(_auc_rows(scores, named, family, at, settings))
            yield from aucs
            yield from _memorized_rows(scores, named)
            if not control:
                ends = [(row["low"], row["high"]) for row in aucs if row["metric"] == "shadow auc"]
                yield _missed(scores, named, family, at, np.array(ends))
        if not control:
            yield from _agreement_rows(by_epoch, epochs, keys, settings)


def _family(observed: Any, null: Any) -> Family:
    """observed: (epoch, attack); null: (epoch, attack, permutation)."""
    values, permuted = np.asarray(observed), np.asarray(null)
    flat = permuted.reshape(values.size, -1)
    shape, method = values.shape, f"max-T over {values.size} epochs and attacks, {flat.shape[1]} permutations of coins"
    detectable = np.minimum(smallest_of_largest(flat), 1).reshape(shape)
    return Family(max_t(values.ravel(), flat).reshape(shape), detectable, permuted.mean(-1), method)


def _auc_rows(
    scores: ShadowScores, keys: Mapping[str, str], family: Family, at: int, settings: Mapping[str, Any]
) -> Rows:
    rng = seeds.generator(settings["seed"], STUDY, *keys.values(), "shadow replicates")
    weights = model_pair_weights(len(scores.member), scores.pair, settings["replicates"], rng)
    samples = {name: auc_replicates(scores.scores(name), scores.member, weights) for name in ATTACKS}
    method = f"mean over {len(scores.member)} models; two-way bootstrap of model pairs and record pairs"
    power = f"power {POWER_OF_MEANS:g} of max-T p <= {LEVEL}; {family.method}"
    for number, name in enumerate(ATTACKS):
        named, chance = {**keys, "signal": name}, family.chance[at, number]
        auc, facts = scores.aucs[name].mean(), {"n": scores.member.size}
        low, high = interval(samples[name], auc, weights)
        yield tidy.row(STUDY, named, "shadow auc", auc, low=low, high=high, null=chance, method=method, **facts)
        p = family.p[at, number]
        yield tidy.row(STUDY, named, "shadow auc p-value", p, unit="probability", method=family.method, **facts)
        detectable = family.detectable[at, number]
        yield tidy.row(STUDY, named, "smallest detectable shadow auc", detectable, null=chance, method=power, **facts)
        if name != LIRA:
            gap = auc - scores.aucs[LIRA].mean()
            low, high = interval(samples[name] - samples[LIRA], gap, weights, -1)
            facts["method"] = f"{method}, paired"
            yield tidy.row(STUDY, named, "shadow auc less LiRA", gap, low=low, high=high, null=0.0, **facts)


def _memorized_rows(scores: ShadowScores, keys: Mapping[str, str]) -> Rows:
    q, by_chance = memorized(scores)
    method = f"q <= {LEVEL} of the effect of membership on the loss in context; null: mean under permuted coins"
    keys, facts = {**keys, "signal": LIRA}, {"n": len(q), "unit": "records"}
    found, mean = (q <= LEVEL).sum(), by_chance.mean()
    yield tidy.row(STUDY, keys, "memorized records", found, **facts, null=mean, method=method)
    low, high = bootstrap.quantiles(by_chance, [0.025, 0.975])
    facts |= {"low": low, "high": high, "null": 0.0, "method": "permuted coins; mean, and where 95 % of them lie"}
    yield tidy.row(STUDY, keys, "memorized records under permutation", mean, **facts)


def _missed(scores: ShadowScores, keys: Mapping[str, str], family: Family, at: int, ends: Array) -> dict[str, Any]:
    """Row of the AUC of the strongest detected attack of REFERENCE, whose name is `signal`; of LiRA if none is.

    Detected: p is at most LEVEL, and the interval, whose `ends` are (attack, 2), lies above chance. Key `probe`:
    whether the probe misses what that attack detects: no signal of the probe has such a p, though each would with
    probability .9 at a smaller AUC.
    """
    small = dict(zip(ATTACKS, family.p[at] <= LEVEL, strict=True))
    above = dict(zip(ATTACKS, ends[:, 0] > family.chance[at], strict=True))
    detected = {name: small[name] and above[name] for name in REFERENCE}
    aucs = {name: scores.aucs[name].mean() for name in ATTACKS}
    strongest = max((name for name in REFERENCE if detected[name]), key=lambda name: aucs[name], default=LIRA)
    able = aucs[strongest] > max(family.detectable[at, ATTACKS.index(name)] for name in PROBED)
    verdict = MISSES if able and not any(small[name] for name in PROBED) else MISSES_NONE
    named = {**keys, "signal": strongest, "probe": verdict if detected[strongest] else UNSEEN}
    low, high = ends[ATTACKS.index(strongest)]
    facts = {"n": len(scores.member), "low": low, "high": high, "null": family.chance[at, ATTACKS.index(strongest)]}
    return tidy.row(STUDY, named, "auc of the ground truth", aucs[strongest], method="mean over shadow models", **facts)


def _agreement_rows(
    by_epoch: list[ShadowScores], epochs: list[int], keys: Mapping[str, str], settings: Mapping[str, Any]
) -> Rows:
    """Rows of the rank correlation of each signal's effects with those of the loss in context of other models."""
    rng = seeds.generator(settings["seed"], STUDY, *keys.values(), "shadow agreement")
    found = [[agreement(scores, name, rng, settings["replicates"]) for name in SIGNALS] for scores in by_epoch]
    family = _family([[one.observed for one in row] for row in found], [[one.null for one in row] for row in found])
    method = "Spearman over records, of two halves of the models; bootstrap over record pairs, effects fixed"
    power = f"power {POWER_OF_MEANS:g} of max-T p <= {LEVEL}; {family.method}"
    for at, epoch in enumerate(epochs):
        records = len(by_epoch[at].pair)
        for number, name in enumerate(SIGNALS):
            one, named = found[at][number], {**keys, "epoch": f"{epoch:g}", "records": "trained", "signal": name}
            chance = family.chance[at, number]
            facts = {"low": one.low, "high": one.high, "null": chance, "n": records, "unit": "correlation"}
            yield tidy.row(STUDY, named, "rank correlation", one.observed, method=method, **facts)
            facts = {"n": records, "unit": "probability", "method": family.method}
            yield tidy.row(STUDY, named, "rank correlation p-value", family.p[at, number], **facts)
            facts = {"n": records, "unit": "correlation", "method": power, "null": chance}
            yield tidy.row(STUDY, named, "smallest detectable correlation", family.detectable[at, number], **facts)
