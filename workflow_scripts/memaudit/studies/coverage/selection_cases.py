"""Selected records and groups, and effects of companions: intervals and tests where a naive analysis fails."""

import numpy as np

from memaudit.attacks.registry import Attack
from memaudit.common.arrays import Array
from memaudit.statistics import record_vulnerability
from memaudit.statistics.attack_performance import judge_attack
from memaudit.statistics.group_comparison import excess_p_values, record_aucs
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, Rejection, case
from memaudit.studies.coverage.simulated_scores import Population, balanced, draw

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
    },
    most=400,
    use="one outcome is a listed record drawn at random: coverage over the list",
)
def listed_records(rng: np.random.Generator, models: int = 32, shift: float = 0.0, shift_sd: float = 0.0) -> Outcomes:
    """`record_vulnerability.vulnerability_scores`; truth: the shift in deviations of a record's signal."""
    population = Population(models, 400, shift, shift_sd, model_sd=0.0)
    signals, member, shifts = draw(population, rng)
    scores = record_vulnerability.vulnerability_scores(signals, member, rng)
    record = rng.choice(np.argsort(-scores[:, 0])[:LISTED])
    return {"score": Interval(scores[record, 1], scores[record, 2], float(shifts[record]))}


def _group_leak(rng: np.random.Generator, groups: int) -> Array:
    """Whether each group is said to leak more, (group,): records leak differently, groups do not."""
    population = Population(32, 12 * groups, 0.5, 0.7, model_sd=0.0)
    signals, member, _ = draw(population, rng)
    masks = np.repeat(np.eye(groups, dtype=bool), 12, axis=1)
    units = np.arange(population.records)
    return excess_p_values(record_aucs(signals, member), masks, units, rng, 99) <= LEVEL


@case(
    "groups that leak more than the others",
    "max-T over groups of permuted privacy units (audit): any group named",
    {"12 groups": {"groups": 12}, "36 groups": {"groups": 36}},
)
def groups_named(rng: np.random.Generator, groups: int) -> Outcomes:
    """`group_comparison.excess_p_values` where all groups have records of the same distribution."""
    return {"any group named": Rejection(bool(_group_leak(rng, groups).any()))}


@case(
    "membership redrawn by its scheme, with effects of companions",
    "p-value of the AUC (lira, attacks, tabpate, audit), studentised over models",
    {"pairs": {"size": 2}, "triples": {"size": 3}, "triples, 128 models": {"size": 3, "models": 128}},
    use="own membership has no effect, that of companions twice the noise: strong effects of three need 128 models",
)
def companions(rng: np.random.Generator, size: int, models: int = 32, records: int = 60) -> Outcomes:
    """`attack_performance.judge_attack` on raw signals; each gets twice the product of its companions' memberships."""
    member = balanced(models, records, rng)
    signs = (2.0 * member - 1).reshape(models, -1, size)
    effect = 2 * (signs.prod(-1, keepdims=True) * signs).reshape(models, records)
    signals = rng.standard_normal(member.shape) + effect
    attack = Attack(signals, "raw", {})
    auc, _ = judge_attack(attack, member, fprs=(0.1,), rng=rng, replicates=60, permutations=39)
    return {"p <= .05": Rejection(auc.p_value <= LEVEL)}
