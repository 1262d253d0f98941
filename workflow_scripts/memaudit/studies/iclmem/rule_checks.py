"""How far the published rule can be trusted: placebos, survival, and how strongly the runs of one split go together;
and what the manipulations add (ICLMEM, Table 3, A.3, Figure 4)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import f as f_distribution

from memaudit import tidy
from memaudit.arrays import Array, Mask
from memaudit.errors import AuditError
from memaudit.studies.iclmem.chance_nulls import LEVEL, q_value
from memaudit.studies.iclmem.decisions import SIGNALS, Study, decisions
from memaudit.studies.iclmem.outcome_shares import Resampled, rules
from memaudit.studies.iclmem.run_outcomes import COLLAPSE, DETECTABLE, Rule
from memaudit.studies.iclmem.run_results import JUDGED, LARGER, STUDY
from memaudit.studies.iclmem.setting_results import NULL_CALIBRATED, keys_of

Rows = Iterator[dict[str, Any]]

POOL = ["model", "regime"]
BASELINE = "baseline"
ALL = "all"
HEADLINE = {"setting": LARGER, "setting on loss": JUDGED[0]}  # check: signal


def permutations(study: Study, known: Mapping[str, Rule], resampled: Resampled) -> Rows:
    """How often the criterion of each published rule finds memory where memberships are permuted: the same runs, pairs
    and numbers, so this is what it finds by chance. The null-calibrated rule finds LEVEL by construction."""
    permuted = study.values("permuted")[LARGER]
    runs = study.runs[~study.runs["diverged"].to_numpy(bool)]
    for _, group in runs.groupby(POOL):
        for name, rule in known.items():
            keys = {**keys_of(group.iloc[0], POOL), "rule": name, "signal": LARGER, "of": "permutation"}
            rate = resampled.mean((permuted[group.index] > rule.auc).mean(axis=1), group)
            yield tidy.row(STUDY, {**keys, "stage": "criterion"}, "placebo rate", **rate, null=LEVEL)


def placebos(study: Study, known: Mapping[str, Rule], resampled: Resampled) -> Rows:
    """How often each rule finds memory in arms that were fine-tuned on other records than the judged ones: the same
    splits, pairs, numbers and rules as of any run, and nothing to find. Nominal is LEVEL.

    stage: the criterion alone, on every run that did not diverge, or the whole table of outcomes, on runs that did not
    collapse. of: runs; or settings, whose decision is that of the headline.
    """
    runs = study.runs
    if not len(runs):
        return
    hits = {(name, LARGER, "criterion"): runs["larger_auc"] > rule.auc for name, rule in known.items()}
    hits |= {(NULL_CALIBRATED, signal, "criterion"): runs[f"{signal}_p"] <= LEVEL for signal in SIGNALS}
    hits |= {(name, LARGER, "outcome"): runs[f"outcome_{name}"] == DETECTABLE for name in rules(runs)}
    asked = {"criterion": ~runs["diverged"].astype(bool), "outcome": runs["outcome_" + rules(runs)[0]] != COLLAPSE}
    for _, group in runs.groupby(POOL):
        for (rule, signal, stage), found in hits.items():
            chosen = group[asked[stage][group.index]]
            keys = {**keys_of(group.iloc[0], POOL), "rule": rule, "signal": signal, "of": "run", "stage": stage}
            yield tidy.row(STUDY, keys, "placebo rate", **resampled.mean(found[chosen.index], chosen), null=LEVEL)
    for signal, decided in decisions(study).items():
        sound = decided["auc"].notna()
        keys = {"rule": NULL_CALIBRATED, "signal": signal, "of": "setting", "stage": "criterion"}
        told = {"n": sound.sum(), "method": "settings share splits: no interval", "null": LEVEL}
        yield tidy.row(STUDY, keys, "placebo rate", decided["detected"][sound].mean(), **told)


def survival(
    study: Study,
    known: Mapping[str, Rule],
    decided: Mapping[str, pd.DataFrame],
    effects: Sequence[tuple[dict[str, Any], NDArray[np.intp], str]],
    resampled: Resampled,
) -> Rows:
    """Share of each rule's detections that stand up to each check, by label condition and for all; NaN of none.

    criterion share: runs whose larger AUC is above the rule's threshold, of those that did not diverge; null: the same
    share where memberships are permuted.

    Checks of a run: its own p-value, its q-value among all runs, both of the larger AUC, as the rule takes it; whether
    its setting is detected, on the larger AUC and on the loss; with normal labels, whether the AUC weakens when labels
    are shuffled (the interval of the difference of losses' AUCs lies above 0). of = setting: those that the rule calls
    detectable in most of their splits.
    """
    runs, settings = study.runs, study.settings()
    called = {rule: (runs[f"outcome_{rule}"] == DETECTABLE).to_numpy() for rule in rules(runs)}
    checks = {"p-value": runs["larger_p"] <= LEVEL, "q-value": q_value(runs["larger_p"].to_numpy()) <= LEVEL}
    checks = {name: np.asarray(passed, np.float64) for name, passed in checks.items()}
    for name, signal in HEADLINE.items():
        checks[name] = np.zeros(len(runs))
        for places, hit in zip(settings, decided[signal]["detected"], strict=True):
            checks[name][places] = hit
    checks |= {f"weaker {labels}": passed for labels, passed in _weakened(len(runs), effects).items()}
    for rule, hits in called.items():
        for labels in (ALL, *runs["labels"].unique()):
            asked = (runs["labels"] == labels).to_numpy() | (labels == ALL)
            chosen = hits & asked
            keys = {"rule": rule, "labels": labels, "of": "run"}
            yield tidy.row(STUDY, keys, "detections", chosen.sum(), unit="runs", n=asked.sum(), method="counted")
            for check, passed in checks.items():
                compared = chosen & ~np.isnan(passed)
                found = resampled.mean(passed[compared], runs[compared])
                null = np.nan if check.startswith("weaker") else LEVEL
                yield tidy.row(STUDY, {**keys, "check": check}, "surviving share", **found, null=null)
        if rule in known:
            yield tidy.row(
                STUDY, {"rule": rule, "of": "run"}, "criterion share", **_criterion(study, known[rule], resampled)
            )
        yield from _surviving_settings(np.array([hits[places].mean() > 0.5 for places in settings]), decided, rule)


def _criterion(study: Study, rule: Rule, resampled: Resampled) -> dict[str, Any]:
    sound = ~study.runs["diverged"].to_numpy(bool)
    found = resampled.mean(study.runs["larger_auc"][sound] > rule.auc, study.runs[sound])
    return found | {"null": (study.values("permuted")[LARGER][sound] > rule.auc).mean()}


def _surviving_settings(hits: Mask, decided: Mapping[str, pd.DataFrame], rule: str) -> Rows:
    keys, told = {"rule": rule, "labels": ALL, "of": "setting"}, {"unit": "settings", "method": "counted"}
    yield tidy.row(STUDY, keys, "detections", hits.sum(), n=len(hits), **told)
    for check, signal in HEADLINE.items():
        share = decided[signal]["detected"][hits].mean() if hits.any() else np.nan
        method = {"n": hits.sum(), "method": "settings share splits: no interval"}
        yield tidy.row(STUDY, {**keys, "check": check}, "surviving share", share, **method)


def _weakened(runs: int, effects: Sequence[tuple[dict[str, Any], NDArray[np.intp], str]]) -> dict[str, Array]:
    """For each other label condition (run,): 1 where the loss's AUC weakens, 0 where it does not, NaN not compared."""
    found: dict[str, Array] = {}
    for row, places, labels in effects:
        if f"signal={JUDGED[0]}" in row["setting"].split(", ") and not np.isnan(row["estimate"]):
            found.setdefault(labels, np.full(runs, np.nan))[places] = row["low"] > 0
    return found


def variation(study: Study) -> Rows:
    """Variance of the AUC between splits of a data set and between runs of one split, after each setting's mean.

    null of the former: what independent runs would give, the latter over their number. "split share": the intraclass
    correlation ICC(C,1), 0 for independent runs, 1 where all runs of a split are above or below together, with its
    95 % interval from the F distribution (McGraw & Wong 1996). Settings that diverged in some split are left out.
    """
    settings = study.settings()
    for dataset in study.runs["dataset"].unique():
        own = [runs for runs in settings if study.runs["dataset"].iloc[runs[0]] == dataset]
        most = max(map(len, own))
        for signal in JUDGED:
            values = study.values("observed")[signal]
            grid = np.array([values[runs] for runs in own if len(runs) == most and not np.isnan(values[runs]).any()])
            if len(grid) < 2 or most < 2:
                continue
            residuals = grid - grid.mean(axis=1, keepdims=True)
            common = residuals.mean(axis=0)
            between = common.var(ddof=1)
            within = np.square(residuals - common).sum() / ((most - 1) * (len(grid) - 1))
            keys = {"dataset": dataset, "signal": signal}
            told = {"n": grid.size, "method": f"{len(grid)} settings in each of {most} splits", "unit": "variance"}
            yield tidy.row(STUDY, keys, "auc variance between splits", between, null=within / len(grid), **told)
            yield tidy.row(STUDY, keys, "auc variance within splits", within, **told)
            if between + within > 0:
                told |= _correlation(between, within, *grid.shape) | {"unit": "fraction", "null": 0.0}
                yield tidy.row(STUDY, keys, "split share", **told)


def _correlation(between: float, within: float, runs: int, splits: int) -> dict[str, float]:
    """The intraclass correlation from the variance of the means of that many runs of a split, and its interval."""
    common, quantile = runs * between, f_distribution(splits - 1, (splits - 1) * (runs - 1)).ppf
    own = {"estimate": within, "low": within * quantile(0.975), "high": within * quantile(0.025)}
    return {name: (common - one) / (common + (runs - 1) * one) for name, one in own.items()}


def manipulations(study: Study, resampled: Resampled) -> Rows:
    """What one manipulation adds to the AUC of the unperturbed baseline, alone and by category (A.3, Figure 4).

    runs: all that did not collapse, or those that the rule of that name finds detectable. Raises AuditError unless one
    manipulation is of category "baseline".
    """
    names = study.null.manipulation.values.astype(str)
    categories = np.array([name.partition(": ")[0] for name in names])
    baseline = np.flatnonzero(np.char.lower(categories) == BASELINE)
    if len(baseline) != 1:
        raise AuditError(f"iclmem: {len(baseline)} manipulations are of category {BASELINE}, not one; mend the suite")
    known = {ALL: study.runs["outcome_" + rules(study.runs)[0]] != COLLAPSE}
    known |= {rule: study.runs[f"outcome_{rule}"] == DETECTABLE for rule in rules(study.runs)}
    for signal in JUDGED:
        alone = study.null.alone.sel(signal=signal).transpose("run", "manipulation").values.astype(np.float64)
        effect = alone - alone[:, baseline]
        parts = {("manipulation", name): effect[:, [i]] for i, name in enumerate(names)}
        parts |= {("category", name): effect[:, categories == name] for name in dict.fromkeys(categories)}
        for kind, chosen in known.items():
            for model, group in study.runs[chosen].groupby("model"):
                keys = {"model": model, "runs": kind, "signal": signal}
                base = resampled.mean(alone[group.index, baseline[0]], group, share=False)
                yield tidy.row(STUDY, keys, "auc of the baseline", **base, null=0.5)
                for (what, name), values in parts.items():
                    yield from _effect(values[group.index], group, {**keys, what: name}, resampled)


def _effect(values: Array, runs: pd.DataFrame, keys: Mapping[str, Any], resampled: Resampled) -> Rows:
    """Mean of values (run, manipulation); a data set of few labels may not have some manipulations."""
    defined = ~np.isnan(values).all(axis=1)
    if defined.any():
        found = resampled.mean(np.nanmean(values[defined], axis=1), runs[defined], share=False)
        yield tidy.row(STUDY, keys, "auc effect", **found, null=0.0)
