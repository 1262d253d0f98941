"""Coverage of intervals of shares, and the share of lower bounds on epsilon and mu that exceed the truth."""

import numpy as np
from scipy.special import expit

from memaudit.common.arrays import Array, Mask
from memaudit.privacy.accounting import gaussian_sigma
from memaudit.statistics import epsilon_bounds, intervals, one_run_bounds
from memaudit.studies.coverage.coverage_registry import Bound, Interval, Outcome, case

DELTA = 1e-5
Outcomes = dict[str, Outcome]
SHARES = {
    f"share {share:g} of {count}": {"share": share, "count": count}
    for count in (5, 20, 200)
    for share in (0.01, 0.1, 0.5)
} | {"any share of 20": {"share": None, "count": 20}}


@case(
    "Clopper-Pearson",
    "shares of splits, contexts or records (iclmem, attacks, predict), rates of audited tests (lira, tabpate)",
    SHARES,
    use="conservative by construction: never below 95 %",
)
def clopper_pearson(rng: np.random.Generator, share: float | None, count: int) -> Outcomes:
    """`intervals.clopper_pearson`; share None: uniform in [0, 1]."""
    truth = rng.random() if share is None else share
    return {"share": Interval(*intervals.clopper_pearson(int(rng.binomial(count, truth)), count), truth)}


def randomized_response(
    epsilon: float, models: int, records: int, rng: np.random.Generator, shared: bool = False
) -> tuple[Array, Mask]:
    """Signals and Bernoulli membership (model, record); every test on it is tight, TPR = e^epsilon FPR.

    shared: the records of a model have one noise.
    """
    member = rng.random((models, records)) < 0.5
    truthful = rng.random((models, 1 if shared else records)) < expit(epsilon)
    return np.where(truthful, member, ~member).astype(float), member


@case(
    "epsilon and mu from many models",
    "two-way bootstrap with thresholds from held-out models, Clopper-Pearson for the best record (lira)",
    {
        "randomized response, epsilon 1": {"epsilon": 1.0, "mechanism": "response"},
        "Gaussian, epsilon 1": {"epsilon": 1.0, "mechanism": "gaussian"},
        "Gaussian, epsilon 4": {"epsilon": 4.0, "mechanism": "gaussian"},
        "few contexts": {"epsilon": 1.0, "mechanism": "response", "models": 24},
        "one noise of each model, epsilon 4": {"epsilon": 4.0, "mechanism": "shared response", "models": 64},
    },
    most=400,
    use="bounds on mu hold for Gaussian DP; randomized response has none",
)
def from_many_models(rng: np.random.Generator, epsilon: float, mechanism: str, models: int = 256) -> Outcomes:
    """`epsilon_bounds.audit_pooled` and `audit_best_record` at FPR .3 (response) or .1."""
    gaussian = mechanism == "gaussian"
    if gaussian:
        signals, member = epsilon_bounds.gaussian_toy(epsilon, DELTA, models, rng, np.linspace(0, 1, 20))
    else:
        signals, member = randomized_response(epsilon, models, 20, rng, shared=mechanism.startswith("shared"))
    fpr, delta = (0.1, DELTA) if gaussian else (0.3, 0.0)
    points = {
        "pooled": epsilon_bounds.audit_pooled("one", signals, member, fpr, delta, rng),
        "best record": epsilon_bounds.audit_best_record(signals, member, fpr, delta, rng),
    }
    found: Outcomes = {f"epsilon, {name}": Bound(point.epsilon, epsilon) for name, point in points.items()}
    if gaussian:
        mu = 1 / gaussian_sigma(epsilon, DELTA)
        found |= {f"mu, {name}": Bound(point.mu, mu) for name, point in points.items()}
    return found


@case(
    "mu of a mechanism that is run many times",
    "Clopper-Pearson of TPR and FPR (tabpate)",
    {f"mu {mu:g}, {runs} runs": {"mu": mu, "runs": runs} for mu in (0.0, 0.5, 2.0) for runs in (50, 1000)},
)
def mu_of_runs(rng: np.random.Generator, mu: float, runs: int) -> Outcomes:
    """`epsilon_bounds.mu_lower_bound` for a Gaussian tested halfway."""
    hits = [int((rng.standard_normal(runs) + mean > mu / 2).sum()) for mean in (mu, 0.0)]
    return {"mu": Bound(epsilon_bounds.mu_lower_bound(hits[0], runs, hits[1], runs), mu)}


@case(
    "epsilon and mu from one run",
    "guesses about the records of one context (lira)",
    {
        "randomized response, epsilon 1": {"canaries": 500, "epsilon": 1.0},
        "randomized response, epsilon 3": {"canaries": 500, "epsilon": 3.0},
        "few records": {"canaries": 40, "epsilon": 3.0},
        "Gaussian, mu 1": {"canaries": 500, "mu": 1.0},
        "Gaussian, mu 2": {"canaries": 500, "mu": 2.0},
        "null": {"canaries": 500, "mu": 0.0},
        "null, tied scores of sorted records": {"canaries": 500, "mu": 0.0, "tied": True},
    },
    most=500,
    use="holds for memberships that are independent coins; where a canary's signal is its own, other tests are tighter",
)
def from_one_run(
    rng: np.random.Generator, canaries: int, epsilon: float | None = None, mu: float | None = None, tied: bool = False
) -> Outcomes:
    """`one_run_bounds.audit_one_run`; tied: scores 0 or 1, and members after the non-members."""
    if epsilon is not None:
        signals, member = randomized_response(epsilon, 1, canaries, rng)
        return {"epsilon": Bound(one_run_bounds.audit_one_run(signals[0], member[0], 0.0).epsilon, epsilon)}
    member = rng.random(canaries) < 0.5
    scores = rng.standard_normal(canaries) + mu * member
    if tied:
        member, scores = np.sort(member), (scores > 1).astype(float)
    found = one_run_bounds.audit_one_run(scores, member, DELTA)
    return {"mu": Bound(found.mu, mu)}
