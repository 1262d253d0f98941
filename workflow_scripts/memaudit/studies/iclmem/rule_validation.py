"""Validation of the outcome rules (ICLMEM, Table 3): false positive rates on negative controls, checks of detections.

Also the intraclass correlation of the runs of one split.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common import tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics.intraclass_correlation import icc
from memaudit.statistics.permutation_tests import p_values_of_permutations, q_value
from memaudit.studies.iclmem.manipulation_effects import ALL
from memaudit.studies.iclmem.outcome_rules import COLLAPSE, DETECTABLE, LEVEL, Rule
from memaudit.studies.iclmem.outcome_shares import SplitBootstrap, rules
from memaudit.studies.iclmem.run_metrics import ATTACK_SIGNALS, LARGER, SIGNALS, STUDY
from memaudit.studies.iclmem.setting_summaries import NULL_CALIBRATED, keys_of
from memaudit.studies.iclmem.significance_tests import FAMILIES, Study, decisions, permuted_detections

Rows = Iterator[dict[str, Any]]
Effects = Sequence[tuple[dict[str, Any], NDArray[np.intp], str]]

POOL = ["model", "regime"]
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


def _passing(study: Study, rule: Rule) -> dict[str, float]:
    """Share of the permuted memberships that a published rule calls detectable which pass a check, by its name.

    It is larger than LEVEL, since the rule picks large AUCs. {} where the rule detects in no permutation.
    """
    intact = (study.runs["outcome_" + rules(study.runs)[0]] != COLLAPSE).to_numpy()
    hits = _detectable(study, rule)[intact]
    if not hits.any():
        return {}
    own = p_values_of_permutations(study.values("permuted")[LARGER]) <= LEVEL
    passed = {"p-value": own}
    for check, signal in HEADLINE.items():
        family = next(family for family in FAMILIES if signal in family)
        detected = permuted_detections(study, family)[family.index(signal)]
        passed[check] = np.zeros_like(own)
        for places, found in zip(study.settings(), detected, strict=True):
            passed[check][places] = found
    return {check: float(found[intact][hits].mean()) for check, found in passed.items()}


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
    for signal, decided in decisions(study).items():
        defined = decided["auc"].notna()
        keys = {"rule": NULL_CALIBRATED, "signal": signal, "of": "setting", "stage": "criterion"}
        facts = {"n": defined.sum(), "method": "settings share splits: no interval", "null": LEVEL}
        yield tidy.row(STUDY, keys, "placebo rate", decided["detected"][defined].mean(), **facts)


def survival(
    study: Study,
    known: Mapping[str, Rule],
    decided: Mapping[str, pd.DataFrame],
    effects: Effects,
    resampling: SplitBootstrap,
) -> Rows:
    """Share of each rule's detections that pass each check, by label condition and for all; NaN without detections.

    criterion share: runs whose larger AUC is above the rule's threshold, of those that did not diverge; null: the same
    share under permuted memberships. null of a check of the run's own p-value or of its setting: the share of permuted
    memberships that passes it, of those that the rule calls detectable.

    Checks of a run, see `_checks`. Key `of` = setting: settings that the rule calls detectable in most of their splits.
    """
    runs, settings = study.runs, study.settings()
    checks = _checks(study, decided, effects)
    for rule in rules(runs):
        hits = (runs[f"outcome_{rule}"] == DETECTABLE).to_numpy()
        by_chance = _passing(study, known[rule]) if rule in known else {}
        for labels in (ALL, *runs["labels"].unique()):
            counted = (runs["labels"] == labels).to_numpy() | (labels == ALL)
            chosen = hits & counted
            keys = {"rule": rule, "labels": labels, "of": "run"}
            yield tidy.row(STUDY, keys, "detections", chosen.sum(), unit="runs", n=counted.sum(), method="counted")
            for check, passed in checks.items():
                compared = chosen & ~np.isnan(passed)
                share = resampling.mean(passed[compared], runs[compared])
                facts = {**share, "null": by_chance.get(check, np.nan)}
                yield tidy.row(STUDY, {**keys, "check": check}, "surviving share", **facts)
        if rule in known:
            criterion = _criterion(study, known[rule], resampling)
            yield tidy.row(STUDY, {"rule": rule, "of": "run"}, "criterion share", **criterion)
        yield from _surviving_settings(np.array([hits[places].mean() > 0.5 for places in settings]), decided, rule)


def _checks(study: Study, decided: Mapping[str, pd.DataFrame], effects: Effects) -> dict[str, Array]:
    """Checks by name, (run,): 1 passed, 0 failed, NaN not applicable.

    The run's own p-value and its q-value among all runs, both of the larger AUC, as the rule takes it; whether its
    setting is detected, on the larger AUC and on the loss; with normal labels, whether the AUC weakens when labels are
    shuffled (the interval of the difference of the losses' AUCs lies above 0).
    """
    runs = study.runs
    checks = {"p-value": runs["larger_p"] <= LEVEL, "q-value": q_value(runs["larger_p"].to_numpy()) <= LEVEL}
    checks = {name: np.asarray(passed, np.float64) for name, passed in checks.items()}
    for name, signal in HEADLINE.items():
        checks[name] = np.zeros(len(runs))
        for places, hit in zip(study.settings(), decided[signal]["detected"], strict=True):
            checks[name][places] = hit
    return checks | {f"weaker {labels}": passed for labels, passed in _weakened(len(runs), effects).items()}


def _criterion(study: Study, rule: Rule, resampling: SplitBootstrap) -> dict[str, Any]:
    finite = ~study.runs["diverged"].to_numpy(bool)
    share = resampling.mean(study.runs["larger_auc"][finite] > rule.auc, study.runs[finite])
    return share | {"null": (study.values("permuted")[LARGER][finite] > rule.auc).mean()}


def _surviving_settings(hits: Mask, decided: Mapping[str, pd.DataFrame], rule: str) -> Rows:
    keys, facts = {"rule": rule, "labels": ALL, "of": "setting"}, {"unit": "settings", "method": "counted"}
    yield tidy.row(STUDY, keys, "detections", hits.sum(), n=len(hits), **facts)
    for check, signal in HEADLINE.items():
        share = decided[signal]["detected"][hits].mean() if hits.any() else np.nan
        method = {"n": hits.sum(), "method": "settings share splits: no interval"}
        yield tidy.row(STUDY, {**keys, "check": check}, "surviving share", share, **method)


def _weakened(runs: int, effects: Effects) -> dict[str, Array]:
    """For each other label condition (run,): 1 where the loss's AUC weakens, 0 where it does not, NaN not compared."""
    weakened: dict[str, Array] = {}
    for row, places, labels in effects:
        if f"signal={ATTACK_SIGNALS[0]}" in row["setting"].split(", ") and not np.isnan(row["estimate"]):
            weakened.setdefault(labels, np.full(runs, np.nan))[places] = row["low"] > 0
    return weakened


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
        for signal in ATTACK_SIGNALS:
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
