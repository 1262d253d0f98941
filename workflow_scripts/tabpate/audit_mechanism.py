"""Audit the label mechanism as an attacker who knows all votes but one: a lower bound on its privacy loss.

python workflow_scripts/tabpate/audit_mechanism.py --output mechanism.parquet --params '{"runs": 5000}'

One query, two classes, 11 PATE teachers: the record decides the majority. The released label is then the likelihood
ratio test of membership, so that the bound is close to the stated value. With half the noise, unknown to the attacker,
it must exceed the stated value. The noise has no seed: bounds of two runs differ, and at most one in twenty with
correct noise exceeds the stated value.
"""

import numpy as np

from memaudit.common import tidy
from memaudit.common.io import write_table
from memaudit.privacy.accounting import Filter
from memaudit.privacy.discrete_noise import discrete_gaussian
from memaudit.privacy.gnmax import Confident, label
from memaudit.statistics.epsilon_bounds import epsilon_lower_bound, mu_lower_bound
from memaudit.statistics.intervals import TAIL, clopper_pearson
from memaudit.studies.tabpate.student_utility import STUDY
from memaudit.workflow.job import run

WITH, WITHOUT = np.array([6, 5]), np.array([5, 6])
SETTINGS = Confident(None, None, 5.2)
DELTA = 1e-5
NOISES = {"stated": discrete_gaussian, "halved": lambda center, sigma: discrete_gaussian(center, sigma / 2)}


def main(job):
    write_table(tidy.frame([row for name in NOISES for row in _audited(name, job.params.runs)]), job.output[0])


def _audited(name: str, runs: int) -> list[dict]:
    # Gaussian noise of a cost rho has mu = sqrt(2 rho).
    stated = np.sqrt(2 * SETTINGS.label_cost)
    hits = [_first_class(votes, runs, NOISES[name]) for votes in (WITH, WITHOUT)]
    bound = mu_lower_bound(hits[0], runs, hits[1], runs)
    keys, common = (
        {"noise": name},
        {"n": 2 * runs, "method": f"Clopper-Pearson, {TAIL:g} each, runs of their own noise"},
    )
    known = {"estimate": stated, "low": stated, "high": stated}
    rates = [clopper_pearson(hit, runs) for hit in hits]
    epsilon = epsilon_lower_bound(rates[0][0], rates[1][1], DELTA)
    at_delta = common | {"method": f"{common['method']}; delta {DELTA:g}"}
    return [
        tidy.row(STUDY, keys, "mu lower bound", bound, unit="mu", low=bound, high=np.inf, null=0.0, **common),
        tidy.row(
            STUDY, keys, "epsilon lower bound", epsilon, unit="nats", low=epsilon, high=np.inf, null=0.0, **at_delta
        ),
        tidy.row(STUDY, keys, "mu stated", **known, unit="mu", null=0.0, method="sqrt(2 rho) of one label"),
        tidy.row(STUDY, keys, "refuted", bound > stated, unit="yes or no", **common),
        *(
            tidy.row(STUDY, keys, metric, hit / runs, low=low, high=high, n=runs, method="Clopper-Pearson")
            for metric, hit, (low, high) in zip(("audited tpr", "audited fpr"), hits, rates, strict=True)
        ),
    ]


def _first_class(votes: np.ndarray, runs: int, noise) -> int:
    """Number of releases, of `runs`, whose label is the first class."""
    allowance = Filter(runs * SETTINGS.label_cost)
    return int((label(np.tile(votes, (runs, 1)), SETTINGS, allowance, noise).labels == 0).sum())


if __name__ == "__main__":
    run(main, globals())
