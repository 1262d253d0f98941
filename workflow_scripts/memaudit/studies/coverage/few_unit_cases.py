"""Coverage of intervals over a few independent units: splits, repeats, populations, data sets, combinations, points."""

import numpy as np
from scipy.special import gammaln, ndtr

from memaudit.common.arrays import Array
from memaudit.data import membership_matrices
from memaudit.statistics import bootstrap, finite_population, intervals
from memaudit.statistics.crossed_intervals import Crossed, CrossedGrid
from memaudit.statistics.intraclass_correlation import icc
from memaudit.statistics.rank_correlation import rank_correlation
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, case
from memaudit.studies.iclmem.setting_summaries import summary
from memaudit.studies.tabpate.student_utility import mean_of_repeats

REPLICATES = 200
Outcomes = dict[str, Outcome]
COUNTS = {f"{count} units": {"count": count} for count in (2, 3, 5, 10, 30)}
SHAPES = {
    "heavy-tailed, 5 units": {"count": 5, "shape": "t3"},
    "skewed, 3 units": {"count": 3, "shape": "skewed"},
    "skewed, 5 units": {"count": 5, "shape": "skewed"},
    "skewed, 10 units": {"count": 10, "shape": "skewed"},
    "skewed, 30 units": {"count": 30, "shape": "skewed"},
    "skewed, 100 units": {"count": 100, "shape": "skewed"},
}


def _values(rng: np.random.Generator, shape: str, size: int | tuple[int, ...]) -> Array:
    """Values of mean 0.5: normal, Student's t with 3 degrees of freedom, or exponential."""
    if shape == "t3":
        return 0.5 + 0.1 * rng.standard_t(3, size)
    return 0.4 + 0.1 * rng.exponential(size=size) if shape == "skewed" else rng.normal(0.5, 0.1, size)


@case(
    "Student's t over splits, repeats or models, widened for skewed values",
    "means of iclmem, predict, lira (finite populations)",
    COUNTS | SHAPES,
    times=4,
    use="values no more skewed than exponential ones; widened for these, so conservative for normal ones",
)
def student_t(rng: np.random.Generator, count: int, shape: str = "normal") -> Outcomes:
    """`setting_summaries.summary`, which uses `bootstrap.t_interval`."""
    found = summary(_values(rng, shape, count))
    return {"mean": Interval(found["low"], found["high"], 0.5)}


@case(
    "bootstrap of a few units, widened as Student's t and for skewed values",
    "means over records, splits and units (lira, iclmem)",
    COUNTS | SHAPES,
    use="values no more skewed than exponential ones; widened for these, so conservative for normal ones",
)
def few_units(rng: np.random.Generator, count: int, shape: str = "normal") -> Outcomes:
    """`bootstrap.mean_interval`."""
    return {"mean": Interval(*bootstrap.mean_interval(_values(rng, shape, count), REPLICATES, rng), 0.5)}


@case(
    "paired bootstrap of records and splits",
    "effect of labels (iclmem)",
    {f"{count} splits": {"splits": count} for count in (2, 3, 5, 10)}
    | {
        "5 splits that differ much": {"splits": 5, "between": 0.5},
        "records alone differ": {"splits": 5, "between": 0.0},
    },
    times=4,
)
def splits_and_records(rng: np.random.Generator, splits: int, between: float = 0.05) -> Outcomes:
    """`bootstrap.mean_of_units` of values that differ between splits, each with a noise that its replicates know."""
    within = 0.05
    observed = 0.5 + between * rng.standard_normal(splits) + within * rng.standard_normal(splits)
    samples = observed[:, None] + within * rng.standard_normal((splits, REPLICATES))
    weights = bootstrap.two_way_weights(1, splits, REPLICATES, rng).records
    return {"mean": Interval(*bootstrap.mean_of_units(observed, samples, weights), 0.5)}


CROSSED = {
    f"{models} models, {corpora} corpora{name}": {"models": models, "corpora": corpora} | effects
    for models in (4, 6, 8)
    for corpora in (3, 4, 6)
    for name, effects in (("", {}), (", no corpus effect", {"of_corpora": 0.0}))
}


@case(
    "crossed random effects of models and corpora",
    "means, differences and contrasts over combinations of models and corpora (ltmia)",
    CROSSED
    | {
        "8 models, 4 corpora, no model effect": {"models": 8, "corpora": 4, "of_models": 0.0},
        "8 models, 4 corpora, texts alone differ": {
            "models": 8,
            "corpora": 4,
            "of_models": 0.0,
            "of_corpora": 0.0,
            "of_both": 0.0,
        },
        "8 models, 4 corpora that differ most": {"models": 8, "corpora": 4, "of_corpora": 0.1},
        "4 models, given the 2 corpora": {"models": 4, "corpora": 2},
        "8 models, given the 2 corpora": {"models": 8, "corpora": 2},
        "given the 1 model and 2 corpora": {"models": 1, "corpora": 2},
    },
    times=4,
    use="a factor of fewer than 3 levels is taken as given: the interval is about these levels, and says so; 93 % "
    "where 4 levels of one factor differ far more than those of the other",
)
def crossed_effects(
    rng: np.random.Generator,
    models: int,
    corpora: int,
    of_models: float = 0.03,
    of_corpora: float = 0.03,
    of_both: float = 0.015,
) -> Outcomes:
    """`Crossed.interval` of a mean; texts add noise of each corpus and of each combination."""
    texts, factors = 0.01, np.mgrid[:models, :corpora].reshape(2, -1)
    grid = CrossedGrid.of_mean(np.full(models * corpora, 1 / (models * corpora)), models=factors[0], corpora=factors[1])
    effects = (of_models * rng.standard_normal((models, 1)), of_corpora * rng.standard_normal(corpora))
    effects = (*effects, of_both * rng.standard_normal((models, corpora)))
    given = (("models",), ("corpora",), ("models", "corpora"))
    truth = 0.7 + sum(
        float(effect.mean()) for effect, names in zip(effects, given, strict=True) if set(names) <= set(grid.given)
    )
    noise = texts * rng.standard_normal((corpora, REPLICATES + 1)) + texts * rng.standard_normal(
        (models, corpora, REPLICATES + 1)
    )
    values = (0.7 + sum(effects) + noise[..., 0]).ravel()
    samples = values[:, None] + noise[..., 1:].reshape(models * corpora, REPLICATES)
    return {"mean": Interval(*Crossed.mean(values, samples, grid, 500).interval(), truth)}


@case(
    "units resampled, with Student's t over repeats",
    "accuracies of students and their differences (tabpate)",
    {
        "1 repeat": {"repeats": 1, "between": 0.0},
        "2 repeats": {"repeats": 2},
        "3 repeats": {"repeats": 3},
        "10 repeats": {"repeats": 10},
        "units alone differ": {"repeats": 3, "between": 0.0},
    },
)
def repeats_and_units(rng: np.random.Generator, repeats: int, between: float = 0.03) -> Outcomes:
    """`student_utility.mean_of_repeats`: all repeats are tested on the same units."""
    observed = 0.7 + 0.02 * rng.standard_normal() + between * rng.standard_normal(repeats)
    samples = observed[:, None] + 0.02 * rng.standard_normal(REPLICATES)
    return {"mean": Interval(*mean_of_repeats(observed, samples)[:2], 0.7)}


@case(
    "mean over data sets taken as given (MOVER)",
    "means over data sets (attacks, tabpate, predict)",
    {
        "3 rates": {"truths": (0.3, 0.5, 0.6)},
        "near one": {"truths": (0.97, 0.9, 0.8)},
        "2 rates, few records": {"truths": (0.1, 0.5), "count": 15},
        "10 rates": {"truths": tuple(np.linspace(0.05, 0.95, 10))},
    },
)
def mean_of_data_sets(rng: np.random.Generator, truths: tuple[float, ...], count: int = 60) -> Outcomes:
    """`intervals.mean_of` of rates, each with Clopper and Pearson's interval."""
    hits = rng.binomial(count, truths)
    low, high = np.transpose([intervals.clopper_pearson(hit, count) for hit in hits])
    return {"mean": Interval(*intervals.mean_of(hits / count, low, high)[1:], float(np.mean(truths)))}


CORRELATED = {
    f"{name}, {count} points": {"count": count, "correlation": correlation}
    for count in (4, 7, 8, 20, 100)
    for name, correlation in (("null", 0.0), ("strong", 0.8))
}


@case(
    "Spearman's rank correlation, Fisher's z",
    "correlations over data sets, variants or combinations (attacks, iclmem, ltmia)",
    CORRELATED,
    times=4,
    use="[-1, 1] for up to 3 points",
)
def rank_correlation_of_points(rng: np.random.Generator, count: int, correlation: float) -> Outcomes:
    """`intervals.spearman` of normal pairs."""
    a, b = _pairs(rng, count, correlation)
    observed = float(np.corrcoef(a.argsort().argsort(), b.argsort().argsort())[0, 1])
    return {"Spearman": Interval(*intervals.spearman(observed, count), _spearman_of_normal(correlation))}


@case(
    "Spearman's rank correlation, bootstrap over records",
    "vulnerability against predictors (attacks)",
    {name: options for name, options in CORRELATED.items() if options["count"] in (8, 20, 100)},
    most=250,
)
def rank_correlation_of_records(rng: np.random.Generator, count: int, correlation: float) -> Outcomes:
    """`rank_correlation.rank_correlation` of normal pairs."""
    found = rank_correlation(*_pairs(rng, count, correlation), rng, replicates=100)
    return {"Spearman": Interval(found.low, found.high, _spearman_of_normal(correlation))}


def _pairs(rng: np.random.Generator, count: int, correlation: float) -> tuple[Array, Array]:
    a, noise = rng.standard_normal((2, count))
    return a, correlation * a + np.sqrt(1 - correlation**2) * noise


def _spearman_of_normal(correlation: float) -> float:
    """Rank correlation of normal pairs (Kruskal 1958): 6/pi arcsin(r/2)."""
    return float(6 / np.pi * np.arcsin(correlation / 2))


@case(
    "intraclass correlation, noncentral F distribution",
    "share of the variance between splits (iclmem)",
    {
        "null": {"share": 0.0},
        "weak": {"share": 0.3},
        "strong": {"share": 0.9},
        "3 splits": {"share": 0.5, "splits": 3},
        "heavy-tailed": {"share": 0.5, "freedom": 3},
    },
    use="about these splits, whatever the distribution of their deviations; the other deviations are normal",
)
def intraclass(rng: np.random.Generator, share: float, runs: int = 12, splits: int = 5, freedom: int = 0) -> Outcomes:
    """`intraclass_correlation.icc` of runs that stand in all splits; truth: the share of these splits."""
    common = rng.standard_t(freedom, splits) / np.sqrt(3) if freedom else rng.standard_normal(splits)
    between = share * common.var(ddof=1)
    grid = np.sqrt(share) * common + np.sqrt(1 - share) * rng.standard_normal((runs, splits))
    residuals = grid - grid.mean(1, keepdims=True)
    deviation = residuals.mean(0)
    within = np.square(residuals - deviation).sum() / ((runs - 1) * (splits - 1))
    found = icc(deviation.var(ddof=1), within, runs, splits)
    return {"ICC": Interval(found["low"], found["high"], between / (between + 1 - share))}


@case(
    "finite population correction, exact",
    "ratio of empirical to analytic spread, Student's t over populations (lira); fixed-size draws",
    {"half of the population": {"size": 20}, "a fifth": {"size": 8}},
    most=200,
)
def finite_population_ratio(rng: np.random.Generator, size: int, population: int = 40, models: int = 400) -> Outcomes:
    """Mean over records of the corrected ratio of spreads, OUT side, over 6 populations.

    The truth is 1 but for the bias of the square root, of a spread over the OUT models and over the population.
    """
    factor = finite_population.correction(size, population)
    ratios = [
        finite_population.simulate(
            membership_matrices.fixed_size(models, population, size, rng), size, rng, dimensions=40
        )
        .ratio("out", factor)
        .mean()
        for _ in range(6)
    ]
    outside = models * (1 - size / population)
    truth = np.sqrt((outside - 1) / outside) * _mean_deviation(outside - 1) * _mean_deviation(population - 2)
    return {"ratio": Interval(*bootstrap.t_interval(np.array(ratios)), truth)}


def _mean_deviation(freedom: float) -> float:
    """Mean of a standard deviation of normal values, in units of the true one (ddof 1)."""
    return float(np.sqrt(2 / freedom) * np.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2)))


@case(
    "predicted TPR at a threshold, bootstrap over records",
    "prediction for the population (lira)",
    {"heterogeneous": {"records": 60}, "few records": {"records": 8}},
)
def predicted_tpr(rng: np.random.Generator, records: int) -> Outcomes:
    """`bootstrap.mean_interval` of records' normal TPRs at FPR .1."""
    tprs = ndtr(np.abs(rng.standard_normal(records)) - 1.2816)
    grid = np.linspace(-8, 8, 20001)
    density = np.exp(-(grid**2) / 2)
    truth = float((ndtr(np.abs(grid) - 1.2816) * density).sum() / density.sum())
    return {"mean TPR": Interval(*bootstrap.mean_interval(tprs, REPLICATES, rng), truth)}
