"""Study `predict`: what predictors foretold of one setting's targets, when, from which layer, and at what cost.

papers/predicting-memorization.md, Sections 4.2 to 5.8, Appendices A, D and E. A cell is a target and one of its own
training records. Ground truth is log-LiRA at the end of training; other truths are known because they were planted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit import seeds, tidy
from memaudit.statistics import bootstrap
from memaudit.statistics.attack_performance import Estimate, curve_rows, rows
from memaudit.studies.predict import ground_truth
from memaudit.studies.predict.ground_truth import Cells
from memaudit.studies.predict.interrupted_training import BASELINE, Array, Case, Mask, by_rule

Rows = Iterator[dict[str, Any]]

STUDY = "predict"
FORWARD, TRAINED = 1, 3  # passes of a record that is asked about, and of one that is trained on (Section 5.2)
OVER_MODELS = "Student's t over models"
# Fine at the left end, as evenly fine up to the right one: high TPRs are what matters.
CURVE_FPRS = np.union1d(np.geomspace(1e-3, 0.05, 12), np.linspace(0.05, 1, 39))


@dataclass(frozen=True)
class Judge:
    """What is judged how: least log-LiRA of a memorized record, other thresholds, rates, replicates, the run's seed."""

    case: Case
    memorized: float
    thresholds: Sequence[float]
    fpr: Sequence[float]
    tpr: Sequence[float]
    replicates: int
    seed: int

    def results(self) -> Rows:
        """All tidy rows but those of records, curves and cost."""
        for part in (self.shares, self.drops, self.predictions, self.thresholded, self.timing, self.layers, self.sweep):
            yield from part()
        for setting in self.recommended:
            keys = {"profile": setting.profile, "predictor": setting.predictor, "chosen": setting.chosen}
            yield from self._rows(keys | {"tau": f"{setting.threshold:.6g}"}, setting.rates)
        rng = self._rng("agreement")
        options = {"groups": self.case.unit, "replicates": self.replicates}
        found = ground_truth.agreement(self._final, self.case.design, rng, **options)
        yield from self._rows({"with": "counterfactual memorization"}, [found])

    @cached_property
    def cells(self) -> Cells:
        """The cells with the main truth: memorized at the end."""
        return self._cells(self._truth, self.case.member)

    @cached_property
    def recommended(self) -> list[ground_truth.Setting]:
        """The lines of Table 1, as measured."""
        scores = self._stopped
        return ground_truth.recommended(scores["psmi"], scores["loss"], self.cells, self._rng("recommended"))

    def circumstances(self) -> dict[str, Any]:
        """Under which the recommended settings were measured, as `predict_rank_own` tells them: how far the median loss
        of targets had fallen, how many models the truth rests on, and how many records reach it by chance."""
        stops, places = self.case.stops[: self.case.targets], self.case.stopped
        drops = [float(stop.drops[place]) for stop, place in zip(stops, places, strict=True)]
        share = ground_truth.memorized_share(self.case.lira[-1], self.cells, self.memorized)
        rates = {"estimate": share.estimate, "low": share.low, "high": share.high, "null": share.null}
        fallen = {"drop": float(np.mean(drops)), "least_drop": min(drops), "most_drop": max(drops)}
        sizes = {"targets": self.case.targets, "models": len(self.case.design)}
        return {"case": self.case.name, "memorized": rates} | fallen | sizes

    def shares(self) -> Rows:
        """How many are memorized, by threshold (Figure 5, right)."""
        for threshold in self._thresholds:
            found = ground_truth.memorized_share(self.case.lira[-1], self.cells, threshold)
            yield from self._rows({"threshold": f"{threshold:g}"}, [found])

    def drops(self) -> Rows:
        """Fall of the median training loss by epoch (Table 2); where training is interrupted by either rule, of the
        models whose loss falls so far, and how far it has fallen there."""
        fallen = np.array([stop.drops for stop in self.case.stops])
        for epoch, values in zip(self.case.epochs, fallen.T, strict=True):
            yield self._mean("median loss drop", values, {"epoch": f"{epoch:g}"}, "fraction")
        for rule in ("first", "closest"):
            found = [(model, place) for model, place in enumerate(by_rule(self.case.stops, rule)) if place is not None]
            if found:
                models, places = np.array(found).T
                keys = {"rule": rule if rule == self.case.rule else f"{rule} instead"}
                yield self._mean("interruption", self.case.epochs[places], keys, "epochs")
                yield self._mean("median loss drop", fallen[models, places], keys, "fraction")

    def predictions(self) -> Rows:
        """Every predictor at the interruption, less the baseline too; for other truths, records and the other rule."""
        case, final = self.case, self._truth
        already = self._stopped[BASELINE] >= self.memorized
        natural = case.member & ~(case.mislabelled | case.canary)
        judged = {
            ("memorized", "all"): self.cells,
            ("memorized", "natural"): self._cells(final & natural, natural),
            ("memorized later", "not yet memorized"): self._cells(final & ~already, case.member & ~already),
        } | {(name, "all"): cells for name, cells in self._planted.items()}
        for (truth, records), cells in judged.items():
            yield from self._judged(self._stopped, cells, {"truth": truth, "records": records, "rule": case.rule})
        # Early and final LiRA share shadow models: so far the one foretells the other where nothing is memorized.
        outside = self._cells(final & ~case.member, ~case.member)
        keys = {"truth": "memorized", "records": "non-members", "rule": case.rule}
        if len(np.unique(outside.group[outside.memorized])) > 1:  # a single one has no interval
            yield from self._judged({BASELINE: self._stopped[BASELINE]}, outside, keys)
        other = "closest" if case.rule == "first" else "first"
        places = by_rule(case.stops[: case.targets], other)
        if None not in places:
            keys = {"truth": "memorized", "records": "all", "rule": f"{other} instead"}
            yield from self._judged(case.at(np.array(places)), self.cells, keys)

    def thresholded(self) -> Rows:
        """Mean PSMI of both sides; TPR and FPR of PSMI at 0 (Section 5.4), and of the baseline where it calls a record
        memorized, with its precision and the FPR that follows from precision and recall (Appendix D)."""
        yield from self._means("psmi", -self._stopped["psmi"], {}, "nats")
        for name, threshold in (("psmi", ground_truth.PSMI_THRESHOLD), (BASELINE, self.memorized)):
            keys = {"predictor": name, "tau": f"{threshold:g}"}
            tpr, fpr = ground_truth.error_rates(self._stopped[name], self.cells, threshold)
            flags = ground_truth.flags(self._stopped[name], self.cells, threshold)
            yield from self._rows(keys, [tpr, fpr, *flags])
            precision, prevalence = (estimate.estimate for estimate in flags)
            if precision > 0 and prevalence < 1:
                converted = ground_truth.false_positive_rate(precision, tpr.estimate, prevalence)
                size = {"n": len(self.cells.memorized), "method": "Appendix D, from precision and recall"}
                yield tidy.row(STUDY, self._keys(keys), "fpr by precision", converted, **size)

    def timing(self) -> Rows:
        """By epoch (Figure 4): AUC, mean PSMI of memorized and other cells, and how many are memorized already."""
        for place, epoch in enumerate(self.case.epochs):
            keys, scores = {"epoch": f"{epoch:g}"}, self.case.at(np.full(self.case.targets, place))
            yield from self._areas(scores, self.cells, keys)
            already = (scores[BASELINE] >= self.memorized).astype(float)
            yield from self._means("psmi", -scores["psmi"], keys, "nats")
            yield from self._means("already memorized", already, keys, "fraction")

    def layers(self) -> Rows:
        """AUC by layer at the interruption (Figure 5, left and centre), and how much more than that of the last one,
        which the head reads."""
        for name, of in self.case.layers.items():
            scores, last = {str(layer): of[:, layer - 1] for layer in range(1, of.shape[1] + 1)}, str(of.shape[1])
            asked = {"reference": last, "fprs": (), "tprs": ()}
            for layer, estimates in ground_truth.judge(scores, self.cells, **asked).items():
                yield from self._rows({"layer": layer, "layers": last, "predictor": name}, estimates)

    def sweep(self) -> Rows:
        """AUC by the threshold from which a record is memorized (Figure 5, right)."""
        for threshold in self._thresholds:
            cells = self._cells(self.case.lira[-1] >= threshold, self.case.member)
            yield from self._areas(self._stopped, cells, {"threshold": f"{threshold:g}"})

    def curves(self) -> Rows:
        """ROC curves of every predictor at the interruption, with their bands, for each truth."""
        for truth, cells in ({"memorized": self.cells} | self._planted).items():
            for name, scores in self._stopped.items():
                keys = self._keys({"truth": truth, "predictor": name})
                band = ground_truth.roc_band(scores, cells, CURVE_FPRS)
                yield from curve_rows(STUDY, keys, CURVE_FPRS, band, cells.memorized, cells.method)

    def records(self, ids: NDArray[np.str_]) -> Rows:
        """The first target's training records: log-LiRA early and at the end, PSMI, loss, and both definitions over all
        models (Figures 2 and 7)."""
        case, scores = self.case, self._stopped
        found = {"log-lira at the end": case.lira[-1, 0], "log-lira at the interruption": scores[BASELINE][0]}
        found |= {"psmi": -scores["psmi"][0], "loss": scores["loss"][0]}
        found |= {
            "attack success": ground_truth.attack_success(self._final, case.design),
            "counterfactual memorization": ground_truth.counterfactual_memorization(self._final, case.design),
        }
        units = dict.fromkeys(found, "nats") | {"attack success": "fraction", "counterfactual memorization": "logits"}
        for record in np.flatnonzero(case.member[0]):
            kind = "canary" if case.canary[record] else "mislabelled" if case.mislabelled[record] else "natural"
            keys = self._keys({"record": ids[record], "kind": kind})
            yield from (
                tidy.row(STUDY, keys, name, of[record], unit=units[name], n=1, method="first target")
                for name, of in found.items()
            )

    def cost(self, seconds: Mapping[str, float]) -> Rows:
        """Passes over a training set, and seconds, of the prediction, the baseline and the ground truth.

        seconds: measured ones of one record that is `trained` on and one that is `asked`, and of `scoring` all records.
        Section 5.2 counts a forward pass as a third of an epoch; shadow models are asked about all records. Intervals
        are those of the epoch of the interruption.
        """
        stops = self._epochs(self.case.rule)
        spent = [self._spent(stop, seconds) for stop in (stops.mean(), *bootstrap.t_interval(stops))]
        for (way, metric), estimate in spent[0].items():
            low, high = sorted((spent[1][way, metric], spent[2][way, metric]))
            unit = "times" if metric.endswith("ratio") else metric
            noted = {"n": len(self.case.gap), "method": "by the epoch of the interruption, " + OVER_MODELS}
            yield tidy.row(STUDY, self._keys({"way": way}), metric, estimate, unit=unit, low=low, high=high, **noted)

    def _spent(self, stop: float, seconds: Mapping[str, float]) -> dict[tuple[str, str], float]:
        """What each way costs if training is interrupted at an epoch, and how many times what the prediction does."""
        models, records = self.case.design.shape
        size, end = self.case.design.sum(1).mean(), float(self.case.epochs[-1])
        work = {
            "prediction": (stop * size, size),
            "baseline": (models * stop * size, models * records),
            "ground truth": (models * end * size, models * records),
        }
        found = {}
        for way, (trained, asked) in work.items():
            found[way, "passes"] = (TRAINED * trained + FORWARD * asked) / size
            found[way, "seconds"] = trained * seconds["trained"] + asked * seconds["asked"]
            found[way, "seconds"] += seconds["scoring"] if way == "prediction" else 0.0
            for metric in ("passes", "seconds"):
                found[way, f"{metric} ratio"] = found[way, metric] / found["prediction", metric]
        return found

    @property
    def _truth(self) -> Mask:
        return self.case.lira[-1] >= self.memorized

    @property
    def _final(self) -> Array:
        return self.case.gap[:, -1]

    @property
    def _thresholds(self) -> list[float]:
        return sorted({self.memorized, *self.thresholds})

    @cached_property
    def _stopped(self) -> dict[str, Array]:
        return self.case.at(self.case.stopped)

    @cached_property
    def _planted(self) -> dict[str, Cells]:
        """Cells with the truths that were planted, if any."""
        member, planted = self.case.member, {"mislabelled": self.case.mislabelled, "canary": self.case.canary}
        return {name: self._cells(member & flag, member) for name, flag in planted.items() if flag.any()}

    def _epochs(self, rule: str) -> Array:
        """Epochs at which the training of models is interrupted, of those whose loss falls so far, (model,)."""
        return self.case.epochs[[place for place in by_rule(self.case.stops, rule) if place is not None]]

    def _cells(self, memorized: Mask, member: Mask) -> Cells:
        options = {"groups": self.case.unit, "replicates": self.replicates}
        return ground_truth.cells(memorized, member, self._rng("cells"), **options)

    def _judged(self, scores: Mapping[str, Array], cells: Cells, keys: Mapping[str, Any]) -> Rows:
        asked = {"reference": BASELINE, "fprs": self.fpr, "tprs": self.tpr}
        for name, estimates in ground_truth.judge(scores, cells, **asked).items():
            yield from self._rows(keys | {"predictor": name}, estimates)

    def _areas(self, scores: Mapping[str, Array], cells: Cells, keys: Mapping[str, Any]) -> Rows:
        for name, estimates in ground_truth.judge(scores, cells, fprs=(), tprs=()).items():
            yield from self._rows(keys | {"predictor": name}, estimates)

    def _rows(self, keys: Mapping[str, Any], estimates: Sequence[Estimate]) -> Rows:
        return rows(STUDY, self._keys(keys), estimates)

    def _means(self, metric: str, values: Array, keys: Mapping[str, Any], unit: str) -> Rows:
        """Mean of memorized cells, and of the others."""
        for group, mean in zip(("memorized", "others"), ground_truth.means(values, self.cells), strict=True):
            ends = {"low": mean.low, "high": mean.high, "n": mean.n, "method": mean.method, "unit": unit}
            yield tidy.row(STUDY, self._keys(keys | {"cells": group}), metric, mean.estimate, null=mean.null, **ends)

    def _mean(self, metric: str, values: Array, keys: Mapping[str, Any], unit: str) -> dict[str, Any]:
        low, high = bootstrap.t_interval(values) if len(values) > 1 else (np.nan, np.nan)
        ends = {"low": low, "high": high, "n": len(values), "method": OVER_MODELS}
        return tidy.row(STUDY, self._keys(keys), metric, values.mean(), unit=unit, **ends)

    def _keys(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        return {"case": self.case.name} | dict(keys)

    def _rng(self, *names: str) -> np.random.Generator:
        return seeds.generator(self.seed, STUDY, self.case.name, *names)
