"""Repeated audits of one pool of answers, judged by the functions that the audit's scripts call.

Each audit takes whole blocks of a pool's contexts. Other contexts of the pool serve as the deployed one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from memaudit.common.arrays import Array, Mask
from memaudit.statistics import threat_models
from memaudit.statistics.accusation_precision import Accusations, precision, predictive_level
from memaudit.statistics.attack_performance import Estimate, judge
from memaudit.statistics.strongest_score import AUC, TPR, Panel, choose, composite, judge_strongest, shares
from memaudit.studies.audit import audit_attacks, strongest_attack
from memaudit.studies.calibration.answer_pools import BLOCK
from memaudit.studies.coverage.coverage_registry import Interval, Outcome, Rejection

# As an audit has them (auditing/running/stages.py); permutations and replicates are those of its quick stage.
FPR, BASE_RATE, CONTEXTS, FULL = 0.01, 0.1, 32, 128
STRICT = (FPR, strongest_attack.STRICTER * FPR)
THREATS, RMIA = ("labels", "probabilities"), {"gamma": 1.0, "offline_a": 0.3}
SETTINGS = {"fpr": [0.1, FPR], "replicates": 100, "permutations": 19}
DEPLOYED = 4  # contexts that are deployed in turn for each audit
QUICK_OF_FULL = 10  # quick audits whose contexts are among those of one complete audit
PERFECT = 0.999  # least AUC, and precision, of a model that leaks fully


class Predicted(NamedTuple):
    """A predictive range, what it should hold (context,), NaN where that is not defined, and its stated level."""

    low: float
    high: float
    truth: Array
    level: float

    def interval(self) -> Interval:
        """The range as an outcome of a simulation, NaN where there is nothing to hold."""
        low, high = (np.where(np.isnan(self.truth), np.nan, end) for end in (self.low, self.high))
        return Interval(low, high, self.truth)


Outcomes = dict[str, list[Outcome | Predicted]]


class Audit(NamedTuple):
    """One audit: its contexts (model,) of the pool, its scores, and the score chosen for most contexts by criterion."""

    models: Mask
    panel: Panel
    chosen: Mapping[str, list[str]]

    @classmethod
    def of(cls, pool: Panel, models: Mask) -> "Audit":
        """Choose the scores on these contexts alone."""
        panel = pool.of_contexts(models)
        return cls(models, panel, choose(panel, FPR))

    def most_chosen(self, criterion: str) -> str:
        """The score that is chosen for most contexts."""
        return next(iter(shares(self.chosen[criterion])))

    def auc(self, rng: np.random.Generator, replicates: int) -> Estimate:
        """AUC of the strongest score, with its interval."""
        scores = composite(self.panel, self.chosen[AUC])
        return judge(scores, self.panel.membership, fprs=SETTINGS["fpr"], rng=rng, replicates=replicates)[0]


def panel_of(pool: xr.Dataset) -> Panel:
    """All permitted scores of a pool's members."""
    return audit_attacks.panels(pool, THREATS, RMIA)["members"]


def one_deployment(pool: xr.Dataset, audits: int, contexts: int, rng: np.random.Generator) -> Outcomes:
    """Precision in one more context, by false positive rate: the predictive range, and what other contexts have.

    contexts: of each audit. Contexts without an accusation have no precision, so they are not counted.
    """
    panel, found = panel_of(pool), defaultdict(list)
    for _ in range(audits):
        audit = Audit.of(panel, _blocks(np.ones(pool.sizes["model"], bool), contexts, rng))
        others = rng.choice(np.flatnonzero(~audit.models), DEPLOYED, replace=False)
        known = strongest_attack.accusations(audit.panel, audit.chosen, STRICT, rng)
        truths = [_deployed(panel, audit, int(other), rng) for other in others]
        for fpr, accused in known.items():
            value = accused.in_one_context(BASE_RATE)
            truth = np.array([one[fpr] for one in truths])
            of_fpr = found[f"precision at {fpr:.1%} false positives"]
            of_fpr.append(Predicted(value.low, value.high, truth, predictive_level(value.n)))
    return dict(found)


def _blocks(models: Mask, contexts: int, rng: np.random.Generator) -> Mask:
    """Random whole blocks of so many contexts among `models` (model,)."""
    blocks = np.flatnonzero(models.reshape(-1, BLOCK).all(1))
    return np.repeat(np.isin(np.arange(len(models) // BLOCK), rng.choice(blocks, contexts // BLOCK, False)), BLOCK)


def _deployed(pool: Panel, audit: Audit, other: int, rng: np.random.Generator) -> dict[float, float]:
    """Precision in one more context by false positive rate: accused by the audit's score and thresholds."""
    models = audit.models.copy()
    models[other] = True
    place = int(models[:other].sum())
    panel = pool.of_contexts(models)
    scores = panel.scores(audit.most_chosen(TPR))
    found = {}
    for fpr in STRICT:
        rates = Accusations.at(scores, panel.membership, fpr, rng).rates()
        found[fpr] = float(precision(rates[0][place], rates[1][place], BASE_RATE))
    return found


def quick_and_full(pool: xr.Dataset, audits: int, rng: np.random.Generator) -> Outcomes:
    """AUC of the quick stage with its interval, and the estimate of a complete audit that has its contexts, too."""
    panel, found = panel_of(pool), []
    for _ in range(audits // QUICK_OF_FULL):
        models = _blocks(np.ones(pool.sizes["model"], bool), FULL, rng)
        truth = Audit.of(panel, models).auc(rng, 2).estimate
        for _ in range(QUICK_OF_FULL):
            quick = Audit.of(panel, _blocks(models, CONTEXTS, rng)).auc(rng, SETTINGS["replicates"])
            found.append(Interval(quick.low, quick.high, truth))
    return {"AUC": found}


def controls(pool: xr.Dataset, audits: int, rng: np.random.Generator) -> Outcomes:
    """Whether an audit detects its negative controls, by kind: records in no context, and memberships exchanged."""
    panel, found = panel_of(pool), defaultdict(list)
    for _ in range(audits):
        audit = Audit.of(panel, _blocks(np.ones(pool.sizes["model"], bool), CONTEXTS, rng))
        name, grid = audit.most_chosen(AUC), pool.isel(model=audit.models)
        others = grid.isel(record=~grid.member.values)

        def attack_on(queried: xr.Dataset, name: str = name, others: xr.Dataset = others):
            return audit_attacks.candidates(queried, others, THREATS, RMIA)[name]

        case = threat_models.placebo({"dataset": "pool"}, grid, rng, name, attack_on)
        options = {"fprs": SETTINGS["fpr"], "rng": rng, "replicates": SETTINGS["replicates"]}
        exchanged = strongest_attack.exchanged_control(audit.panel, FPR, **options)
        found["placebo"].append(Rejection(threat_models.estimates(case, SETTINGS, rng)[0].detected))
        found["companions"].append(Rejection(exchanged[0].detected))
    return dict(found)


def verdicts(pool: xr.Dataset, audits: int, rng: np.random.Generator) -> Iterator[list[Estimate]]:
    """AUC and TPRs of the strongest score with their tests, for each audit."""
    panel = panel_of(pool)
    for _ in range(audits):
        audit = Audit.of(panel, _blocks(np.ones(pool.sizes["model"], bool), CONTEXTS, rng))
        options = {key: SETTINGS[key] for key in ("replicates", "permutations")}
        yield judge_strongest(audit.panel, audit.chosen, fprs=SETTINGS["fpr"], rng=rng, **options)


def leak_found(pool: xr.Dataset, audits: int, rng: np.random.Generator) -> Outcomes:
    """Whether audits of a model that cannot leak detect a leak, by AUC or by TPR."""
    found = [any(one.detected for one in estimates) for estimates in verdicts(pool, audits, rng)]
    return {"a leak is detected": [Rejection(one) for one in found]}


def leaks_fully(pool: xr.Dataset, audits: int, rng: np.random.Generator) -> Outcomes:
    """Whether audits miss that a model leaks fully: a leak, an AUC of 1 and only members among the accused."""
    missed = []
    for estimates in verdicts(pool, audits, rng):
        auc, strict = estimates[0], estimates[-1]
        right = precision(strict.estimate, FPR, BASE_RATE) >= precision(PERFECT, FPR, BASE_RATE)
        missed.append(not (auc.detected and strict.detected and auc.estimate >= PERFECT and right))
    return {"a full leak is missed": [Rejection(one) for one in missed]}
