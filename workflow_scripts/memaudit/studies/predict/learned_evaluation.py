"""Evaluation of learned predictors of memorization on settings that they were not learned from, as tidy rows.

Every setting is left out in turn, with all others of its data. Judged are natural records, at the interruption.
`learned` combines what one query of the checkpoint gives, `learned_checkpoints` also the losses at earlier checkpoints.
Settings without enough natural positives beyond chance are neither learned from nor judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from memaudit.attacks.learned_memorization import ALL, LEARNED
from memaudit.common import seeds, tidy
from memaudit.common.arrays import Array
from memaudit.statistics import bootstrap, roc
from memaudit.statistics.attack_performance import Estimate, rows
from memaudit.statistics.difference_from_best import from_best, from_best_over_settings, smallest_detectable
from memaudit.statistics.intervals import mean_of
from memaudit.statistics.prediction_intervals import t_prediction_interval
from memaudit.studies.predict.learned_predictor import Learned, fit, learn, shuffled
from memaudit.studies.predict.prediction_metrics import auc_samples, error_rates
from memaudit.studies.predict.recommended_thresholds import PSMI_THRESHOLD
from memaudit.studies.predict.setting_features import SettingFeatures

Rows = Iterator[dict[str, Any]]

STUDY = "predict"
MEAN = "mean"
PUBLISHED = ("psmi", "mahalanobis", "loss", "logit_gap")  # Section 4.3 and Appendix C
FROM_PUBLISHED, FROM_SINGLE = "auc difference from best published", "auc difference from best single"
SHUFFLES = 20  # fits on shuffled truths behind the null of a setting


@dataclass(frozen=True)
class LearnedEvaluation:
    """Evaluation over settings. seed: of the run."""

    settings: Sequence[SettingFeatures]
    seed: int

    @cached_property
    def judged(self) -> list[SettingFeatures]:
        """Settings with enough natural positives beyond chance."""
        return [one for one in self.settings if not one.refusal]

    @property
    def learnable(self) -> bool:
        """Whether the judged settings are of two sources or more."""
        return len({one.source for one in self.judged}) > 1

    def results(self) -> Rows:
        """All tidy rows: shares of every setting; metrics of the judged ones if they are learnable; means."""
        for one in self.settings:
            method = one.refusal or ("" if self.learnable else "not judged: no setting of other data to learn from")
            share = replace(one.share, method=f"{method}; {one.share.method}" if method else one.share.method)
            yield from rows(STUDY, {"case": one.name, "judged": "no" if method else "yes"}, [share])
        if not self.learnable:
            return
        found = [self._of_setting(place) for place in range(len(self.judged))]
        for one, estimates in zip(self.judged, found, strict=True):
            for name, of_name in estimates.items():
                yield from rows(STUDY, {"case": one.name, "predictor": name}, list(of_name.values()))
        yield from self._means(found)

    @cached_property
    def left_out(self) -> dict[str, list[Learned]]:
        """By name, the predictor learned from all judged settings of other data than each."""
        return {
            name: [learn(self._without(place), features) for place in range(len(self.judged))]
            for name, features in LEARNED.items()
        }

    def recommended(self) -> list[dict[str, Any]]:
        """PSMI at 0, and what is learned from all settings at its threshold, with TPR and FPR on natural records.

        As `predict_rank_own` reads them; the rates of what is learned are those on settings left out. None where
        nothing can be left out.
        """
        if not self.learnable:
            return []
        rates = [error_rates(one.psmi, one.judged, PSMI_THRESHOLD) for one in self.judged]
        psmi = {"profile": "practitioners", "predictor": "psmi", "threshold": PSMI_THRESHOLD, "chosen": "fixed"}
        return [self._line(psmi, rates), *(self._learned_line(name) for name in LEARNED)]

    def _learned_line(self, name: str) -> dict[str, Any]:
        """What is learned from all settings by that name, with its rates on settings left out."""
        final = learn(self.judged, LEARNED[name])
        facts = {"profile": name, "predictor": name, "threshold": final.threshold, "penalty": final.penalty}
        facts["chosen"] = "learned from all settings; its rates are those on settings left out"
        rates = [self._rates(one, learned) for one, learned in zip(self.judged, self.left_out[name], strict=True)]
        return self._line(facts | final.combination.facts(), rates)

    def _line(self, facts: Mapping[str, Any], rates: Sequence[tuple[Estimate, Estimate]]) -> dict[str, Any]:
        """Rates of other data: a user's is one more source, so that prediction intervals are given, not the mean's."""
        named = {}
        for of_rate in zip(*rates, strict=True):
            values, mean = self._by_source(np.array([one.estimate for one in of_rate])), self._mean(of_rate)
            low, high = np.clip(t_prediction_interval(values), 0.0, 1.0)
            named[mean.metric] = _facts(replace(mean, low=float(low), high=float(high)))
        sources = len({one.source for one in self.judged})
        brackets = f"95 % prediction intervals for other data, from {sources} sources"
        return dict(facts) | self._circumstances() | named | {"brackets": brackets}

    def _of_setting(self, place: int) -> dict[str, dict[str, Estimate]]:
        """Estimates on one setting, by predictor and metric."""
        one, learned = self.judged[place], {name: of_name[place] for name, of_name in self.left_out.items()}
        scores = one.normal | {name: own.combination.of_normal_scores(one.normal) for name, own in learned.items()}
        samples = {name: auc_samples(of_name, one.judged) for name, of_name in scores.items()}
        found = {}
        for name, own in samples.items():
            estimates = [_estimate("auc", own, one, 0.5, 0)]
            for metric, singles in _compared(name).items():
                gaps = {single: _estimate("gap", own - samples[single], one, 0.0, -1) for single in singles}
                estimates.append(from_best(gaps, metric))
            if name in LEARNED:
                best = max(ALL, key=lambda single: samples[single][0])
                estimates += [*self._rates(one, learned[name]), self._null(place, name, learned[name])]
                estimates.append(_cost_ratio(one, name, best))
            found[name] = {estimate.metric: estimate for estimate in estimates}
        return found

    def _means(self, found: Sequence[Mapping[str, Mapping[str, Estimate]]]) -> Rows:
        """Means over data with Student's t intervals; the best single predictor is the same one in all settings."""
        aucs = {name: np.array([one[name]["auc"].estimate for one in found]) for name in found[0]}
        for name, estimates in found[0].items():
            keys = {"case": MEAN, "predictor": name}
            kept = [metric for metric in estimates if metric not in _compared(name)]
            yield from rows(STUDY, keys, [self._mean([one[name][metric] for one in found]) for metric in kept])
            for metric, singles in _compared(name).items():
                gaps = {single: self._by_source(aucs[name] - aucs[single]) for single in singles}
                gap = from_best_over_settings(gaps, metric)
                yield from rows(STUDY, keys, [gap])
            if name in LEARNED:  # of its last difference, that from the best single one
                method = "with probability .9, by the interval's lower half"
                detectable = smallest_detectable(gap)
                yield tidy.row(STUDY, keys, "smallest detectable difference", detectable, n=len(found), method=method)

    def _null(self, place: int, name: str, learned: Learned) -> Estimate:
        """AUC on a setting of what is learned from the others' shuffled truths."""
        one = self.judged[place]
        rng = seeds.generator(self.seed, STUDY, "learned", "null", name, one.name)
        areas = []
        for _ in range(SHUFFLES):
            others = [shuffled(other, rng) for other in self._without(place)]
            scores = fit(others, LEARNED[name], learned.penalty).of_normal_scores(one.normal)
            areas.append(roc.auc(scores[one.judged.target, one.judged.record], one.judged.memorized))
        ends = bootstrap.t_interval(np.array(areas))
        method = "Student's t over fits to shuffled truths"
        return Estimate("auc of shuffled truths", float(np.mean(areas)), *ends, SHUFFLES, method, 0.5)

    def _rates(self, one: SettingFeatures, learned: Learned) -> tuple[Estimate, Estimate]:
        return error_rates(learned.combination.of_normal_scores(one.normal), one.judged, learned.threshold)

    def _without(self, place: int) -> list[SettingFeatures]:
        return [one for one in self.judged if one.source != self.judged[place].source]

    def _by_source(self, values: Array) -> Array:
        """Means (source,) of values (judged setting,): settings of the same data are not independent."""
        of = np.array([one.source for one in self.judged])
        return np.array([values[of == source].mean() for source in dict.fromkeys(of)])

    def _mean(self, estimates: Sequence[Estimate]) -> Estimate:
        """Mean over data; nothing is below 0, and only a ratio of costs above 1."""
        values, first = self._by_source(np.array([one.estimate for one in estimates])), estimates[0]
        low, high = bootstrap.t_interval(values)
        low, high = max(low, 0.0), high if first.metric == "cost ratio" else min(high, 1.0)
        null, count = float(np.mean([one.null for one in estimates])), sum(one.n for one in estimates)
        method = f"Student's t over the data of {len(estimates)} settings: {len(values)} sources"
        return Estimate(first.metric, float(values.mean()), low, high, count, method, null)

    def _circumstances(self) -> dict[str, Any]:
        """Conditions of the measurement that `predict_rank_own` reports, over all judged settings."""
        drops = np.concatenate([one.drops for one in self.judged])
        shares = [one.share for one in self.judged]
        # Of these settings as given: each is beyond chance.
        mean, low, high = mean_of(
            *(np.array([getattr(one, part) for one in shares]) for part in ("estimate", "low", "high"))
        )
        chance = float(np.mean([one.null for one in shares]))
        return {
            "case": f"{len(self.judged)} settings, natural records",
            "settings": [one.name for one in self.judged],
            "layer": "last",
            "memorized": {"estimate": mean, "low": low, "high": high, "null": chance},
            "targets": sum(len(one.drops) for one in self.judged),
            "models": min(one.models for one in self.judged),
            "drop": float(drops.mean()),
            "least_drop": float(drops.min()),
            "most_drop": float(drops.max()),
        }


def _compared(name: str) -> dict[str, tuple[str, ...]]:
    """Metrics of the differences of a predictor from the best of several, and these."""
    published = {} if name in PUBLISHED else {FROM_PUBLISHED: PUBLISHED}
    return published | ({FROM_SINGLE: ALL} if name in LEARNED else {})


def _cost_ratio(one: SettingFeatures, name: str, best: str) -> Estimate:
    ratio, method = one.cost(LEARNED[name]) / one.cost((best,)), f"CPU seconds for one target, over those of {best}"
    return Estimate("cost ratio", ratio, np.nan, np.nan, 1, method, 1.0)


def _estimate(metric: str, samples: Array, one: SettingFeatures, null: float, least: float) -> Estimate:
    """Of samples (1 + replicate,), the observed one first; least: smallest possible value, the largest is 1."""
    ends = bootstrap.two_way_interval(samples[1:], float(samples[0]), one.judged.drawn_of_rarer, least, 1)
    return Estimate(metric, float(samples[0]), *ends, len(one.judged.memorized), one.judged.method, null)


def _facts(rate: Estimate) -> dict[str, float]:
    return {part: getattr(rate, part) for part in ("estimate", "low", "high", "n")}
