"""Simulate Theorem 1 without a model: the mean PSMI of outliers is 0, that of the other records positive.

python workflow_scripts/predict/simulate_theorem.py --output theorem.parquet \
    --params '{"seed": 1, "theorem": {"rates": [0.05], "separations": [0, 2, 4], "records": 1000, "dimensions": 16,
        "directions": 200, "repeats": 10}}'

Eq. 4 and 5: two classes with Gaussian hidden states whose centres lie `separation` deviations apart. An outlier's
hidden state has the marginal distribution, its label is drawn independently. PSMI is computed with three densities.
`given`: the true density given whether the record is an outlier, as in the theorem's proof; PSMI of outliers is then
exactly 0. `joint`: the true density where that is unknown; the mean of outliers is then minus a divergence, at most 0.
`estimated`: Gaussians fitted to the classes, outliers included, as in practice. A record is part of its own fit, which
raises its estimate by about 1 / records.
"""

from itertools import product

import numpy as np
from scipy.special import logsumexp

from memaudit.attacks import psmi
from memaudit.common import seeds, tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.common.progress_bar import steps
from memaudit.statistics.bootstrap import t_interval
from memaudit.workflow.job import run

GROUPS = ("psmi_outliers", "psmi_rest")
METHOD = "Student's t over repeats"
DIGITS = 12  # of nats; the difference of equal densities is rounding


def main(job):
    setting, rows = job.params.theorem, []
    for rate, separation in steps(list(product(setting["rates"], setting["separations"])), "outlier rates"):
        repeats = []
        for repeat in range(setting["repeats"]):
            rng = seeds.generator(job.params.seed, "predict", "theorem", str(rate), str(separation), repeat)
            repeats.append(simulate(rate, separation, setting, rng))
        keys = {"simulation": "theorem 1", "rate": rate, "separation": separation}
        for density in repeats[0]:
            rows += summary([means[density] for means in repeats], keys | {"density": density}, setting)
    write_table(tidy.frame(rows), job.output[0])
    return {"seed": job.params.seed}


def simulate(rate: float, separation: float, setting: dict, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Mean PSMI of outliers and of the others, (2,), by density."""
    records, dimensions = setting["records"], setting["dimensions"]
    centre, label = rng.integers(0, 2, (2, records))
    outlier = rng.permutation(records) < round(rate * records)
    if outlier.all() or not outlier.any():
        raise AuditError(f"theorem: rate {rate:g} of {records} records leaves one group empty; request more of both")
    label = np.where(outlier, label, centre)
    states = rng.standard_normal((records, dimensions))
    states[:, 0] += separation * (centre - 0.5)
    thetas = psmi.draw(rng, setting["directions"], dimensions)
    values = {
        "given": np.where(outlier, *(true_psmi(states, label, thetas, separation, rate) for rate in (1.0, 0.0))),
        "joint": true_psmi(states, label, thetas, separation, outlier.mean()),
        "estimated": psmi.fit(states, label, thetas).transform(states, label).psmi,
    }
    return {density: np.array([psmis[outlier].mean(), psmis[~outlier].mean()]) for density, psmis in values.items()}


def true_psmi(states: np.ndarray, label: np.ndarray, thetas: np.ndarray, separation: float, rate: float) -> np.ndarray:
    """PSMI (record,) under the true density, with outliers at `rate`: p(x, y) = (1 - rate) N_y / 2 + rate p(x) / 2."""
    projections = states @ thetas.T
    # Factors common to all classes cancel: 1 / sqrt(2 pi), and the priors of 1/2.
    classes = [-0.5 * (projections - separation * (code - 0.5) * thetas[:, 0]) ** 2 for code in (0, 1)]
    either = logsumexp(classes, axis=0) - np.log(2)
    own = np.where(label[:, None] == 1, classes[1], classes[0])
    with np.errstate(divide="ignore"):
        of_label = np.logaddexp(np.log1p(-rate) + own, np.log(rate) + either)
    return (of_label - either).mean(1).round(DIGITS)


def summary(means: list[np.ndarray], keys: dict, setting: dict) -> list[dict]:
    """Tidy rows of the mean PSMI of both groups, with t intervals over repeats."""
    rows = []
    for metric, values in zip(GROUPS, np.array(means).T, strict=True):
        low, high = t_interval(values)
        size = {"n": len(values), "method": f"{METHOD} of {setting['records']} records"}
        rows.append(tidy.row("predict", keys, metric, values.mean(), unit="nats", low=low, high=high, null=0.0, **size))
    return rows


if __name__ == "__main__":
    run(main, globals())
