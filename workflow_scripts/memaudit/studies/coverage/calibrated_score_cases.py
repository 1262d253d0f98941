"""Scores of few shadow models with their differences, and posterior membership probabilities."""

from functools import lru_cache

import numpy as np
from scipy.special import expit

from memaudit.attacks.calibrate import calibrate
from memaudit.common.arrays import Array
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import roc
from memaudit.statistics.posterior_calibration import calibrated_ratios
from memaudit.statistics.record_vulnerability import vulnerability_scores
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, Rejection, case
from memaudit.studies.coverage.simulated_scores import FPR, Population, draw
from memaudit.studies.lira.score_comparison import BASELINE, Matrix, intervals

RMIA = {"gamma": 1.0, "offline_a": 0.3}
SHOWN = (BASELINE, "lira shrunk variance", "rmia", "combined")
LISTED, CONFIDENT = 20, 0.95
Outcomes = dict[str, Outcome]


@case(
    "scores of the registry at few shadow models",
    "AUC, TPR and paired differences from LiRA (lira); the truth is the expectation at this number of models",
    {
        "null, 8 models": {"population": Population(8, 60)},
        "heterogeneous, 8 models": {"population": Population(8, 60, 0.5, 3.0)},
        "heterogeneous, 16 models": {"population": Population(16, 60, 0.5, 3.0)},
    },
    most=200,
    use="conservative: noise of single entries counts threefold; fits are kept fixed while entries are resampled",
)
def few_shadow_models(rng: np.random.Generator, population: Population) -> Outcomes:
    """`score_comparison.intervals`; RMIA's population: 40 records that are in no model."""
    truths = expected_of_scores(population)
    found = intervals(_matrix(population, rng), rng, rmia=RMIA, fprs=(FPR,), replicates=120)
    return {
        f"{name}, {one.metric}": Interval(one.low, one.high, truths[name][place % 2])
        for name, estimates in found
        if name in truths
        for place, one in enumerate(estimates)
    }


def _matrix(population: Population, rng: np.random.Generator) -> Matrix:
    signals, member, _ = draw(population, rng)
    others, _, _ = draw(population._replace(records=40, shift=0.0, shift_sd=0.0), rng)
    return Matrix(signals, member, others, np.arange(population.records), Scheme())


@lru_cache
def expected_of_scores(population: Population, matrices: int = 300) -> dict[str, Array]:
    """Mean AUC and TPR of every shown score over many matrices, (2,), and of its differences from LiRA."""
    rng = np.random.default_rng(23)
    found: dict[str, list[list[float]]] = {name: [] for name in SHOWN}
    for _ in range(matrices):
        matrix = _matrix(population, rng)
        for name, scores in matrix.scores(matrix.membership, RMIA, SHOWN):
            curve = roc.curve(roc.rank(scores, matrix.membership))
            found[name].append([roc.area(*curve), *roc.at_fpr(*curve, [FPR])])
    means = {name: np.mean(values, 0) for name, values in found.items()}
    return means | {f"{name} - {BASELINE}": means[name] - means[BASELINE] for name in SHOWN[1:]}


@case(
    "calibrated posterior membership probability of .95 or more",
    "posteriors from LiRA's ratios (audit): share of non-members among the entries that reach .95",
    {
        "null": {"population": Population(32, 60)},
        "strong": {"population": Population(32, 60, 2.0, 0.5)},
        "heterogeneous": {"population": Population(32, 60, 0.5, 3.0)},
        "heavy-tailed": {"population": Population(32, 60, 1.5, 0.5, freedom=3)},
        "few records": {"population": Population(64, 8, 0.5, 3.0)},
        "few contexts": {"population": Population(16, 200, 0.5, 3.0)},
        "yes-or-no signals": {"population": Population(32, 200), "leaking": 10},
    },
    most=300,
    use="not of signals with few values, and not below 16 models (refused); of an audit in which hardly any entry"
    " reaches .95 (no leak, heavy tails), these few are wrong more often: pooled over data sets, while the false"
    " discovery rate counts such an audit as 0",
)
def posteriors(rng: np.random.Generator, population: Population, leaking: int = 0) -> Outcomes:
    """`posterior_calibration.calibrated_ratios`; at most 5 % are non-members if the probabilities are right.

    leaking: number of records that leak completely, where signals are yes or no; 0: signals as they are.
    """
    signals, member, _ = draw(population, rng)
    if leaking:
        signals = (signals + 8 * member * (np.arange(population.records) < leaking) > 2).astype(float)
    confident = expit(calibrated_ratios(calibrate(signals, member, "lira"), member, rng)) >= CONFIDENT
    listed = np.argsort(-vulnerability_scores(signals, member, rng)[:, 0])[:LISTED]
    false = confident & ~member
    pooled = {
        f"{name}, pooled": Rejection(int(false[:, of].sum()), int(confident[:, of].sum()))
        for name, of in (("all records", slice(None)), (f"{LISTED} most vulnerable", listed))
    }
    return {"false discovery rate": Rejection(float(false.sum() / max(confident.sum(), 1)))} | pooled
