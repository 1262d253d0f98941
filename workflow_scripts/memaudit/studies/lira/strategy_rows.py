"""Tidy rows of the aggregation strategies: TPRs with their nulls, realised FPRs, and paired differences."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.common import tidy
from memaudit.statistics.bootstrap import t_interval, two_way_interval, widened
from memaudit.studies.lira.aggregation_strategies import Outcome

# Differences that the paper's claims are about: paired, so that their intervals are narrow.
PAIRS = [
    ("naive", "pp"),
    ("pp_normal", "pp"),
    ("pp_t", "pp"),
    ("per_sample", "pp"),
    ("pp", "per_sample"),
    ("per_sample_crossfit", "pp"),
    ("pp", "per_sample_crossfit"),
]
Key = tuple[int, float, str]


def key_of(outcome: Outcome) -> Key:
    """Number of models, FPR and strategy."""
    return outcome.models, outcome.fpr, outcome.strategy


def without_leak(redraws: Iterable[list[Outcome]]) -> dict[Key, list[Outcome]]:
    """Outcomes of every strategy in each redraw of the membership."""
    found = defaultdict(list)
    for outcomes in redraws:
        for outcome in outcomes:
            found[key_of(outcome)].append(outcome)
    return found


def spread(outcome: Outcome) -> float:
    """95 % less 5 % quantile of the realised FPR of single records."""
    return outcome.fpr_quantiles[4] - outcome.fpr_quantiles[0]


@dataclass(frozen=True)
class StrategyRows:
    """Tidy rows of outcomes that share these keys; nulls: as from `without_leak`."""

    keys: Mapping[str, str]
    replicates: int
    nulls: Mapping[Key, list[Outcome]]

    def of(self, outcome: Outcome) -> dict[str, Any]:
        """The keys of one outcome."""
        return {**self.keys, "models": outcome.models, "fpr": outcome.fpr, "strategy": outcome.strategy}

    def tpr(self, outcome: Outcome) -> Iterator[dict[str, Any]]:
        """Its TPR, marked where the paper's rule M >= 2/FPR does not hold, and what it is without a leak."""
        nulls = np.array([one.tpr for one in self.nulls[key_of(outcome)]])
        method = self._method("two-way") + ("" if outcome.enough_models else ", M < 2/FPR")
        yield self._row(outcome, "tpr", outcome.tpr, (outcome.low, outcome.high), method, nulls.mean())
        method = f"membership redrawn for each record, {len(nulls)} draws, Student's t"
        yield self._row(outcome, "null_tpr", nulls.mean(), t_interval(nulls), method, outcome.fpr)

    def calibration(self, outcome: Outcome) -> Iterator[dict[str, Any]]:
        """How far the realised FPR, over all records and of single ones, strays from the nominal one."""
        samples, records = outcome.samples, self._method("records")
        nulls = self.nulls[key_of(outcome)]
        realised = two_way_interval(samples.realised_fpr, outcome.realised_fpr, samples.weights, 0, 1)
        method = self._method("two-way")
        yield self._row(outcome, "realised_fpr", outcome.realised_fpr, realised, method, outcome.fpr)
        units = samples.weights.units or samples.weights.records.shape[1]
        null = np.mean([spread(one) for one in nulls])
        ends = widened(samples.fpr_spread, spread(outcome), units, 0, 1)
        yield self._row(outcome, "fpr_spread", spread(outcome), ends, records, null)
        null = np.mean([one.share_above_twice for one in nulls])
        ends = widened(samples.share_above_twice, outcome.share_above_twice, units, 0, 1)
        yield self._row(outcome, "fpr_share_above_2x", outcome.share_above_twice, ends, records, null)

    def differences(self, outcomes: Iterable[Outcome]) -> Iterator[dict[str, Any]]:
        """TPR of one strategy less that of another, replicate by replicate."""
        found = {key_of(one): one for one in outcomes}
        for (models, fpr, strategy), one in found.items():
            for other in (right for left, right in PAIRS if left == strategy):
                if two := found.get((models, fpr, other)):
                    gap, samples = one.tpr - two.tpr, one.samples.tpr - two.samples.tpr
                    ends = two_way_interval(samples, gap, one.samples.weights, -1, 1)
                    row = self._row(one, "tpr_difference", gap, ends, self._method("paired two-way"), 0.0)
                    yield row | {"setting": tidy.setting(self.of(one) | {"strategy": f"{strategy}-{other}"})}

    def calibration_differences(self, outcomes: Iterable[Outcome]) -> Iterator[dict[str, Any]]:
        """Spread and tail of the FPRs of single records, post-processed less naive, replicate by replicate."""
        found = {key_of(one): one for one in outcomes}
        for naive in (one for one in found.values() if one.strategy == "naive"):
            pp = found[naive.models, naive.fpr, "pp"]
            spreads = [spread(one) for one in (pp, naive)]
            shares = [one.share_above_twice for one in (pp, naive)]
            samples = [pp.samples.fpr_spread - naive.samples.fpr_spread]
            samples += [pp.samples.share_above_twice - naive.samples.share_above_twice]
            gaps = {"fpr_spread": spreads, "fpr_share_above_2x": shares}
            for (metric, (ours, theirs)), sample in zip(gaps.items(), samples, strict=True):
                method = self._method("paired records")
                weights = naive.samples.weights
                ends = widened(sample, ours - theirs, weights.units or weights.records.shape[1], -1, 1)
                row = self._row(naive, metric, ours - theirs, ends, method, 0.0)
                yield row | {"setting": tidy.setting(self.of(naive) | {"strategy": "pp-naive"})}

    def _method(self, kind: str) -> str:
        return f"{kind} bootstrap, {self.replicates} replicates; LiRA: mean, ddof 0, target (crossfit: half) left out"

    def _row(self, outcome, metric: str, estimate: float, ends: tuple[float, float], method: str, null: float) -> dict:
        low, high = ends
        entries = outcome.models * outcome.records
        return tidy.row(
            "lira", self.of(outcome), metric, estimate, low=low, high=high, n=entries, method=method, null=null
        )
