"""Results of the predictors on one setting: by truth, epoch, layer and threshold, as tidy rows.

"Predicting memorization within LLMs fine-tuned for classification", Sections 4.2 to 5.8, Appendices A, D and E. An
entry is a target and one of its own training records. Ground truth is log-LiRA at the end of training; the other truths
are planted mislabelled records and canaries.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.common import seeds, tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import Estimate, curve_rows, rows
from memaudit.studies.predict import ground_truth, prediction_metrics, predictor_contrasts
from memaudit.studies.predict.prediction_checkpoints import BASELINE, MeasuredSetting, by_rule
from memaudit.studies.predict.prediction_metrics import Entries, member_entries
from memaudit.studies.predict.recommended_thresholds import PSMI_THRESHOLD, Recommendation, recommended

Rows = Iterator[dict[str, Any]]

STUDY = "predict"
OVER_MODELS = "Student's t over models"
# Dense at low FPRs, and evenly spaced up to 1, since FPRs at high TPRs are reported.
CURVE_FPRS = np.union1d(np.geomspace(1e-3, 0.05, 12), np.linspace(0.05, 1, 39))


@dataclass(frozen=True)
class PredictorEvaluation:
    """Evaluation of a setting.

    memorized: least log-LiRA of a memorized record; thresholds: others; fpr, tpr: rates; seed: of the run.
    """

    setting: MeasuredSetting
    memorized: float
    thresholds: Sequence[float]
    fpr: Sequence[float]
    tpr: Sequence[float]
    replicates: int
    seed: int

    def results(self) -> Rows:
        """All tidy rows except those of records and curves."""
        for part in (self.shares, self.drops, self.predictions, self.thresholded, self.timing, self.layers, self.sweep):
            yield from part()
        for line in self.recommended:
            keys = {"profile": line.profile, "predictor": line.predictor, "chosen": line.chosen}
            yield from self._rows(keys | {"tau": f"{line.threshold:.6g}"}, line.rates)
        rng = self._rng("agreement")
        options = {"groups": self.setting.unit, "replicates": self.replicates}
        correlation = ground_truth.agreement(self._final, self.setting.membership, rng, **options)
        yield from self._rows({"with": "counterfactual memorization"}, [correlation])

    @cached_property
    def entries(self) -> Entries:
        """The entries with the main truth: memorized at the end of training."""
        return self._entries(self._truth, self.setting.member)

    @cached_property
    def recommended(self) -> list[Recommendation]:
        """The lines of Table 1, as measured."""
        scores = self._stopped
        return recommended(scores["psmi"], scores["loss"], self.entries, self._rng("recommended"))

    def circumstances(self) -> dict[str, Any]:
        """The conditions of the measurement that `predict_rank_own` reports.

        Fall of the targets' median loss, number of models behind the ground truth, share memorized by chance.
        """
        own, places = self.setting.interruptions[: self.setting.targets], self.setting.stopped
        drops = [float(one.drops[place]) for one, place in zip(own, places, strict=True)]
        share = prediction_metrics.memorized_share(self.setting.lira[-1], self.entries, self.memorized)
        rates = {"estimate": share.estimate, "low": share.low, "high": share.high, "null": share.null}
        fallen = {"drop": float(np.mean(drops)), "least_drop": min(drops), "most_drop": max(drops)}
        sizes = {"targets": self.setting.targets, "models": len(self.setting.membership)}
        return {"case": self.setting.name, "memorized": rates} | fallen | sizes

    def shares(self) -> Rows:
        """Share of memorized records by threshold (Figure 5, right)."""
        for threshold in self._thresholds:
            share = prediction_metrics.memorized_share(self.setting.lira[-1], self.entries, threshold)
            yield from self._rows({"threshold": f"{threshold:g}"}, [share])

    def drops(self) -> Rows:
        """Fall of the median training loss by epoch (Table 2), and epoch and fall at the interruption by either rule.

        The latter are of the models whose loss falls far enough.
        """
        fallen = np.array([one.drops for one in self.setting.interruptions])
        for epoch, values in zip(self.setting.epochs, fallen.T, strict=True):
            yield self._mean("median loss drop", values, {"epoch": f"{epoch:g}"}, "fraction")
        for rule in ("first", "closest"):
            chosen = enumerate(by_rule(self.setting.interruptions, rule))
            if reached := [(model, place) for model, place in chosen if place is not None]:
                models, places = np.array(reached).T
                keys = {"rule": rule if rule == self.setting.rule else f"{rule} instead"}
                yield self._mean("interruption", self.setting.epochs[places], keys, "epochs")
                yield self._mean("median loss drop", fallen[models, places], keys, "fraction")

    def predictions(self) -> Rows:
        """Every predictor at the interruption, and minus the baseline; for other truths, records and the other rule."""
        setting, final = self.setting, self._truth
        already = self._stopped[BASELINE] >= self.memorized
        natural = setting.member & ~(setting.mislabelled | setting.canary)
        judged = {
            ("memorized", "all"): self.entries,
            ("memorized", "natural"): self._entries(final & natural, natural),
            ("memorized later", "not yet memorized"): self._entries(final & ~already, setting.member & ~already),
        } | {(name, "all"): entries for name, entries in self._planted.items()}
        for (truth, records), entries in judged.items():
            keys = {"truth": truth, "records": records, "rule": setting.rule}
            yield from self._judged(self._stopped, entries, keys)
            planted = self.entries if truth in self._planted else None
            for name, gap in predictor_contrasts.between_predictors(self._stopped, entries, planted):
                yield from self._rows(keys | {"predictor": name}, [gap])
        # Early and final LiRA share shadow models, so early LiRA predicts the final one even for non-members.
        outside = self._entries(final & ~setting.member, ~setting.member)
        keys = {"truth": "memorized", "records": "non-members", "rule": setting.rule}
        if len(np.unique(outside.group[outside.memorized])) > 1:  # a single one has no interval
            yield from self._judged({BASELINE: self._stopped[BASELINE]}, outside, keys)
        other = "closest" if setting.rule == "first" else "first"
        places = by_rule(setting.interruptions[: setting.targets], other)
        if None not in places:
            keys = {"truth": "memorized", "records": "all", "rule": f"{other} instead"}
            yield from self._judged(setting.at(np.array(places)), self.entries, keys)

    def thresholded(self) -> Rows:
        """Metrics at fixed thresholds: PSMI at 0 (Section 5.4), and the baseline at its own threshold.

        Mean PSMI of memorized and other entries; TPR, FPR, precision, and the FPR that follows from precision and
        recall (Appendix D).
        """
        yield from self._means("psmi", -self._stopped["psmi"], {}, "nats")
        for keys, gap in predictor_contrasts.at_thresholds(self._stopped, self.entries, self.memorized):
            yield from self._rows(keys, [gap])
        for name, threshold in (("psmi", PSMI_THRESHOLD), (BASELINE, self.memorized)):
            keys = {"predictor": name, "tau": f"{threshold:g}"}
            tpr, fpr = prediction_metrics.error_rates(self._stopped[name], self.entries, threshold)
            flags = prediction_metrics.flags(self._stopped[name], self.entries, threshold)
            yield from self._rows(keys, [tpr, fpr, *flags])
            precision, prevalence = (estimate.estimate for estimate in flags)
            if precision > 0 and prevalence < 1:
                converted = prediction_metrics.false_positive_rate(precision, tpr.estimate, prevalence)
                size = {"n": len(self.entries.memorized), "method": "Appendix D, from precision and recall"}
                yield tidy.row(STUDY, self._keys(keys), "fpr by precision", converted, **size)

    def timing(self) -> Rows:
        """By epoch (Figure 4): AUC, mean PSMI of memorized and other entries, and shares memorized already."""
        for place, epoch in enumerate(self.setting.epochs):
            keys, scores = {"epoch": f"{epoch:g}"}, self.setting.at(np.full(self.setting.targets, place))
            yield from self._areas(scores, self.entries, keys)
            already = (scores[BASELINE] >= self.memorized).astype(float)
            yield from self._means("psmi", -scores["psmi"], keys, "nats")
            yield from self._means("already memorized", already, keys, "fraction")

    def layers(self) -> Rows:
        """AUC by layer at the interruption (Figure 5, left and centre), and its difference from the last layer's."""
        for name, values in self.setting.layers.items():
            last = values.shape[1]
            scores = {str(layer): values[:, layer - 1] for layer in range(1, last + 1)}
            judged = prediction_metrics.judge(scores, self.entries, reference=str(last), fprs=(), tprs=())
            for layer, estimates in judged.items():
                yield from self._rows({"layer": layer, "layers": str(last), "predictor": name}, estimates)
                if name != predictor_contrasts.PSMI:
                    psmi = self.setting.layers[predictor_contrasts.PSMI][:, int(layer) - 1]
                    gap = predictor_contrasts.from_psmi(scores[layer], psmi, self.entries)
                    yield from self._rows({"layer": layer, "layers": str(last), "predictor": name}, [gap])

    def sweep(self) -> Rows:
        """AUC by the log-LiRA threshold of a memorized record (Figure 5, right); and at the highest less the lowest."""
        by_threshold = {
            threshold: self._entries(self.setting.lira[-1] >= threshold, self.setting.member)
            for threshold in self._thresholds
        }
        for threshold, entries in by_threshold.items():
            yield from self._areas(self._stopped, entries, {"threshold": f"{threshold:g}"})
        most, least = max(by_threshold), min(by_threshold)
        for name, scores in self._stopped.items() if most > least else ():
            pairs = [(scores, by_threshold[threshold]) for threshold in (most, least)]
            gap = predictor_contrasts.auc_gap(*pairs, "auc difference over thresholds")
            yield from self._rows({"threshold": f"{most:g}", "less": f"{least:g}", "predictor": name}, [gap])

    def curves(self) -> Rows:
        """ROC curves of every predictor at the interruption, with their bands, for each truth."""
        for truth, entries in ({"memorized": self.entries} | self._planted).items():
            for name, scores in self._stopped.items():
                keys = self._keys({"truth": truth, "predictor": name})
                band = prediction_metrics.roc_band(scores, entries, CURVE_FPRS)
                yield from curve_rows(STUDY, keys, CURVE_FPRS, band, entries.memorized, entries.method)

    def records(self, ids: NDArray[np.str_]) -> Rows:
        """Values of the first target's training records (Figures 2 and 7).

        Log-LiRA at the interruption and at the end, PSMI and loss; over all models, attack success and counterfactual
        memorization.
        """
        setting, scores = self.setting, self._stopped
        values = {"log-lira at the end": setting.lira[-1, 0], "log-lira at the interruption": scores[BASELINE][0]}
        values |= {"psmi": -scores["psmi"][0], "loss": scores["loss"][0]}
        values |= {
            "attack success": ground_truth.attack_success(self._final, setting.membership),
            "counterfactual memorization": ground_truth.counterfactual_memorization(self._final, setting.membership),
        }
        units = dict.fromkeys(values, "nats") | {"attack success": "fraction", "counterfactual memorization": "logits"}
        for record in np.flatnonzero(setting.member[0]):
            kind = "canary" if setting.canary[record] else "mislabelled" if setting.mislabelled[record] else "natural"
            keys = self._keys({"record": ids[record], "kind": kind})
            yield from (
                tidy.row(STUDY, keys, name, of_name[record], unit=units[name], n=1, method="first target")
                for name, of_name in values.items()
            )

    @property
    def _truth(self) -> Mask:
        return self.setting.lira[-1] >= self.memorized

    @property
    def _final(self) -> Array:
        return self.setting.gap[:, -1]

    @property
    def _thresholds(self) -> list[float]:
        return sorted({self.memorized, *self.thresholds})

    @cached_property
    def _stopped(self) -> dict[str, Array]:
        return self.setting.at(self.setting.stopped)

    @cached_property
    def _planted(self) -> dict[str, Entries]:
        """Entries with the planted truths, if any."""
        member, planted = self.setting.member, {"mislabelled": self.setting.mislabelled, "canary": self.setting.canary}
        return {name: self._entries(member & flag, member) for name, flag in planted.items() if flag.any()}

    def _entries(self, memorized: Mask, member: Mask) -> Entries:
        options = {"groups": self.setting.unit, "replicates": self.replicates}
        return member_entries(memorized, member, self._rng("cells"), **options)

    def _judged(self, scores: Mapping[str, Array], entries: Entries, keys: Mapping[str, Any]) -> Rows:
        rates = {"reference": BASELINE, "fprs": self.fpr, "tprs": self.tpr}
        for name, estimates in prediction_metrics.judge(scores, entries, **rates).items():
            yield from self._rows(keys | {"predictor": name}, estimates)

    def _areas(self, scores: Mapping[str, Array], entries: Entries, keys: Mapping[str, Any]) -> Rows:
        for name, estimates in prediction_metrics.judge(scores, entries, fprs=(), tprs=()).items():
            yield from self._rows(keys | {"predictor": name}, estimates)

    def _rows(self, keys: Mapping[str, Any], estimates: Sequence[Estimate]) -> Rows:
        return rows(STUDY, self._keys(keys), estimates)

    def _means(self, metric: str, values: Array, keys: Mapping[str, Any], unit: str) -> Rows:
        """Mean of memorized entries, and of the others."""
        both = prediction_metrics.means(values, self.entries)
        for group, mean in zip(("memorized", "others"), both, strict=True):
            ends = {"low": mean.low, "high": mean.high, "n": mean.n, "method": mean.method, "unit": unit}
            yield tidy.row(STUDY, self._keys(keys | {"cells": group}), metric, mean.estimate, null=mean.null, **ends)

    def _mean(self, metric: str, values: Array, keys: Mapping[str, Any], unit: str) -> dict[str, Any]:
        low, high = bootstrap.t_interval(values) if len(values) > 1 else (np.nan, np.nan)
        ends = {"low": low, "high": high, "n": len(values), "method": OVER_MODELS}
        return tidy.row(STUDY, self._keys(keys), metric, values.mean(), unit=unit, **ends)

    def _keys(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        return {"case": self.setting.name} | dict(keys)

    def _rng(self, *names: str) -> np.random.Generator:
        return seeds.generator(self.seed, STUDY, self.setting.name, *names)
