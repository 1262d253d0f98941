"""Size of tests, and false discovery rates, where nothing or little is to be found."""

import numpy as np

from memaudit.common.arrays import Array, Mask
from memaudit.data.split_contents import Sample
from memaudit.statistics import finite_population, permutation_tests, rank_tests, split_half_agreement
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.randomisation_tests import randomisation_null
from memaudit.statistics.rank_correlation import rank_correlation
from memaudit.statistics.signed_rank_test import signed_rank_rows
from memaudit.statistics.split_balance import two_sample_test
from memaudit.studies.attacks import attribute_inference_results as attribute
from memaudit.studies.attacks import dataset_inference, property_inference
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, Rejection, case
from memaudit.studies.coverage.simulated_scores import Population, balanced, companion_effects, draw

LEVEL = 0.05
Outcomes = dict[str, Outcome]
NULLS = {
    "null": {"population": Population()},
    "heavy-tailed": {"population": Population(freedom=3)},
    "few records": {"population": Population(records=8)},
    "few contexts": {"population": Population(models=8, model_sd=2.0)},
}


@case(
    "permuted memberships, p-values of an attack", "AUC and TPR of every attack (lira, attacks, audit)", NULLS, times=3
)
def permuted_membership(rng: np.random.Generator, population: Population) -> Outcomes:
    """`randomisation_tests.randomisation_null` of LiRA, 39 permutations, level .05."""
    signals, member, _ = draw(population, rng)
    p_values = randomisation_null(signals, member, "lira", rng, 39, fprs=(0.1,)).p_values
    return {f"{name}, p <= .05": Rejection(bool(p <= LEVEL)) for name, p in zip(("AUC", "TPR"), p_values, strict=True)}


def _runs(
    rng: np.random.Generator, settings: int, leaking: int, targets: int, permutations: int = 199
) -> tuple[Array, Array]:
    """AUCs (setting,) and their null (setting, permutation) of correlated settings, of which the first few leak."""
    member = np.arange(targets) < targets // 2
    scores = rng.standard_normal(targets) + rng.standard_normal((settings, targets))
    scores[:leaking] += 2.0 * member
    drawn = permutation_tests.lowest_priorities(rng.random((permutations, targets)), targets // 2)
    return permutation_tests.aucs(scores, member[None])[:, 0], permutation_tests.aucs(scores, drawn)


RUNS = {
    "null": {"leaking": 0},
    "weak": {"leaking": 2},
    "strong": {"leaking": 10},
    "few records": {"leaking": 0, "targets": 10},
}


@case("permutation p-value of one run", "AUC(dS) (iclmem)", {"null": {}, "few records": {"targets": 10}}, times=4)
def permutation_p(rng: np.random.Generator, targets: int = 60) -> Outcomes:
    """`permutation_tests.p_value`."""
    return {"p <= .05": Rejection(bool(permutation_tests.p_value(*_runs(rng, 1, 0, targets))[0] <= LEVEL))}


@case("max-T over settings", "peaks over epochs and settings (iclmem): any true null rejected", RUNS)
def max_t(rng: np.random.Generator, leaking: int, targets: int = 60) -> Outcomes:
    """`permutation_tests.max_t` of 20 settings: probability of any rejection among those that do not leak."""
    adjusted = permutation_tests.max_t(*_runs(rng, 20, leaking, targets))
    return {"any false rejection": Rejection(bool((adjusted[leaking:] <= LEVEL).any()))}


@case("Benjamini-Hochberg over settings", "q-values (iclmem, audit): share of false ones among the rejected", RUNS)
def benjamini_hochberg(rng: np.random.Generator, leaking: int, targets: int = 60) -> Outcomes:
    """`permutation_tests.q_value` of 20 settings: false discovery rate."""
    q_values = permutation_tests.q_value(permutation_tests.p_value(*_runs(rng, 20, leaking, targets, 999)))
    rejected = q_values <= LEVEL
    return {"false discovery rate": Rejection(float(rejected[leaking:].sum() / max(rejected.sum(), 1)))}


@case(
    "permuted pairs of members and non-members",
    "matched targets (iclmem)",
    {"null": {}, "heterogeneous": {"between": 3.0}, "few records": {"pairs": 6}},
    times=4,
)
def permuted_pairs(rng: np.random.Generator, pairs: int = 30, between: float = 0.5) -> Outcomes:
    """`permutation_tests.permuted_members`: pairs may differ, membership within a pair is random."""
    pair = np.arange(pairs).repeat(2)
    member = (np.arange(2 * pairs) % 2 == 0) ^ (rng.random(pairs) < 0.5).repeat(2)
    scores = between * rng.standard_normal(pairs).repeat(2) + rng.standard_normal(2 * pairs)
    swaps = (rng.random((199, pairs)) < 0.5).repeat(2, axis=1)
    drawn = permutation_tests.permuted_members(member, pair, swaps, rng.random((199, 2 * pairs)))
    observed = permutation_tests.aucs(scores, member[None])
    return {
        "p <= .05": Rejection(bool(permutation_tests.p_value(observed, permutation_tests.aucs(scores, drawn)) <= LEVEL))
    }


@case(
    "rank test of each record, and those that are detected",
    "Mann-Whitney over models, Benjamini-Hochberg over records (lira)",
    {
        "null": {"population": Population(records=40)},
        "weak": {"population": Population(models=32, records=40, shift=1.0)},
        "strong": {"population": Population(models=64, records=40, shift=2.0)},
        "heavy-tailed": {"population": Population(records=40, freedom=3)},
        "few contexts": {"population": Population(models=8, records=40)},
    },
    use="records of one model share its effect, so that false ones come together",
)
def record_tests(rng: np.random.Generator, population: Population) -> Outcomes:
    """`rank_tests.detected_records` where half of the records do not leak, and the p-values of these."""
    signals, member, shifts = draw(population, rng)
    silent = np.arange(population.records) % 2 == 0
    signals = signals - member * shifts * silent
    named = rank_tests.detected_records(signals, member)
    rejected = rank_tests.membership_p_values(signals, member)[silent] <= LEVEL
    return {
        "p <= .05": Rejection(float(rejected.mean())),
        "false discovery rate": Rejection(
            float((named & (silent | (population.shift == 0))).sum() / max(named.sum(), 1))
        ),
    }


@case(
    "Wilcoxon's signed-rank test",
    "differences between attacks over combinations (ltmia)",
    {"5 pairs": {"pairs": 5}, "12 pairs": {"pairs": 12}, "heavy-tailed": {"pairs": 12, "freedom": 2}},
)
def signed_ranks(rng: np.random.Generator, pairs: int, freedom: int = 0) -> Outcomes:
    """`signed_rank_test.signed_rank_rows`."""
    values = rng.standard_t(freedom, pairs) if freedom else rng.standard_normal(pairs)
    (row,) = signed_rank_rows("coverage", {}, values, "pairs")
    return {"p <= .05": Rejection(row["estimate"] <= LEVEL)}


@case(
    "rank correlation, permuted predictor",
    "predictors of vulnerability (attacks, predict)",
    {
        "null": {"records": 60},
        "few records": {"records": 8},
        "units of 1 to 100 records": {"records": 20, "largest": 100},
    },
    times=2,
)
def permuted_predictor(rng: np.random.Generator, records: int, largest: int = 1) -> Outcomes:
    """`rank_correlation.rank_correlation` of unrelated values, which records of a unit share."""
    units = np.repeat(np.arange(records), np.maximum(largest // 2 ** np.arange(records), 1))
    found = rank_correlation(*rng.standard_normal((2, records))[:, units], rng, units, replicates=39)
    return {"p <= .05": Rejection(found.p_value <= LEVEL), "detected": Rejection(found.detected)}


@case(
    "one-sided test of a record by OUT models alone",
    "predictive interval of Student's t: realised FPR at nominal .05 (lira)",
    {
        "null": {"models": 64},
        "few contexts": {"models": 8},
        "heavy-tailed": {"models": 64, "freedom": 3},
    },
    use="normal signals",
)
def predictive_interval(rng: np.random.Generator, models: int, freedom: int = 0) -> Outcomes:
    """`finite_population.one_sided_test`: share of OUT entries above the threshold."""
    signals, member, _ = draw(Population(models=models, records=40, freedom=freedom), rng)
    hits = finite_population.one_sided_test(signals, member, np.ones(40), LEVEL)
    return {"FPR": Rejection(float(hits[~member].mean()))}


@case(
    "agreement of halves",
    "overlap of the most vulnerable records of two halves of the models, hypergeometric (lira, audit)",
    {
        "null": {"models": 32},
        "heavy-tailed": {"models": 32, "freedom": 3},
        "half of the signals constant": {"models": 32, "constant": 0.5},
    },
    most=150,
    use="the printed range over splits is no confidence interval, since splits share models",
)
def agreement(rng: np.random.Generator, models: int, freedom: int = 0, constant: float = 0.0) -> Outcomes:
    """`split_half_agreement.agreement_by_models` where nothing leaks."""
    signals, member, _ = draw(Population(models=models, records=60, model_sd=0.0, freedom=freedom), rng)
    signals = np.where(np.arange(60) < 60 * constant, 0.0, signals)
    found = split_half_agreement.agreement_by_models(signals, member, [models], rng, splits=20)
    return {one.metric: Rejection(one.p_value <= LEVEL) for one in found if one.metric != "spearman"}


@case(
    "data-set inference",
    "p-values of corpora that are in no context (attacks)",
    {"10 records of a corpus": {"records": 10}, "30 records of a corpus": {"records": 30}},
    most=200,
)
def corpora(rng: np.random.Generator, records: int) -> Outcomes:
    """`dataset_inference.p_values` of corpora that are out, contexts with effects on all records."""
    member: Mask = balanced(16, 200, rng)
    signals, public = (
        1.0 * effect + rng.standard_normal((16, count))
        for effect in [rng.standard_normal((16, 1))]
        for count in (200, 60)
    )
    options = {"records": records, "trials": 64, "rng": rng}
    values, inside = dataset_inference.p_values(signals, member, public, **options)
    return {"p <= .05": Rejection(float((values[~inside] <= LEVEL).mean()))}


@case(
    "data-set inference, corpora that are in against those that are out",
    "p-value of the AUC by redrawn memberships, studentised over target sets (attacks)",
    {"null": {"size": 0}, "companions, triples": {"size": 3}},
    times=4,
    use="own membership has no effect, that of companions twice the noise",
)
def corpora_detected(rng: np.random.Generator, size: int) -> Outcomes:
    """`dataset_inference.corpora_null`; the signal of a record has the product of its companions' memberships."""
    member: Mask = balanced(16, 60, rng)
    signals = rng.standard_normal(member.shape) + companion_effects(member, size)
    public = rng.standard_normal((16, 30)) + 2 * rng.choice([-1.0, 1.0], (16, 30)) * (size > 0)
    options = {"records": 8, "trials": 64, "rng": rng}
    observed = dataset_inference.p_values(signals, member, public, **options)
    null = dataset_inference.corpora_null(signals, member, public, observed, permutations=19, fprs=(0.1,), **options)
    return {"p <= .05": Rejection(bool(null.p_values[0] <= LEVEL))}


@case(
    "attribute inference, members minus non-members",
    "p-values by redrawn memberships, studentised over models (attacks)",
    {
        "null": {"size": 0},
        "companions, pairs": {"size": 2},
        "companions, pairs, 32 models": {"size": 2, "models": 32},
        "companions, triples": {"size": 3},
        "companions, triples, 32 models": {"size": 3, "models": 32},
    },
    times=2,
    use="own membership has no effect, that of companions twice the noise",
)
def attribute_p(rng: np.random.Generator, size: int, models: int = 64) -> Outcomes:
    """`judge_attribute`: the adversary's score has the product of the companions' memberships."""
    member: Mask = balanced(models, 60, rng)
    noise = 0.5 * rng.standard_normal(member.shape)
    known = rng.standard_normal(60) + noise + 0.5 * companion_effects(member, size)
    positive = np.arange(60) % 2 == 0
    guesses = attribute.Guesses(known > -0.3, np.where(positive, known, -known), positive, 0.5)
    options = {"fprs": (0.1,), "rng": rng, "replicates": 2, "permutations": 19}
    found = attribute.judge_attribute(guesses, member, **options)["difference"]
    return {f"{one.metric}, p <= .05": Rejection(one.p_value <= LEVEL) for one in found}


PERMUTED = "shares of the sets are permuted, which is exact where sets are exchangeable"


@case(
    "property inference",
    "p-value of the AUC by permuted shares (attacks)",
    {"null": {"sets": 16}},
    most=1000,
    use=PERMUTED,
)
def property_test(rng: np.random.Generator, sets: int) -> Outcomes:
    """`property_inference.judge_property` on answers that do not depend on the share."""
    found = _property(rng, sets)
    return {"p <= .05": Rejection(found.p_value <= LEVEL), "detected": Rejection(found.detected)}


@case(
    "property inference, interval",
    "bootstrap of sets, widened by the null's spread (attacks)",
    {"null": {"sets": 16}, "32 sets": {"sets": 32}},
    most=150,
)
def property_interval(rng: np.random.Generator, sets: int) -> Outcomes:
    """`property_inference.judge_property` on answers that do not depend on the share."""
    found = _property(rng, sets, replicates=60)
    return {"AUC": Interval(found.low, found.high, 0.5)}


def _property(rng: np.random.Generator, sets: int, replicates: int = 20) -> Estimate:
    answers = rng.standard_normal((sets, 20)) + rng.standard_normal((sets, 1))
    second = rng.permutation(sets) < sets // 2
    options = {"fprs": (0.1,), "roc_fprs": np.array([0.1]), "rng": rng, "replicates": replicates}
    return property_inference.judge_property(answers, second, permutations=19, **options)[0][0]


@case(
    "classifier two-sample test of a split",
    "members and non-members have the same features (data)",
    {"null": {"records": 120}},
    most=60,
)
def split_test(rng: np.random.Generator, records: int) -> Outcomes:
    """`split_balance.two_sample_test` of a random split."""
    features = rng.standard_normal((records, 3)).astype(np.float32)
    sample = Sample(features, rng.permutation(records) < records // 2, np.arange(records))
    return {"p <= .05": Rejection(two_sample_test(sample, rng)[2] <= LEVEL)}
