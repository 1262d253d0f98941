"""How far the published rule can be trusted: placebos, survival, and how strongly the runs of one split go together;
and what the manipulations add (ICLMEM, Table 3, A.3, Figure 4)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import f as f_distribution

from memaudit import tidy
from memaudit.errors import AuditError
from memaudit.evaluation.memorization import COLLAPSE, DETECTABLE, Rule
from memaudit.evaluation.memorization_decisions import SIGNALS, Study, decide, means
from memaudit.evaluation.memorization_null import LEVEL, p_value, q_value
from memaudit.evaluation.memorization_runs import JUDGED, LARGER, STUDY
from memaudit.evaluation.memorization_settings import NULL_CALIBRATED, keys_of
from memaudit.evaluation.memorization_shares import Resampled, rules

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = Iterator[dict[str, Any]]

POOL = ["model", "regime"]
BASELINE = "baseline"
ALL = "all"
HEADLINE = {"setting": LARGER, "setting on loss": JUDGED[0]}  # check: signal


def placebos(study: Study, known: Mapping[str, Rule], resampled: Resampled) -> Rows:
    """How often each rule finds members among non-members, half of them called members: nominal is .05.

    stage: the criterion alone, on every run that did not diverge, or the whole table of outcomes, on runs that did not
    collapse and where the placebo members' loss is not the higher one. The published rule flags about half to four
    fifths of placebos by its criterion alone. of: single runs; or settings, i.e. means over splits.
    """
    aucs, nulls = study.values("placebo"), study.values("placebo_permuted")
    found = {(name, LARGER): aucs[LARGER] > rule.auc for name, rule in known.items()}
    for signal in SIGNALS:
        # Halves are few: every one is compared with the same permutations.
        p = np.stack([p_value(halves, nulls[signal]) for halves in aucs[signal].T], axis=1)
        found[NULL_CALIBRATED, signal] = p <= LEVEL
    runs = study.runs
    sound = ~runs["diverged"].to_numpy(bool)
    healthy = (runs["outcome_" + rules(runs)[0]] != COLLAPSE).to_numpy()
    upright = study.null.placebo_gap.values <= 0
    pools = [(keys_of(group.iloc[0], POOL), group) for _, group in runs.groupby(POOL)]
    for pool, group in [*pools, (dict.fromkeys(POOL, ALL), runs)]:
        mine = runs.index.isin(group.index)
        for (rule, signal), hits in found.items():
            keys = {**pool, "rule": rule, "signal": signal, "of": "run"}
            for stage, asked, of_stage in (("criterion", sound, hits), ("outcome", healthy, hits & upright)):
                chosen = mine & asked
                rate = resampled.mean(of_stage[chosen].mean(axis=1), runs[chosen])
                yield tidy.row(STUDY, {**keys, "stage": stage}, "placebo rate", **rate, null=LEVEL)
    yield from _placebo_settings(study, known, aucs, nulls)


def _placebo_settings(
    study: Study, known: Mapping[str, Rule], aucs: Mapping[str, Array], nulls: Mapping[str, Array]
) -> Rows:
    """The same of settings: published, a mean over splits above the threshold; null-calibrated, the headline's rule."""
    settings, repeats = study.settings(), aucs[LARGER].shape[1]
    means_of = means(aucs[LARGER], settings)
    asked = ~np.isnan(means_of[:, 0])
    rates = {(name, LARGER): (means_of[asked] > rule.auc).mean() for name, rule in known.items()}
    for signal in SIGNALS:
        halves = (decide(aucs[signal][:, i], nulls[signal], settings, signal) for i in range(repeats))
        rates[NULL_CALIBRATED, signal] = np.mean([table["detected"][asked].mean() for table in halves])
    for (rule, signal), rate in rates.items():
        keys = {"rule": rule, "signal": signal, "of": "setting", "stage": "criterion"}
        told = {"n": asked.sum(), "method": f"mean of {repeats} placebos; settings share splits: no interval"}
        yield tidy.row(STUDY, keys, "placebo rate", rate, null=LEVEL, **told)


def survival(
    study: Study,
    decided: Mapping[str, pd.DataFrame],
    effects: Sequence[tuple[dict[str, Any], NDArray[np.intp], str]],
    resampled: Resampled,
) -> Rows:
    """Share of each rule's detections that stand up to each check, by label condition and for all; NaN of none.

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
            yield tidy.row(STUDY, keys, "detected share", **resampled.mean(hits[asked], runs[asked]))
            for check, passed in checks.items():
                compared = chosen & ~np.isnan(passed)
                found = resampled.mean(passed[compared], runs[compared])
                yield tidy.row(STUDY, {**keys, "check": check}, "surviving share", **found)
        yield from _surviving_settings(np.array([hits[places].mean() > 0.5 for places in settings]), decided, rule)


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
