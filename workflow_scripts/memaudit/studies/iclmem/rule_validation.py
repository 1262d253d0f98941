"""Validation of the outcome rules (ICLMEM, Table 3): false positive rates on negative controls, checks of detections.

Also the intraclass correlation of the runs of one split.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common import tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics.detection_power import POWER_OF_MEANS, smallest_rate
from memaudit.statistics.intraclass_correlation import icc
from memaudit.statistics.permutation_tests import p_values_of_permutations, q_value, q_values_of_permutations
from memaudit.statistics.roc import ROUNDING
from memaudit.studies.iclmem.label_effects import LabelEffect
from memaudit.studies.iclmem.manipulation_effects import ALL
from memaudit.studies.iclmem.outcome_rules import COLLAPSE, DETECTABLE, LEVEL, Rule
from memaudit.studies.iclmem.outcome_shares import SplitBootstrap, rules
from memaudit.studies.iclmem.run_metrics import ATTACK_SIGNALS, LARGER, SIGNALS, STUDY
from memaudit.studies.iclmem.setting_summaries import NULL_CALIBRATED, keys_of
from memaudit.studies.iclmem.significance_tests import (
    CONFOUNDED,
    FAMILIES,
    Study,
    decisions,
    permuted_detections,
)

Rows = Iterator[dict[str, Any]]
Effects = Sequence[LabelEffect]

POOL = ["model", "regime"]
OF_RUNS = ("p-value", "q-value")  # checks of each run; all others are the same for all runs of a setting
HEADLINE = {"setting": LARGER, "setting on loss": ATTACK_SIGNALS[0]}  # check: signal


def permutation_rates(study: Study, known: Mapping[str, Rule], resampling: SplitBootstrap) -> Rows:
    """Share of permuted memberships in which each published rule detects memorization.

    Runs, pairs and numbers are the same, so this is the rate by chance. Key `stage`: the criterion alone, on every run
    that did not diverge, or the whole table of outcomes, on runs that did not collapse. The criterion of the
    null-calibrated rule detects in LEVEL of them by construction.
    """
    first = rules(study.runs)[0]
    counted = {"criterion": ~study.runs["diverged"].astype(bool), "outcome": study.runs[f"outcome_{first}"] != COLLAPSE}
    for name, rule in known.items():
        hits = {"criterion": study.values("permuted")[LARGER] > rule.auc, "outcome": _detectable(study, rule)}
        for stage, chosen in counted.items():
            for _, group in study.runs[chosen].groupby(POOL):
                keys = {**keys_of(group.iloc[0], POOL), "rule": name, "signal": LARGER, "of": "permutation"}
                rate = resampling.mean(hits[stage][group.index].mean(axis=1), group)
                yield tidy.row(STUDY, {**keys, "stage": stage}, "placebo rate", **rate, null=LEVEL)


def _detectable(study: Study, rule: Rule) -> Mask:
    """Permuted memberships (run, permutation) that a published rule calls detectable, of runs without collapse."""
    gap = study.null["permuted_gap"].transpose("run", "permutation").values
    return (gap <= 0) & (study.values("permuted")[LARGER] > rule.auc)


def _passing(study: Study, effects: Effects) -> Iterator[tuple[str, Array]]:
    """Checks of `_checks` for each permuted membership in place of the true one: name, (run, permutation).

    1 passed, 0 failed, NaN not applicable; each by its whole rule, corrected as the true one is. Permutations are those
    of `jointly_permuted`. For the effect of labels the interval of a permuted difference is as wide as that of the true
    one.
    """
    drawn = study.jointly_permuted()
    permuted = drawn.values("permuted")
    p = p_values_of_permutations(permuted[LARGER])
    yield "p-value", p <= LEVEL
    q, confounded = np.full(p.shape, np.nan), (study.runs["labels"] == CONFOUNDED).to_numpy()
    for chosen in (confounded, ~confounded):
        q[chosen] = q_values_of_permutations(p[chosen])
    yield "q-value", q <= LEVEL + ROUNDING
    for check, signal in HEADLINE.items():
        family = next(family for family in FAMILIES if signal in family)
        detected = permuted_detections(study, family)[family.index(signal), :, : p.shape[1]]
        yield check, _of_runs(study, detected)
    weakening = _weakening(effects)
    for labels in dict.fromkeys(effect.labels for effect in weakening):
        passed = np.full(p.shape, np.nan)
        for effect in (effect for effect in weakening if effect.labels == labels):
            gaps = permuted[effect.signal][effect.normal] - permuted[effect.signal][effect.other]
            passed[effect.compared] = gaps.mean(axis=0) > effect.below
        yield f"weaker {labels}", passed


def _shares_by_chance(
    study: Study, known: Mapping[str, Rule], effects: Effects, counted: Mapping[str, Mask]
) -> dict[tuple[str, str, str], float]:
    """Share that passes a check, of permuted memberships that a published rule calls detectable.

    By rule, name of `counted` runs, and check; NaN where the rule detects in no permutation.
    """
    intact = (study.runs["outcome_" + rules(study.runs)[0]] != COLLAPSE).to_numpy()[:, None]
    drawn = study.jointly_permuted()
    hits = {name: _detectable(drawn, rule) & intact for name, rule in known.items()}
    found = {}
    for check, passed in _passing(study, effects):
        for name, by_chance in hits.items():
            for labels, runs in counted.items():
                compared = passed[by_chance & runs[:, None] & ~np.isnan(passed)]
                found[name, labels, check] = float(compared.mean()) if len(compared) else np.nan
    return found


def _of_runs(study: Study, of_settings: Array) -> Array:
    """Values (setting, ...) of the settings for each of their runs, (run, ...)."""
    values = np.zeros((len(study.runs), *of_settings.shape[1:]))
    for places, value in zip(study.settings(), of_settings, strict=True):
        values[places] = value
    return values


def negative_control_rates(study: Study, known: Mapping[str, Rule], resampling: SplitBootstrap) -> Rows:
    """Share of negative controls in which each rule detects memorization; the nominal rate is LEVEL.

    Negative controls are fine-tuned on other records than the attacked ones, with the same splits, pairs, numbers and
    rules. Key `stage`: the criterion alone, on every run that did not diverge, or the whole table of outcomes, on runs
    that did not collapse. Key `of`: runs; or settings, whose decision is that of the headline.
    """
    runs = study.runs
    if not len(runs):
        return
    hits = {(name, LARGER, "criterion"): runs["larger_auc"] > rule.auc for name, rule in known.items()}
    hits |= {(NULL_CALIBRATED, signal, "criterion"): runs[f"{signal}_p"] <= LEVEL for signal in (*SIGNALS, LARGER)}
    hits |= {(name, LARGER, "outcome"): runs[f"outcome_{name}"] == DETECTABLE for name in rules(runs)}
    counted = {"criterion": ~runs["diverged"].astype(bool), "outcome": runs["outcome_" + rules(runs)[0]] != COLLAPSE}
    for _, group in runs.groupby(POOL):
        for (rule, signal, stage), detected in hits.items():
            chosen = group[counted[stage][group.index]]
            keys = {**keys_of(group.iloc[0], POOL), "rule": rule, "signal": signal, "of": "run", "stage": stage}
            yield tidy.row(STUDY, keys, "placebo rate", **resampling.mean(detected[chosen.index], chosen), null=LEVEL)
            yield _detectable_rate(keys, chosen.groupby(["dataset", "split"]).ngroups, "splits")
    for signal, decided in decisions(study).items():
        defined = decided["auc"].notna()
        keys = {"rule": NULL_CALIBRATED, "signal": signal, "of": "setting", "stage": "criterion"}
        facts = {"n": defined.sum(), "method": "settings share splits: no interval", "null": LEVEL}
        yield tidy.row(STUDY, keys, "placebo rate", decided["detected"][defined].mean(), **facts)
        yield _detectable_rate(keys, int(defined.sum()), "settings")


def _detectable_rate(keys: Mapping[str, Any], units: int, called: str) -> dict[str, Any]:
    """Row of the smallest rate that so many units show to be above the nominal one with probability .9."""
    method = f"power {POWER_OF_MEANS:g} of Clopper and Pearson's interval, as of {units} {called}; NaN: no rate"
    rate = smallest_rate(units, LEVEL)
    return tidy.row(STUDY, keys, "smallest detectable rate", rate, n=units, method=method, null=LEVEL)


def survival(
    study: Study,
    known: Mapping[str, Rule],
    decided: Mapping[str, pd.DataFrame],
    effects: Effects,
    resampling: SplitBootstrap,
) -> Rows:
    """Share of each rule's detections that pass each check, by label condition and for all clean ones (not CONFOUNDED).

    NaN without detections. criterion share: runs whose larger AUC is above the rule's threshold, of clean ones that did
    not diverge; null: the same share under permuted memberships. null of a check of a run: the share of permuted
    memberships that passes it, of those that the rule calls detectable.

    Checks of a run, see `_checks`. What a setting passes or not counts settings, each with the weight of its detected
    runs: the expected share among the detections of one split. Key `of` = setting: settings that the rule calls
    detectable in most of their splits.
    """
    runs, settings = study.runs, study.settings()
    checks = _checks(study, decided, effects)
    clean = (runs["labels"] != CONFOUNDED).to_numpy()
    counted = {ALL: clean} | {labels: (runs["labels"] == labels).to_numpy() for labels in runs["labels"].unique()}
    by_chance = _shares_by_chance(study, known, effects, counted)
    for rule in rules(runs):
        hits = (runs[f"outcome_{rule}"] == DETECTABLE).to_numpy()
        for labels, of in counted.items():
            chosen = hits & of
            keys = {"rule": rule, "labels": labels, "of": "run"}
            yield tidy.row(STUDY, keys, "detections", chosen.sum(), unit="runs", n=of.sum(), method="counted")
            for check, passed in checks.items():
                compared = chosen & ~np.isnan(passed)
                counted_by = resampling.mean if check in OF_RUNS else resampling.share_of_settings
                share = counted_by(passed[compared], runs[compared])
                facts = {**share, "null": by_chance.get((rule, labels, check), np.nan)}
                yield tidy.row(STUDY, {**keys, "check": check}, "surviving share", **facts)
        if rule in known:
            criterion = _criterion(study, known[rule], clean, resampling)
            yield tidy.row(STUDY, {"rule": rule, "labels": ALL, "of": "run"}, "criterion share", **criterion)
        majority = np.array([clean[places].all() and hits[places].mean() > 0.5 for places in settings])
        yield from _surviving_settings(majority, decided, rule)


def _checks(study: Study, decided: Mapping[str, pd.DataFrame], effects: Effects) -> dict[str, Array]:
    """Checks by name, (run,): 1 passed, 0 failed, NaN not applicable.

    The run's own p-value and its q-value among all runs, both of the larger AUC, as the rule takes it; whether its
    setting is detected, on the larger AUC and on the loss; with normal labels, whether the AUC weakens when labels are
    shuffled (the interval of the difference of the losses' AUCs lies above 0). Where only members' labels are shuffled,
    q-values are of these runs alone.
    """
    p, confounded = study.runs["larger_p"].to_numpy(), (study.runs["labels"] == CONFOUNDED).to_numpy()
    q = np.full(len(p), np.nan)
    for chosen in (confounded, ~confounded):
        q[chosen] = q_value(p[chosen])
    checks = {"p-value": (p <= LEVEL).astype(float), "q-value": (q <= LEVEL + ROUNDING).astype(float)}
    checks |= {name: _of_runs(study, decided[signal]["detected"].to_numpy()) for name, signal in HEADLINE.items()}
    for effect in _weakening(effects):
        checks.setdefault(f"weaker {effect.labels}", np.full(len(p), np.nan))[effect.compared] = effect.low > 0
    return checks


def _weakening(effects: Effects) -> list[LabelEffect]:
    """Effects of labels on the loss, of settings that did not diverge in all splits."""
    return [one for one in effects if one.signal == ATTACK_SIGNALS[0] and len(one.normal)]


def _criterion(study: Study, rule: Rule, clean: Mask, resampling: SplitBootstrap) -> dict[str, Any]:
    counted = clean & ~study.runs["diverged"].to_numpy(bool)
    share = resampling.mean(study.runs["larger_auc"][counted] > rule.auc, study.runs[counted])
    return share | {"null": (study.values("permuted")[LARGER][counted] > rule.auc).mean() if counted.any() else np.nan}


def _surviving_settings(hits: Mask, decided: Mapping[str, pd.DataFrame], rule: str) -> Rows:
    keys, facts = {"rule": rule, "labels": ALL, "of": "setting"}, {"unit": "settings", "method": "counted"}
    yield tidy.row(STUDY, keys, "detections", hits.sum(), n=len(hits), **facts)
    for check, signal in HEADLINE.items():
        share = decided[signal]["detected"][hits].mean() if hits.any() else np.nan
        method = {"n": hits.sum(), "method": "settings share splits: no interval"}
        yield tidy.row(STUDY, {**keys, "check": check}, "surviving share", share, **method)


def variation(study: Study) -> Rows:
    """Variance of the AUC between splits of a data set and between runs of one split, after each setting's mean.

    null of the former: its expectation for independent runs, the latter over their number. "split share": the
    intraclass correlation ICC(C,1), 0 for independent runs, 1 where all runs of a split deviate alike. Settings that
    diverged in some split are left out.
    """
    settings = study.settings()
    for dataset in study.runs["dataset"].unique():
        own = [runs for runs in settings if study.runs["dataset"].iloc[runs[0]] == dataset]
        most = max(map(len, own))
        for signal in SIGNALS:
            values = study.values("observed")[signal]
            grid = np.array([values[runs] for runs in own if len(runs) == most and not np.isnan(values[runs]).any()])
            if len(grid) < 2 or most < 2:
                continue
            residuals = grid - grid.mean(axis=1, keepdims=True)
            common = residuals.mean(axis=0)
            between = common.var(ddof=1)
            within = np.square(residuals - common).sum() / ((most - 1) * (len(grid) - 1))
            keys = {"dataset": dataset, "signal": signal}
            facts = {"n": grid.size, "method": f"{len(grid)} settings in each of {most} splits", "unit": "variance"}
            yield tidy.row(STUDY, keys, "auc variance between splits", between, null=within / len(grid), **facts)
            yield tidy.row(STUDY, keys, "auc variance within splits", within, **facts)
            if between + within > 0:
                facts |= icc(between, within, *grid.shape) | {"unit": "fraction", "null": 0.0}
                facts["method"] += ", noncentral F: about these splits"
                yield tidy.row(STUDY, keys, "split share", **facts)
