"""Coverage of intervals from a score matrix: AUC, TPR, differences, precision, accuracy, effect size."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from memaudit.attacks.calibrate import calibrate
from memaudit.common.arrays import Array
from memaudit.statistics import accusation_precision, bootstrap, model_utility, roc
from memaudit.statistics.attack_performance import Estimate, judge, roc_band
from memaudit.statistics.paired_differences import differences
from memaudit.statistics.quantile_replicates import pooled_tpr
from memaudit.studies.attacks import attribute_inference_results as attribute
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, case
from memaudit.studies.coverage.simulated_scores import (
    FPR,
    OPTIONS,
    SCENARIOS,
    Population,
    balanced,
    draw,
    true_metrics,
)
from memaudit.studies.predict import prediction_metrics

REPLICATES = 120  # bootstrap replicates: studies use 200 or more, which costs more and changes little
METRICS = ("AUC", f"TPR at FPR {FPR:g}")
FOUR = Population(models=64, records=4, shift=0.5, shift_sd=3.0)
Outcomes = dict[str, Outcome]


def _some(*names: str) -> dict[str, dict[str, Population]]:
    return {name: OPTIONS[name] for name in names}


def _intervals(estimates: Sequence[Estimate], truths: Array, names: Sequence[str] = METRICS) -> Outcomes:
    ends = [(one.low, one.high) for one in estimates]
    return {name: Interval(*pair, truth) for name, pair, truth in zip(names, ends, truths, strict=True)}


@case(
    "two-way bootstrap over models and records",
    "AUC and TPR of every attack (lira, attacks, tabpate, audit)",
    OPTIONS,
    use="conservative: noise of single entries counts threefold; no interval of a TPR at an FPR of fewer than 2"
    " non-members; with a strong leak, too narrow for fewer than 8 models whose levels differ more than the noise",
)
def two_way(rng: np.random.Generator, population: Population) -> Outcomes:
    """`attack_performance.judge` on raw scores, and the precision that follows from the TPR at base rate .1."""
    scores, member, _ = draw(population, rng)
    estimates = judge(scores, member, fprs=(FPR,), rng=rng, replicates=REPLICATES)
    truths = true_metrics(population)
    ((_, precision),) = accusation_precision.precision_estimates(estimates, FPR, [0.1])
    return _intervals(estimates, truths) | {
        "precision of an accusation": Interval(
            precision.low, precision.high, float(accusation_precision.precision(truths[1], FPR, 0.1))
        )
    }


@case(
    "two-way bootstrap of LiRA scores",
    "AUC and TPR of LiRA; the truth is the expectation at this number of models",
    _some("null", "weak", "heterogeneous", "heavy-tailed", "few records"),
    use="conservative, as above; fits are kept fixed while entries are resampled",
    most=300,
)
def two_way_lira(rng: np.random.Generator, population: Population) -> Outcomes:
    """`attack_performance.judge` on LiRA's log-likelihood ratios from the same matrix."""
    signals, member, _ = draw(population, rng)
    scores = calibrate(signals, member, "lira")
    return _intervals(judge(scores, member, fprs=(FPR,), rng=rng, replicates=REPLICATES), expected_of_lira(population))


@lru_cache
def expected_of_lira(population: Population, matrices: int = 400) -> Array:
    """Mean AUC and TPR of LiRA over many matrices, (2,)."""
    rng, found = np.random.default_rng(21), []
    for _ in range(matrices):
        signals, member, _ = draw(population, rng)
        curve = roc.curve(roc.rank(calibrate(signals, member, "lira"), member))
        found.append([roc.area(*curve), *roc.at_fpr(*curve, [FPR])])
    return np.mean(found, 0)


@case(
    "two-way bootstrap over models and privacy units",
    "AUC and TPR where records form groups (persons, near duplicates)",
    _some("null", "weak", "heterogeneous", "few records")
    | {
        "4 units": {"population": FOUR},
        "units of 1 to 12 records": {"population": SCENARIOS["heterogeneous"], "largest": 12},
    },
    use="conservative, as above; no interval for fewer than 5 units, as which units of different sizes count"
    " ((sum of sizes)^2 / sum of squares)",
    most=300,
)
def two_way_groups(rng: np.random.Generator, population: Population, largest: int = 3) -> Outcomes:
    """`attack_performance.judge` on units of three records, or of 1 to `largest`."""
    units = max(population.records // 2, min(8, population.records))
    scores, member, shifts = draw(population._replace(records=units), rng, copies=largest)
    groups = np.arange(len(shifts)) // largest
    if largest > 3:
        kept = np.arange(len(shifts)) % largest < rng.integers(1, largest + 1, units)[groups]
        scores, member, groups = scores[:, kept], member[:, kept], groups[kept]
    return _intervals(
        judge(scores, member, fprs=(FPR,), rng=rng, groups=groups, replicates=REPLICATES), true_metrics(population)
    )


@case(
    "bootstrap over records of one model",
    "AUC and TPR of attacks on one model or corpus (ltmia, iclmem); ROC bands",
    {
        name: {"population": one._replace(models=1, records=200 if one.records > 20 else 24, model_sd=0.0)}
        for name, one in SCENARIOS.items()
        if name != "few contexts"
    },
    use="at least 10 members and 10 non-members; no interval of a TPR at an FPR of fewer than 2 non-members",
    most=1000,
)
def one_model(rng: np.random.Generator, population: Population) -> Outcomes:
    """`attack_performance.judge` and `roc_band` on one model, half of whose records are members."""
    scores, _, shifts = draw(population, rng)
    member = rng.permutation(population.records)[None] < population.records // 2
    scores = scores + member * shifts  # the drawn membership of a single model is empty
    truths = true_metrics(population)
    band = roc_band(scores, member, np.array([0.3]), rng=rng, replicates=REPLICATES)
    return _intervals(judge(scores, member, fprs=(FPR,), rng=rng, replicates=REPLICATES), truths) | {
        "ROC band at FPR .3": Interval(*band[0, 1:], true_rate(population, 0.3))
    }


@lru_cache
def true_rate(population: Population, fpr: float) -> float:
    """True TPR at an FPR."""
    rng = np.random.default_rng(22)
    scores, member, _ = draw(population._replace(models=2, records=200_000), rng)
    return float(roc.tpr_at_fpr(scores, member, [fpr])[0])


@case(
    "paired differences, two-way bootstrap with common weights",
    "differences between attacks, settings, mitigations (all studies)",
    OPTIONS,
    use="conservative, as above",
    most=250,
)
def paired(rng: np.random.Generator, population: Population) -> Outcomes:
    """`paired_differences.differences` of an attack and a noisier one on the same signals."""
    scores, member, _ = draw(population, rng)
    noisier = scores + rng.standard_normal(scores.shape)
    found = differences((scores, member), (noisier, member), fprs=(FPR,), rng=rng, replicates=REPLICATES)
    return _intervals(found, true_metrics(population) - true_metrics(population, 1.0))


@case(
    "TPR above the quantile of OUT scores",
    "aggregation strategies (lira); pooled over records",
    _some("null", "weak", "heterogeneous", "few records"),
    use="conservative, as above",
    most=400,
)
def strict_quantile(rng: np.random.Generator, population: Population) -> Outcomes:
    """`quantile_replicates.pooled_tpr` with its two-way interval."""
    scores, member, _ = draw(population, rng)
    weights = bootstrap.two_way_weights(*member.shape, REPLICATES, rng)
    once = bootstrap.Weights(*(np.ones((1, size)) for size in member.shape))
    rates, (observed,) = (pooled_tpr(scores.T.astype(np.float32), member.T, FPR, drawn) for drawn in (weights, once))
    ends = bootstrap.two_way_interval(rates, float(observed), weights, 0, 1)
    return {METRICS[1]: Interval(*ends, true_metrics(population)[1])}


@case(
    "accuracy of the attacked system",
    "two-way bootstrap (attacks, tabpate)",
    {
        "null": {"models": 16, "records": 60, "spread": 0.0},
        "heterogeneous": {"models": 16, "records": 60, "spread": 3.0},
        "few records": {"models": 64, "records": 8, "spread": 3.0},
        "few contexts": {"models": 4, "records": 60, "spread": 1.0},
    },
    use="conservative, as above",
)
def accuracy(rng: np.random.Generator, models: int, records: int, spread: float) -> Outcomes:
    """`model_utility.judge_utility`: a record is predicted correctly with a probability of its own."""
    chance = ndtr(0.5 + spread * rng.standard_normal(records) + 0.3 * rng.standard_normal((models, 1)))
    correct = rng.random((models, records)) < chance
    labels = np.arange(records) % 2
    truth = float(ndtr(0.5 / np.sqrt(1 + spread**2 + 0.09)))
    found = model_utility.judge_utility(correct, labels, rng=rng, replicates=REPLICATES)
    return _intervals(found, np.array([truth, truth]), model_utility.METRICS)


@case(
    "attribute inference, members minus non-members",
    "two-way bootstrap with common weights (attacks)",
    {"null": {"added": 0.0}, "weak": {"added": 0.1}, "few records": {"added": 0.1, "records": 10}},
    use="conservative, as above",
    most=150,
)
def attribute_difference(rng: np.random.Generator, added: float, models: int = 16, records: int = 60) -> Outcomes:
    """Accuracy of `judge_attribute`: members are predicted correctly more often by `added`."""
    member = balanced(models, records, rng)
    chance = 0.6 + 0.2 * rng.uniform(-1, 1, records) + added * member
    correct = rng.random(member.shape) < chance
    positive = np.arange(records) % 2 == 0
    guesses = attribute.Guesses(correct, np.where(correct == positive, 1.0, 0.0), positive, 0.5)
    options = {"fprs": (FPR,), "rng": rng, "replicates": REPLICATES, "permutations": 19}
    difference = attribute.judge_attribute(guesses, member, **options)["difference"][0]
    return {"accuracy": Interval(difference.low, difference.high, added)}


@case(
    "predictors of memorization",
    "two-way bootstrap over targets and records, at least as wide as Clopper-Pearson for rates (predict)",
    {
        "null": {"shift": 0.0},
        "weak": {"shift": 0.5},
        "strong": {"shift": 2.0},
        "few records": {"shift": 1.0, "records": 60, "share": 0.15},
        "few contexts": {"shift": 1.0, "targets": 3},
        "about 14 memorized": {"shift": 1.0, "share": 0.17},
        "rare": {"shift": 1.0, "records": 200, "share": 0.02},
        "many contexts": {"shift": 1.0, "targets": 16, "records": 300, "share": 0.03, "uneven": 1.0},
    },
    most=500,
    use="no interval of an AUC, a band or an FPR for fewer than 10 memorized records",
)
def predictors(
    rng: np.random.Generator,
    shift: float,
    targets: int = 1,
    records: int = 120,
    share: float = 0.3,
    uneven: float = 0.0,
) -> Outcomes:
    """AUC, TPR and the memorized share of `prediction_metrics`.

    Memorization is independent of the target, but in all of them likelier for some records: uneven is the variance of a
    record's factor. Of non-members a fifth as many reach the threshold by chance: the share beyond chance is 0.
    """
    member = rng.random((targets, records)) < 0.7
    factor = rng.gamma(1 / uneven, uneven, records) if uneven else np.ones(records)
    memorized = rng.random((targets, records)) < share * factor * np.where(member, 1, prediction_metrics.CHANCE_SHARE)
    scores = rng.standard_normal(member.shape) + shift * memorized
    drawn = int(rng.integers(2**32))
    entries, others = (
        prediction_metrics.member_entries(memorized, who, np.random.default_rng(drawn), replicates=REPLICATES)
        for who in (member, ~member)
    )
    found = prediction_metrics.judge({"one": scores}, entries, fprs=(FPR,), tprs=(0.75,))["one"]
    band = prediction_metrics.roc_band(scores, entries, np.array([0.3]))
    lira = np.where(memorized, 5.0, 0.0), entries, others, 4.0
    of_share, beyond = prediction_metrics.memorized_share(*lira), prediction_metrics.beyond_chance(*lira)
    truths = [*true_metrics(Population(shift=shift, model_sd=0.0, record_sd=0.0)), ndtr(ndtri(0.75) - shift)]
    return _intervals(found, np.array(truths), (*METRICS, "FPR at TPR 0.75")) | {
        "ROC band at FPR .3": Interval(*band[0, 1:], ndtr(shift + ndtri(0.3))),
        "memorized share": Interval(of_share.low, of_share.high, share),
        "memorized beyond chance": Interval(beyond.low, beyond.high, 0.0),
    }
