"""Scores of candidate settings of every method on tuning tables, with the same effort for each method and epsilon.

Every method has `CANDIDATES` settings for each task that it has, the same tables, the same splits and as many repeats.
The best is the one with the largest mean score: the gain of balanced accuracy over chance, over its maximum, or one
minus the NRMSE (at least -1); a constant student has 0, or less. Ties are for the one that stands first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget
from memaudit.privacy.query_answering import answered
from memaudit.privacy.release_methods import CONTEXTS, released
from memaudit.privacy.teacher_shards import Predict
from memaudit.studies.tabpate import student_utility
from memaudit.studies.tabpate.evaluation_tables import Table

CANDIDATES = 6
ROLES = {"test": 0.25, "held_out": 0.3, "max_records": None}
WORST = -1.0


def _each(**values: Sequence[Any]) -> list[dict[str, Any]]:
    """Settings from columns of equal length."""
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


VOTES = _each(
    teachers=[25, 10, 10, 25, 25, 50],
    queries=[300] * CANDIDATES,
    threshold=[15.0, 5.0, 5.0, 12.0, 12.0, 25.0],
    sigma1=[12.0, 20.0, 30.0, 30.0, 40.0, 30.0],
    sigma2=[8.0, 10.0, 20.0, 20.0, 30.0, 20.0],
)
ALL_FIT: dict[str, Any] = {"threshold": None, "sigma1": None, "sigma2": None}
SUMS = [ALL_FIT | one for one in _each(teachers=[5, 10, 10, 25, 25, 50], queries=[30, 30, 100, 30, 100, 30])]
MOMENTS = _each(queries=[50, 100, 300, 50, 100, 300], narrowed=[True] * 3 + [False] * 3)
ANSWERS = _each(teachers=[3, 5, 10, 20, 40, 80])
PROTOTYPES = _each(prototypes=[10, 14, 20, 30, 50, 80])
STEPS = _each(
    steps=[50, 100, 100, 200, 100, 200],
    batch=[128, 256, 256, 256, 512, 512],
    clip=[1.0, 1.0, 0.3, 1.0, 1.0, 0.3],
    learning_rate=[0.02, 0.02, 0.05, 0.01, 0.05, 0.02],
)
DESCENT = _each(
    steps=[30, 100, 100, 100, 300, 300],
    clip=[1.0, 1.0, 0.3, 1.0, 1.0, 0.3],
    learning_rate=[1.0, 0.3, 1.0, 1.0, 0.3, 1.0],
)
FEW = _each(teachers=[5, 5, 10, 10, 10, 20], queries=[50, 100, 50, 100, 100, 100], alpha=[0.5, 0.7, 0.5, 0.3, 0.7, 0.5])
LEARNED = _each(queries=[300] * 3 + [1000] * 3, alpha=[0.3, 0.6, 0.8] * 2)
# The columns of the synthesizers are not varied: in the tuning tables, the first ones are those that matter.
MST = _each(
    bins=[4, 8, 8, 16, 16, 32],
    rows=[300, 300, 1000, 300, 1000, 1000],
    iterations=[100] * CANDIDATES,
)
AIM = _each(
    bins=[4, 4, 8, 8, 16, 16],
    rows=[300, 1000, 300, 1000, 300, 1000],
    rounds=[4, 2, 2, 4, 16, 2],
    iterations=[50] * CANDIDATES,
)
GRIDS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "as_published": {"classification": VOTES, "regression": SUMS},
    "published_moments": {"classification": VOTES, "regression": SUMS},
    "prompt_pate": {"classification": VOTES, "regression": SUMS},
    "few_teachers": dict.fromkeys(("classification", "regression"), FEW),
    "class_moments": dict.fromkeys(("classification", "regression"), MOMENTS),
    "query_time": dict.fromkeys(("classification", "regression"), ANSWERS),
    "dp_tabicl": dict.fromkeys(("classification", "regression"), PROTOTYPES),
    "dp_sgd": dict.fromkeys(("classification", "regression"), STEPS),
    "dp_linear": dict.fromkeys(("classification", "regression"), DESCENT),
    "learned_labels": {"classification": LEARNED},  # a number target has no classifier
    "mst": dict.fromkeys(("classification", "regression"), MST),
    "aim": dict.fromkeys(("classification", "regression"), AIM),
    "tuned_alpha": {"regression": SUMS},  # compared there alone; it chooses its alpha itself, and pays for the choice
}


def score(table: Table, entry: Mapping[str, Any], epsilon: float, delta: float, repeat: int, predict: Predict) -> float:
    """Score of one release, or of one set of answers, of a method on a tuning table.

    entry: method, held_out and settings, as in the config. Settings that the budget does not cover have `WORST`.
    """
    name, budget = table.public.dataset, Budget(epsilon, delta)
    role = table.roles(ROLES, 0, repeat)
    private, tested = table.private(role, ROLES, entry["held_out"]), table.tested(role)
    try:
        if entry["method"] in CONTEXTS:
            context = released(entry, private, budget, predict, seeds.generator(0, "tuning", name, repeat))
            found = table.student_answers((context.x, context.y), table.x[tested], predict)
        else:
            found = answered(entry, private, budget, table.x[tested], predict, seeds.integer(0, "tuning", name, repeat))
    except AuditError as error:
        print(f"{name}, {entry['method']}, epsilon {epsilon:g}, {entry['settings']}: {error}", flush=True)
        return WORST
    return gain(table, tested, found)


def gain(table: Table, tested: np.ndarray, found: np.ndarray) -> float:
    """Score of answers to the tested records: logits (record, class), or numbers (record,)."""
    predicted = found if table.classes is None else np.asarray(found).argmax(1)
    trial = student_utility.trial(
        table.public.task, table.y[tested], np.ones((1, len(tested)), dtype=bool),
        rng=np.random.default_rng(0), groups=np.arange(len(tested)), replicates=2,
    )  # fmt: skip
    scores = trial.scores(predicted[None], [0])
    value, chance = float(scores.observed[0, 0]), float(scores.chance[0, 0])
    return max(1 - value, WORST) if table.classes is None else (value - chance) / (1 - chance)


def best(scores: Sequence[Sequence[float]]) -> int:
    """Place of the candidate with the largest mean; scores: (candidate, table and repeat)."""
    return int(np.mean(scores, axis=1).argmax())
