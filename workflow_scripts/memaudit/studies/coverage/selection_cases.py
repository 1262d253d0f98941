"""Selected records and groups, and effects of companions: intervals and tests where a naive analysis fails."""

import numpy as np

from memaudit.attacks.attack_entry import Attack
from memaudit.statistics import record_vulnerability
from memaudit.statistics.group_comparison import (
    context_p_values,
    excess_p_values,
    judge_groups,
    record_aucs,
    record_influence,
)
from memaudit.statistics.randomisation_tests import randomisation_null
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, Rejection, case
from memaudit.studies.coverage.simulated_scores import Population, balanced, companion_effects, draw

LEVEL = 0.05
LISTED = 20
Outcomes = dict[str, Outcome]


@case(
    "credible interval of the most vulnerable records",
    "the 20 records of the highest score of 400 (attacks, audit)",
    {
        "null": {"shift": 0.0},
        "strong": {"shift": 1.0},
        "heterogeneous": {"shift": 0.5, "shift_sd": 0.7},
        "few contexts": {"shift": 0.5, "shift_sd": 0.7, "models": 16},
        "in 9 of 60 models, deviation 3 there": {"models": 60, "inside": 9},
        "log-normal noise": {"shift": 0.5, "shift_sd": 0.7, "skewed": True},
        "log-normal noise, 8 models": {"shift": 0.5, "shift_sd": 0.7, "skewed": True, "models": 8},
    },
    most=400,
    use="one outcome is a listed record drawn at random: coverage over the list; noise as skewed as log-normal needs 32"
    " models",
)
def listed_records(
    rng: np.random.Generator,
    models: int = 32,
    shift: float = 0.0,
    shift_sd: float = 0.0,
    inside: int = 0,
    skewed: bool = False,
) -> Outcomes:
    """`record_vulnerability.vulnerability_scores`; truth: the shift in deviations of a record's signal.

    inside: number of models that have a record, half of them by default; skewed: noise is the exponential of a normal
    one, of deviation 1.
    """
    population = Population(models, 400, shift, shift_sd, model_sd=0.0)
    signals, member, shifts = draw(population, rng)
    if inside:
        member = rng.random(member.shape).argsort(0) < inside
        signals = rng.standard_normal(member.shape) * np.where(member, 3, 1)
    if skewed:
        noise = np.exp(rng.standard_normal(member.shape))
        signals = noise / np.sqrt(np.e * (np.e - 1)) + member * shifts
    scores = record_vulnerability.vulnerability_scores(signals, member, rng)
    record = rng.choice(np.argsort(-scores[:, 0])[:LISTED])
    return {"score": Interval(scores[record, 1], scores[record, 2], float(shifts[record]))}


@case(
    "groups that leak more than the others",
    "max-T over groups of permuted privacy units, and Student's t over contexts (audit): any group named",
    {
        "12 groups": {"groups": 12},
        "36 groups": {"groups": 36},
        "groups that share context effects": {"groups": 12, "shared": 2.0, "shift": 2.0},
        "large groups that share context effects": {"groups": 6, "size": 100, "shared": 2.0, "shift": 2.0},
    },
    use="groups of 100 records whose signals share an effect of the context twice as large as the noise are named too "
    "often: a group that is named should be audited again with other contexts (--seed)",
)
def groups_named(
    rng: np.random.Generator, groups: int, size: int = 12, shared: float = 0.0, shift: float = 0.5
) -> Outcomes:
    """`excess_p_values` and `context_p_values`: records leak differently, groups do not.

    shared: deviation of what a context adds to all records of a group.
    """
    population = Population(32, size * groups, shift, 0.7, model_sd=0.0)
    signals, member, _ = draw(population, rng)
    signals = signals + shared * rng.standard_normal((32, groups)).repeat(size, axis=1)
    masks, units = np.repeat(np.eye(groups, dtype=bool), size, axis=1), np.arange(population.records)
    values = record_aucs(signals, member)
    of_units = excess_p_values(values, masks, units, rng, 99)
    of_contexts = context_p_values(values, record_influence(signals, member), masks, units)
    return {"any group named": Rejection(bool((np.maximum(of_units, of_contexts) <= LEVEL).any()))}


@case(
    "excess of a group over the others",
    "two-way bootstrap, group and others paired (audit)",
    {"12 records": {"records": 12}, "10 records that differ": {"records": 10, "shift_sd": 3.0}},
    most=200,
    use="of a group chosen beforehand",
)
def group_excess(rng: np.random.Generator, records: int, shift_sd: float = 0.7) -> Outcomes:
    """`group_comparison.judge_groups`: the group's records are drawn from the same distribution as 60 others."""
    signals, member, _ = draw(Population(32, records + 60, 0.5, shift_sd, model_sd=0.0), rng)
    units = np.arange(records + 60)
    options = {"fprs": [0.1], "rng": rng, "replicates": 120, "permutations": 19}
    excess = judge_groups(Attack(signals, "raw", {}), member, {"group": units < records}, units, **options)["group"]
    return {"AUC excess": Interval(excess.excess.low, excess.excess.high, 0.0)}


@case(
    "membership redrawn by its scheme, with effects of companions",
    "p-values of AUC and TPR (lira, attacks, tabpate, audit), studentised over models",
    {"pairs": {"size": 2}, "triples": {"size": 3}, "triples, 16 models": {"size": 3, "models": 16}},
    times=3,
    use="own membership has no effect, that of companions twice the noise",
)
def companions(rng: np.random.Generator, size: int, models: int = 32, records: int = 60) -> Outcomes:
    """`randomisation_tests.randomisation_null` of raw signals, each with the product of its companions' memberships."""
    member = balanced(models, records, rng)
    signals = rng.standard_normal(member.shape) + companion_effects(member, size)
    p_values = randomisation_null(signals, member, "raw", rng, 39, fprs=(0.1,)).p_values
    return {f"{name}, p <= .05": Rejection(bool(p <= LEVEL)) for name, p in zip(("AUC", "TPR"), p_values, strict=True)}
