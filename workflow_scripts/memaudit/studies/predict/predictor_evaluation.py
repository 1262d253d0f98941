"""Results of the predictors on one setting: by truth, epoch, layer and threshold, as tidy rows.

"Predicting memorization within LLMs fine-tuned for classification", Sections 4.2 to 5.8, Appendices A, D and E. An
entry is a target and one of its own training records. Ground truth is log-LiRA at the end of training. Results are of
natural records; those of all records, and of the planted ones (mislabelled, canaries), are rows of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.common import tidy
from memaudit.common.arrays import Array
from memaudit.statistics.attack_performance import curve_rows
from memaudit.studies.predict import ground_truth, prediction_metrics, predictor_contrasts
from memaudit.studies.predict.judged_setting import STUDY, JudgedSetting, Rows
from memaudit.studies.predict.prediction_checkpoints import BASELINE
from memaudit.studies.predict.prediction_metrics import Entries
from memaudit.studies.predict.recommended_thresholds import PSMI_THRESHOLD, Recommendation, recommended

LATER = "at 60 % of training"
# Dense at low FPRs, and evenly spaced up to 1, since FPRs at high TPRs are reported.
CURVE_FPRS = np.union1d(np.geomspace(1e-3, 0.05, 12), np.linspace(0.05, 1, 39))


@dataclass(frozen=True)
class PredictorEvaluation(JudgedSetting):
    """Evaluation of the predictors on a setting."""

    def results(self) -> Rows:
        """All tidy rows of the predictors except those of records and curves."""
        for part in (self.predictions, self.thresholded, self.timing, self.layers, self.sweep):
            yield from part()
        for line in self.recommended:
            keys = {"profile": line.profile, "predictor": line.predictor, "chosen": line.chosen}
            yield from self.rows(keys | {"tau": f"{line.threshold:.6g}"}, line.rates)

    @cached_property
    def recommended(self) -> list[Recommendation]:
        """The lines of Table 1, as measured."""
        scores = self.stopped
        return recommended(scores["psmi"], scores["loss"], self.entries, self.rng("recommended"))

    def predictions(self) -> Rows:
        """Every predictor at the interruption, and minus the baseline; for other truths, records and checkpoints."""
        setting, final = self.setting, self.truth
        already = self.stopped[BASELINE] >= self.memorized
        later = setting.member & setting.natural & ~already
        judged = {("memorized later", "not yet memorized"): self.cells(final & ~already, later)}
        judged |= {(name, "all"): entries for name, entries in self.planted.items()}
        judged |= {("memorized", "all"): self.with_planted} if self.planted else {}
        for (truth, records), entries in judged.items():
            keys = {"truth": truth, "records": records, "rule": setting.rule}
            yield from self.rates(self.stopped, entries, keys)
            natural = self.entries if truth in self.planted else None
            for name, gap in predictor_contrasts.between_predictors(self.stopped, entries, natural):
                yield from self.rows(keys | {"predictor": name}, [gap])
        yield from self._natural()
        # Early and final LiRA share shadow models, so early LiRA predicts the final one even for non-members.
        outside = self.outside
        keys = {"truth": "memorized", "records": "non-members", "rule": setting.rule}
        if len(np.unique(outside.group[outside.memorized])) > 1:  # a single one has no interval
            yield from self.rates({BASELINE: self.stopped[BASELINE]}, outside, keys)
        other = "closest" if setting.rule == "first" else "first"
        keys = {"truth": "memorized", "records": "natural"}
        if None not in (places := setting.places(other)[: setting.targets]):
            yield from self.rates(setting.at(np.array(places)), self.entries, keys | {"rule": f"{other} instead"})
        yield from self.rates(setting.at(setting.later), self.entries, keys | {"rule": LATER})

    def _natural(self) -> Rows:
        """The main results: natural records at the interruption, every two predictors compared, and PSMI untrained."""
        scores = self.stopped | self.setting.references
        keys = {"truth": "memorized", "records": "natural", "rule": self.setting.rule}
        yield from self.rates(scores, self.entries, keys)
        for name, gap in predictor_contrasts.between_predictors(scores, self.entries, None):
            yield from self.rows(keys | {"predictor": name}, [gap])
        for name, gap in predictor_contrasts.pairs(scores, self.entries):
            yield from self.rows(keys | {"predictor": name}, [gap])
        untrained = self.setting.at(np.zeros(self.setting.targets, int))
        for name, values in self.stopped.items() if self.entries.both else ():
            one, other = (values, self.entries), (untrained[name], self.entries)
            gap = predictor_contrasts.auc_gap(one, other, "auc difference from epoch 0")
            yield from self.rows(keys | {"predictor": name}, [gap])

    def thresholded(self) -> Rows:
        """Metrics at fixed thresholds: PSMI at 0 (Section 5.4), and the baseline at its own threshold.

        Mean PSMI of memorized and other entries; TPR, FPR, precision, and the FPR that follows from precision and
        recall (Appendix D).
        """
        yield from self.means("psmi", -self.stopped["psmi"], {}, "nats")
        later = self.setting.at(self.setting.later)[BASELINE]
        for keys, gap in predictor_contrasts.at_thresholds(self.stopped, self.entries, self.memorized, later):
            yield from self.rows(keys, [gap])
        for name, threshold in (("psmi", PSMI_THRESHOLD), (BASELINE, self.memorized)):
            keys = {"predictor": name, "tau": f"{threshold:g}"}
            tpr, fpr = prediction_metrics.error_rates(self.stopped[name], self.entries, threshold)
            flags = prediction_metrics.flags(self.stopped[name], self.entries, threshold)
            yield from self.rows(keys, [tpr, fpr, *flags])
            precision, prevalence = (estimate.estimate for estimate in flags)
            if precision > 0 and prevalence < 1:
                converted = prediction_metrics.false_positive_rate(precision, tpr.estimate, prevalence)
                size = {"n": len(self.entries.memorized), "method": "Appendix D, from precision and recall"}
                yield tidy.row(STUDY, self.keys(keys), "fpr by precision", converted, **size)

    def timing(self) -> Rows:
        """By epoch (Figure 4): AUC, mean PSMI of memorized and other entries, and shares memorized already."""
        for place, epoch in enumerate(self.setting.epochs):
            keys, scores = {"epoch": f"{epoch:g}"}, self.setting.at(np.full(self.setting.targets, place))
            yield from self.areas(scores, self.entries, keys)
            already = (scores[BASELINE] >= self.memorized).astype(float)
            yield from self.means("psmi", -scores["psmi"], keys, "nats")
            yield from self.means("already memorized", already, keys, "fraction")

    def layers(self) -> Rows:
        """AUC by layer at the interruption (Figure 5, left and centre), and its difference from the last layer's."""
        for name, values in self.setting.layers.items():
            last = values.shape[1]
            scores = {str(layer): values[:, layer - 1] for layer in range(1, last + 1)}
            judged = prediction_metrics.judge(scores, self.entries, reference=str(last), fprs=(), tprs=())
            for layer, estimates in judged.items():
                yield from self.rows({"layer": layer, "layers": str(last), "predictor": name}, estimates)
                if name != predictor_contrasts.PSMI:
                    psmi = self.setting.layers[predictor_contrasts.PSMI][:, int(layer) - 1]
                    gap = predictor_contrasts.from_psmi(scores[layer], psmi, self.entries)
                    yield from self.rows({"layer": layer, "layers": str(last), "predictor": name}, [gap])

    def sweep(self) -> Rows:
        """AUC by the log-LiRA threshold of a memorized record (Figure 5, right); and at the highest less the lowest.

        Thresholds that too few records reach for an interval are drawn (judged: no), and are no end of the difference:
        else the highest one decides, by its number of records alone, that nothing can be said of the others.
        """
        judged = {}
        for threshold in self.all_thresholds:
            entries = self.cells(self.setting.lira[-1] >= threshold, self.setting.member & self.setting.natural)
            judged |= {threshold: entries} if entries.enough else {}
            keys = {"threshold": f"{threshold:g}"} | ({} if entries.enough else {"judged": "no"})
            yield from self.areas(self.stopped, entries, keys)
        if len(judged) < 2:
            return
        most, least = max(judged), min(judged)
        for name, scores in self.stopped.items():
            pairs = [(scores, judged[threshold]) for threshold in (most, least)]
            gap = predictor_contrasts.auc_gap(*pairs, "auc difference over thresholds")
            yield from self.rows({"threshold": f"{most:g}", "less": f"{least:g}", "predictor": name}, [gap])

    def curves(self) -> Rows:
        """ROC curves of every predictor with their bands: at the interruption for each truth, and later (Figure 8)."""
        for truth, entries in ({"memorized": self.entries} | self.planted).items():
            yield from self._curves(self.stopped, entries, {"truth": truth, "rule": self.setting.rule})
        later = self.setting.at(self.setting.later)
        yield from self._curves(later, self.entries, {"truth": "memorized", "rule": LATER})

    def _curves(self, scores: Mapping[str, Array], entries: Entries, keys: Mapping[str, Any]) -> Rows:
        for name, values in scores.items():
            band = prediction_metrics.roc_band(values, entries, CURVE_FPRS)
            named = self.keys(dict(keys) | {"predictor": name})
            yield from curve_rows(STUDY, named, CURVE_FPRS, band, entries.memorized, entries.method)

    def records(self, ids: NDArray[np.str_]) -> Rows:
        """Values of the first target's training records (Figures 2 and 7).

        Log-LiRA at the interruption and at the end, PSMI and loss; over all models, attack success and counterfactual
        memorization.
        """
        setting, scores = self.setting, self.stopped
        values = {"log-lira at the end": setting.lira[-1, 0], "log-lira at the interruption": scores[BASELINE][0]}
        values |= {"psmi": -scores["psmi"][0], "loss": scores["loss"][0]}
        values |= {
            "attack success": ground_truth.attack_success(self.final, setting.membership),
            "counterfactual memorization": ground_truth.counterfactual_memorization(self.final, setting.membership),
        }
        units = dict.fromkeys(values, "nats") | {"attack success": "fraction", "counterfactual memorization": "logits"}
        for record in np.flatnonzero(setting.member[0]):
            kind = "canary" if setting.canary[record] else "mislabelled" if setting.mislabelled[record] else "natural"
            keys = self.keys({"record": ids[record], "kind": kind})
            yield from (
                tidy.row(STUDY, keys, name, of_name[record], unit=units[name], n=1, method="first target")
                for name, of_name in values.items()
            )
