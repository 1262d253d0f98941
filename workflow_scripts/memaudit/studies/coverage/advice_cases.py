"""What an audit says to its owner: records whose presence shows, the worst subpopulation, advised mitigations."""

from functools import lru_cache
from types import SimpleNamespace

import numpy as np
from scipy.special import ndtr

from memaudit.common.arrays import Array, Codes, Mask
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.mitigation_verdicts import CHEAP, STRONGEST, verdicts
from memaudit.statistics.model_utility import ACCURACIES
from memaudit.statistics.record_vulnerability import vulnerability_scores
from memaudit.statistics.strongest_score import AUC, TPR
from memaudit.statistics.subpopulation_search import Subpopulation, worst_subpopulation
from memaudit.studies.audit.mitigated_answers import Mitigated, gains
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, Rejection, case
from memaudit.studies.coverage.simulated_scores import balanced

FPR = 0.1
COLUMNS, LEVELS = 8, 4
BASE = 0.4  # mean shift of all records
Outcomes = dict[str, Outcome]


def _score_intervals(
    rng: np.random.Generator,
    member: Mask,
    own: Array | float = 0.0,
    freedom: int = 0,
    labels: bool = False,
    uneven: bool = False,
) -> tuple[Array, Array]:
    """Ends (record,) of the intervals of the vulnerability scores of records whose presence adds `own` to their signal.

    freedom: of the noise's Student's t, 0: normal; labels: whether only the sign of a signal is read; uneven: whether
    the records' noise differs in its deviation.
    """
    contexts, records = member.shape
    noise = rng.standard_t(freedom, member.shape) if freedom else rng.standard_normal(member.shape)
    spread = np.exp(0.5 * rng.standard_normal(records)) if uneven else 1.0
    levels = rng.standard_normal(records) + 0.3 * rng.standard_normal((contexts, 1))
    signals = levels + spread * noise + own * member
    low, high = vulnerability_scores((signals > 0).astype(float) if labels else signals, member, rng)[:, 1:].T
    return low, high


@case(
    "records whose presence shows",
    "records whose interval of the vulnerability score excludes 0 (audit): share without such an effect",
    {
        "5 % leak": {},
        "5 % leak, heavy tails": {"freedom": 3},
        "5 % leak, labels": {"labels": True},
        "all leak unequally": {"share": 1.0, "shift": 1.0, "shift_sd": 0.7},
        "10 % have lower signals": {"share": 0.1, "shift": -3.0},
    },
    most=300,
)
def presence_shown(
    rng: np.random.Generator,
    share: float = 0.05,
    shift: float = 3.0,
    shift_sd: float = 0.0,
    freedom: int = 0,
    labels: bool = False,
) -> Outcomes:
    """`record_vulnerability.vulnerability_scores` of 100 records in 32 contexts; false: no effect, or of other sign."""
    member = balanced(32, 100, rng)
    leaking = rng.permutation(100) < share * 100
    own = np.where(leaking, shift + shift_sd * rng.standard_normal(100), 0.0)
    low, high = _score_intervals(rng, member, own, freedom, labels)
    shown = (low > 0) | (high < 0)
    false = shown & (np.sign(own) != np.where(low > 0, 1, -1))
    return {"records": Rejection(int(false.sum()), int(shown.sum()))}


@case(
    "no record shows without a leak",
    "any record whose interval of the vulnerability score excludes 0 (audit)",
    {"normal": {}, "heavy tails": {"freedom": 3}, "labels": {"labels": True}, "40 records": {"records": 40}},
    most=400,
)
def presence_of_none(rng: np.random.Generator, records: int = 200, freedom: int = 0, labels: bool = False) -> Outcomes:
    """`record_vulnerability.vulnerability_scores` in 32 contexts; heavy tails: spreads of the records differ, too."""
    member = balanced(32, records, rng)
    low, high = _score_intervals(rng, member, freedom=freedom, labels=labels, uneven=bool(freedom))
    return {"any record": Rejection(bool(((low > 0) | (high < 0)).any()))}


def _shifts(values: Codes, planted: float, shift_sd: float, rng: np.random.Generator) -> Array:
    """Shift of each record, larger by `planted` where column 0 is 1 and column 1 is 2; values: (record, column)."""
    inside = (values[:, 0] == 1) & (values[:, 1] == 2)
    return BASE + shift_sd * rng.standard_normal(len(values)) + planted * inside


@lru_cache
def _population(planted: float, shift_sd: float) -> tuple[Codes, Array]:
    """Columns (record, column) of 200,000 records, and half of the share of OUT entries below their IN entries."""
    rng = np.random.default_rng(20)
    values = rng.integers(0, LEVELS, (200_000, COLUMNS), dtype=np.int8)
    return values, ndtr(_shifts(values, planted, shift_sd, rng) / np.sqrt(2)) / 2


def _true_excess(found: Subpopulation, planted: float, shift_sd: float) -> float:
    """Mean share of pairs in order of the records of a subpopulation less that of all others, of 200,000 records.

    An IN entry of shift s is above an OUT entry with probability Phi(s / sqrt 2); the OUT entries do not differ.
    """
    values, shares = _population(planted, shift_sd)
    inside = np.all([values[:, column] == level for column, level in found.names], axis=0)
    return float(shares[inside].mean() - shares[~inside].mean())


def _found(
    rng: np.random.Generator, records: int, planted: float, rows: int, shift_sd: float = 0.7
) -> tuple[Subpopulation, float]:
    """The worst intersection of 8 columns of 4 categories in 32 contexts, and its true excess."""
    units = np.arange(records) // rows
    values = rng.integers(0, LEVELS, (records // rows, COLUMNS))
    shifts = _shifts(values, planted, shift_sd, rng)[units]
    member, values = balanced(32, records // rows, rng)[:, units], values[units]
    scores = rng.standard_normal(member.shape) + shifts * member
    masks = {(column, level): values[:, column] == level for column in range(COLUMNS) for level in range(LEVELS)}
    found = worst_subpopulation(scores, member, masks, units, rng=rng, replicates=100, permutations=99)
    return found, _true_excess(found, planted, shift_sd)


@case(
    "worst subpopulation, confirmed although none leaks more",
    "found on half of the privacy units, tested on the others (audit)",
    {"400 records": {}, "800 records": {"records": 800}, "persons of 2 records": {"rows": 2}},
    most=1000,
)
def subpopulation_confirmed(rng: np.random.Generator, records: int = 400, rows: int = 1) -> Outcomes:
    """`subpopulation_search.worst_subpopulation` of records that leak differently, whatever their columns."""
    found, _ = _found(rng, records, 0.0, rows)
    return {"confirmed": Rejection(found.excess.detected)}


@case(
    "excess of the worst subpopulation",
    "found on half of the privacy units, two-way bootstrap on the others (audit)",
    {
        "none": {},
        "planted, 400 records": {"planted": 1.5},
        "planted, 800 records": {"planted": 1.5, "records": 800},
        "planted, persons of 2 records": {"planted": 1.5, "records": 800, "rows": 2},
    },
    most=400,
)
def subpopulation_excess(rng: np.random.Generator, records: int = 400, planted: float = 0.0, rows: int = 1) -> Outcomes:
    """`subpopulation_search.worst_subpopulation`; truth: of the subpopulation that was found, planted or not."""
    found, truth = _found(rng, records, planted, rows)
    return {"excess": Interval(found.excess.low, found.excess.high, truth)}


@case(
    "mitigations advised",
    "any of five mitigations that do not lower the leak, or that cost too much (audit); Holm",
    {"without an effect": {}, "effect, but 2 points of accuracy": {"effect": 1.0, "cost": -CHEAP}},
    most=400,
)
def mitigations_advised(rng: np.random.Generator, effect: float = 0.0, cost: float = 0.0) -> Outcomes:
    """`mitigation_verdicts.verdicts` of `mitigated_answers.gains`: 32 contexts of 40 records, accuracy on 60 others."""
    member, labels = balanced(32, 40, rng), np.arange(60) % 2
    usual = _answers(member, 1.0, rng)
    chance = rng.uniform(0.6, 1.0, 60)
    correct = rng.random((32, 60)) < chance
    options = {"rng": rng, "replicates": 60}
    found = []
    for number in range(5):
        changes = gains(_answers(member, 1.0 - effect, rng), usual, [FPR], **options)
        right = rng.random((32, 60)) < chance - cost
        accuracy = ACCURACIES.differences(right, correct, labels, **options)[1]
        found.append(_mitigation(f"bags {number}", changes, accuracy))
    return {"any advised": Rejection(any(one.advised for one in verdicts(found, strict_leak=False)))}


def _answers(member: Mask, shift: float, rng: np.random.Generator) -> Mitigated:
    """Scores of one mitigation, whose members are `shift` deviations higher."""
    scores = rng.standard_normal(member.shape) + shift * member
    records = np.arange(member.shape[1])
    return Mitigated(records, {AUC: scores, TPR: scores}, member, records, {AUC: ["lira"], TPR: ["lira"]})


def _mitigation(name: str, changes: list[Estimate], accuracy: Estimate) -> SimpleNamespace:
    """Changes by a mitigation, as an audit's summary has them."""
    auc, tpr = changes
    found = {"auc_difference": auc, "tpr_difference": tpr, "cost": accuracy, "measure": "balanced accuracy"}
    return SimpleNamespace(name=name, attack=STRONGEST, reason="", **found)
