"""The audit's headline: the strongest of several scores, its precision in one deployment, and uneven accusations."""

import numpy as np

from memaudit.attacks.registry import on_confidence
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.accusation_precision import Accusations, precision
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.strongest_score import Panel, choose, judge_alike
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, Rejection, case
from memaudit.studies.coverage.simulated_scores import balanced

LEVEL, FPR, BASE_RATE = 0.05, 0.1, 0.5
BLOCK = 8  # contexts that are balanced together
NAMES = ("lira", "lira shared variance", "rmia", "signal alone")
RMIA = {"gamma": 1.0, "offline_a": 0.3}
Outcomes = dict[str, Outcome]
SCENARIOS = {"null": {}, "persons of 2 records": {"persons": 2}}
BLOCKS = {"2 blocks of 8": {"contexts": 16}, "1 block of 32": {"block": 32}}


def _headline(
    rng: np.random.Generator, persons: int, leak: float = 0.0, records: int = 40, contexts: int = 32, block: int = BLOCK
) -> Estimate:
    """AUC of the strongest score without a leak: records have levels and spreads of their own, and heavy tails.

    leak: mean effect, in deviations, of a record's own presence; then of the negative control, with exchanged
    memberships, judged beside the leak by the same redraws.
    """
    units = np.arange(records) // persons
    drawn = membership_matrices.balanced(contexts, records // persons, rng, block=block)
    member = membership_matrices.expand(drawn, units)
    noise = np.exp(rng.normal(0, 0.4, records)) * rng.standard_t(4, member.shape)
    effects = leak * rng.exponential(size=records) * member
    signals = rng.normal(0, 2, records) + noise + effects
    population = rng.normal(0, 2, 40) + rng.standard_t(4, (contexts, 40))
    attacks = on_confidence({name: name for name in NAMES}, signals, population, RMIA)
    panel = (Panel.of_units if persons > 1 else Panel.of_records)(attacks, member, units, Scheme("columns", block))
    panels = [panel, panel.exchanged(rng)] if leak else [panel]
    chosen = [choose(one, FPR) for one in panels]
    return judge_alike(panels, chosen, fprs=[FPR], rng=rng, replicates=60, permutations=19)[-1][0]


@case(
    "AUC of the strongest score, interval",
    "two-way bootstrap; chosen on other contexts (audit)",
    SCENARIOS | BLOCKS,
    most=150,
)
def strongest_interval(rng: np.random.Generator, persons: int = 1, contexts: int = 32, block: int = BLOCK) -> Outcomes:
    """`strongest_score.judge_strongest` of four scores of 40 records; without a leak the truth is .5."""
    found = _headline(rng, persons, contexts=contexts, block=block)
    return {"AUC": Interval(found.low, found.high, 0.5)}


@case(
    "AUC of the strongest score, test",
    "p-value by redrawn memberships, max-T over the scores, and `detected`, with the interval above the null (audit)",
    SCENARIOS | BLOCKS,
    most=1000,
    use="`detected` is the verdict; the p-value is of a randomisation test that is exact by its construction",
)
def strongest_test(rng: np.random.Generator, persons: int = 1, contexts: int = 32, block: int = BLOCK) -> Outcomes:
    """`strongest_score.judge_strongest` of four scores of 40 records, without a leak."""
    found = _headline(rng, persons, contexts=contexts, block=block)
    return {"p <= .05": Rejection(found.p_value <= LEVEL), "detected": Rejection(found.detected)}


@case(
    "negative control: memberships exchanged",
    "the strongest score, chosen anew, where each record or person has the membership of another one (audit)",
    SCENARIOS,
    most=1000,
    use="own membership has an effect of .8 deviations on average, that of companions none",
)
def exchanged_control(rng: np.random.Generator, persons: int = 1) -> Outcomes:
    """`strongest_score.judge_alike` of a leak and of `Panel.exchanged`: the latter, four scores, 32 contexts of 40."""
    found = _headline(rng, persons, leak=0.8)
    return {"p <= .05": Rejection(found.p_value <= LEVEL), "detected": Rejection(found.detected)}


@case(
    "precision in one context, predictive range",
    "the precision of one more context (audit); of 32 contexts the level is .94",
    {
        "null, 32 contexts": {"contexts": 32},
        "weak, 32 contexts": {"contexts": 32, "shift": 0.5},
        "strong, 32 contexts": {"contexts": 32, "shift": 2.0},
        "weak, 128 contexts": {"contexts": 128, "shift": 0.5},
    },
)
def one_context(rng: np.random.Generator, contexts: int, shift: float = 0.0) -> Outcomes:
    """`accusation_precision.Accusations.in_one_context`, 200 records; contexts differ in level by .3 deviations."""
    member = np.vstack([balanced(contexts, 200, rng), rng.permutation(200) < 100])
    scores = rng.standard_normal(member.shape) + 0.3 * rng.standard_normal((contexts + 1, 1)) + shift * member
    found = Accusations.at(scores, member, FPR, rng)
    right, wrong = (rates[-1] for rates in found.rates())
    known = Accusations(found.accused[:-1], member[:-1]).in_one_context(BASE_RATE)
    return {"precision": Interval(known.low, known.high, float(precision(right, wrong, BASE_RATE)))}


def _own_rates(rng: np.random.Generator, kind: str, records: int) -> tuple[np.ndarray, float]:
    """False positive rates of records with mean .01, and the share of their distribution above .02."""
    if kind == "two":
        return np.where(rng.random(records) < 0.1, 0.06, 0.004), 0.1
    if kind == "beta":
        return rng.beta(0.5, 49.5, records), 0.158
    return np.full(records, 0.01), 0.0


@case(
    "records that are accused too often",
    "share of records whose own false positive rate is above twice the nominal one (audit)",
    {
        f"{kind}, {contexts} contexts": {"kind": kind, "contexts": contexts}
        for kind in ("one rate", "two", "beta")
        for contexts in (32, 128)
    },
    most=1000,
)
def uneven_rates(rng: np.random.Generator, kind: str, contexts: int) -> Outcomes:
    """`accusation_precision.Accusations.above_twice_nominal` of 400 records, nominal rate .01."""
    member = balanced(contexts, 400, rng)
    rates, truth = _own_rates(rng, kind, 400)
    accused = (rng.random(member.shape) < rates) & ~member
    found = Accusations(accused, member).above_twice_nominal(0.01, rng, 60, np.arange(400))
    return {"share": Interval(found.low, found.high, truth)}
