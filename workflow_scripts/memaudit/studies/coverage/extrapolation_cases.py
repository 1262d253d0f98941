"""What an audit extrapolates: the leakage with many shadow contexts, and in a larger context."""

from functools import lru_cache

import numpy as np

from memaudit.attacks.registry import on_confidence
from memaudit.common.arrays import Array, Mask
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import roc
from memaudit.statistics.context_size import extrapolated, measured
from memaudit.statistics.leakage_growth import growth
from memaudit.statistics.strongest_score import Panel
from memaudit.statistics.threat_models import Case
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, case

RMIA = {"gamma": 1.0, "offline_a": 0.3}
BLOCK, RECORDS, MANY = 8, 80, 2048
SIZES, DEPLOYED, SETS = (50, 100, 200), 800, 32
KINDS = {
    "leaks alike": {"shift": 0.6, "scatter": 0.3},
    "leaks differ": {"shift": 0.3, "scatter": 1.0},
    "strong": {"shift": 2.0, "scatter": 0.5},
}
Outcomes = dict[str, Outcome]


def _signals(
    rng: np.random.Generator, contexts: int, records: int, shift: float, scatter: float
) -> tuple[Array, Mask, Array]:
    """Signals and membership (context, record) and signals (context, z) of a population; t noise of 6 degrees."""
    member = membership_matrices.balanced(contexts, records, rng, block=BLOCK)
    leaks = (shift + scatter * rng.normal(size=records)) * member
    noise = np.exp(rng.normal(0, 0.4, records)) * (rng.standard_t(6, member.shape) + leaks)
    return rng.normal(0, 2, records) + noise, member, rng.normal(0, 2, 40) + rng.standard_t(6, (contexts, 40))


def _panel(rng: np.random.Generator, name: str, contexts: int, records: int, **kind: float) -> Panel:
    signals, member, population = _signals(rng, contexts, records, **kind)
    attacks = on_confidence({name: name}, signals, population, RMIA)
    return Panel.of_records(attacks, member, np.arange(records), Scheme("columns", BLOCK))


@lru_cache
def _auc(name: str, contexts: int, records: int, draws: int, shift: float, scatter: float) -> float:
    """Mean AUC of the attack with so many contexts, over draws."""
    rng, found = np.random.default_rng(20), []
    for _ in range(draws):
        panel = _panel(rng, name, contexts, records, shift=shift, scatter=scatter)
        found.append(roc.auc(panel.scores(name), panel.membership))
    return float(np.mean(found))


@case(
    "AUC with many contexts",
    "extrapolated on the probit scale from fewer contexts (audit)",
    {
        f"{kind}, {name}, {contexts} contexts": {"name": name, "contexts": contexts, **options}
        for kind, options in KINDS.items()
        for name, contexts in (("lira", 64), ("lira", 128), ("lira shared variance", 128))
    },
    most=150,
    use="refused where the curve has no bound within the bootstrap, or no leak is detected",
)
def many_contexts(rng: np.random.Generator, name: str, contexts: int, shift: float, scatter: float) -> Outcomes:
    """`leakage_growth.growth` of 80 records; the truth is the AUC with 2048 contexts."""
    panel = _panel(rng, name, contexts, RECORDS, shift=shift, scatter=scatter)
    limit = growth(panel, name, rng, 60, True).limit
    ends = (limit.low, limit.high) if limit else (np.nan, np.nan)
    return {"AUC": Interval(*ends, _auc(name, MANY, 400, 2, shift, scatter))}


@case(
    "AUC in a larger context",
    "extrapolated from contexts of 50, 100 and 200 records to 800 (audit)",
    {
        f"{kind}, falls as n^-{power:g}": {"power": power, **options}
        for kind, options in KINDS.items()
        for power in (0.25, 0.5)
    },
    most=150,
    use="refused where a size has no leak or the sizes disagree",
)
def larger_context(rng: np.random.Generator, power: float, shift: float, scatter: float) -> Outcomes:
    """`context_size.extrapolated` of LiRA with 32 contexts at each size; leaks fall as a power of the size."""
    at = []
    for size in SIZES:
        factor = (SIZES[0] / size) ** power
        panel = _panel(rng, "lira", SETS, size, shift=factor * shift, scatter=factor * scatter)
        one = Case({}, panel.attacks["lira"], panel.membership, panel.groups, scheme=panel.scheme)
        at.append(measured(size, one, rng, 60))
    found, _ = extrapolated(at, DEPLOYED)
    ends = (found.low, found.high) if found else (np.nan, np.nan)
    factor = (SIZES[0] / DEPLOYED) ** power
    return {"AUC": Interval(*ends, _auc("lira", SETS, DEPLOYED, 20, factor * shift, factor * scatter))}
