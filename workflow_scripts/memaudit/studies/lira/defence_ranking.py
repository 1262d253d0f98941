"""Which of two defences looks more private under each aggregation strategy (Jälkö et al. 2026, Sections 1 and 4.1).

Two defences that change only what is published, so that both are measured on the models and records of one score
matrix: confidences capped at 0.9, and confidences rounded to one decimal (Shokri et al. 2017, Section VII).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from memaudit.attacks.lira import resolution_floor
from memaudit.common import tidy
from memaudit.common.arrays import Array, Mask
from memaudit.statistics.bootstrap import LEVEL, interval, two_way_interval
from memaudit.studies.lira.aggregation_strategies import Outcome, evaluate

Rows = Iterator[dict[str, Any]]

STUDY = "lira"
CAPPED, ROUNDED = "capped at 0.9", "rounded to 0.1"
LEAST_DEVIATION = 0.01  # of a record whose confidence is always above the cap


def defended(signals: Array) -> dict[str, tuple[Array, float]]:
    """Signals (model, record) that an attack gets behind each defence, and their least sigma.

    signals: logit of the confidence in the true label. Rounded confidences are in steps of 0.1.
    """
    confidence = expit(np.asarray(signals, dtype=np.float64))
    return {
        CAPPED: (logit(np.minimum(confidence, 0.9)), LEAST_DEVIATION),
        ROUNDED: (np.round(10 * confidence), resolution_floor(1)),
    }


def reversal(one: Array, other: Array) -> Array:
    """How clearly two differences have opposite signs, the smaller of both: negative where they agree.

    one, other: (1 + replicate,), the observed one first. The sign that counts is that of `other` as observed, so that
    the interval of the result lies above 0 only where both differences lie apart from 0 on opposite sides.
    """
    sign = np.sign(other[0]) or 1.0
    return np.minimum(-sign * one, sign * other)


def ranking_rows(
    signals: Array,
    membership: Mask,
    fprs: Sequence[float],
    generator: Callable[[], np.random.Generator],
    *,
    replicates: int,
    groups: NDArray[np.int64] | None,
    keys: Mapping[str, Any],
) -> Rows:
    """Tidy rows of the TPR behind each defence, the difference of both, and whether two strategies rank them otherwise.

    generator: makes the same generator at each call, so that both defences are resampled alike.
    """
    found = {}
    for name, (values, floor) in defended(signals).items():
        options = {"fprs": fprs, "floor": floor, "replicates": replicates, "groups": groups}
        outcomes = evaluate(values, membership, [len(membership)], rng=generator(), **options)
        found[name] = {(one.strategy, one.fpr): one for one in outcomes}
    gaps = {}
    for (strategy, fpr), capped in found[CAPPED].items():
        named = {**keys, "models": len(membership), "fpr": fpr, "strategy": strategy}
        samples = {name: _samples(of[strategy, fpr]) for name, of in found.items()}
        for name, values in samples.items():
            yield _row({**named, "defence": name}, "defended tpr", values, capped, fpr)
        gaps[strategy, fpr] = samples[CAPPED] - samples[ROUNDED]
        yield _row({**named, "defence": f"{CAPPED} - {ROUNDED}"}, "defence difference", gaps[strategy, fpr], capped, 0)
    for fpr in fprs:
        if ("naive", fpr) in gaps and ("pp", fpr) in gaps:
            named = {
                **keys,
                "models": len(membership),
                "fpr": fpr,
                "strategy": "naive and pp",
                "defence": "opposite order",
            }
            values = reversal(gaps["naive", fpr], gaps["pp", fpr])
            yield _row(named, "order reversal", values, found[CAPPED]["naive", fpr], 0, len(fprs))


def _samples(outcome: Outcome) -> Array:
    return np.concatenate([[outcome.tpr], outcome.samples.tpr])


def _row(
    keys: Mapping[str, Any], metric: str, samples: Array, outcome: Outcome, null: float, tests: int = 1
) -> dict[str, Any]:
    """tests: number of rows of which one suffices for a conclusion; their intervals have Bonferroni's level."""
    if tests > 1:
        low, high = interval(samples[1:], 1 - (1 - LEVEL) / tests)
    else:
        low, high = two_way_interval(samples[1:], samples[0], outcome.samples.weights, -1, 1)
    method = f"paired two-way bootstrap, {len(samples) - 1} replicates"
    facts = {"low": low, "high": high, "null": null, "n": outcome.models * outcome.records, "method": method}
    return tidy.row(STUDY, keys, metric, float(samples[0]), **facts)
