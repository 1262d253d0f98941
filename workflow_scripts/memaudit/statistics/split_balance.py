"""Statistics of a split: differences in target and features between members and non-members, and records in both.

An attack that scores well on an unbalanced split has found the difference between members and non-members, not
membership.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from memaudit.common import tidy
from memaudit.common.arrays import Array, Array32, Mask
from memaudit.data.split_contents import Sample, SplitContents

PERMUTATIONS, FOLDS = 20, 3
SHARED = ("shared_ids", "shared_copies", "shared_groups")
UNITS = {"tvd": "fraction", "ks": "fraction", "ks_p": "probability", "wasserstein": "sd", "covariate_p": "probability"}
P_VALUES = ("ks_p", "covariate_p")


def balance_rows(contents: SplitContents, setting: Mapping[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    """All statistics of a split as tidy rows; rng draws folds and permutations.

    shared_*: see SplitContents. tvd: total variation distance of the classes. ks, ks_p, wasserstein: of a numeric
    target, the last in its standard deviations. covariate_*: see `two_sample_test`.
    """
    counts = np.sum if contents.classes else len
    facts = contents.shared | {"members": int(counts(contents.members)), "nonmembers": int(counts(contents.nonmembers))}
    facts |= compare_targets(contents.members, contents.nonmembers, contents.classes)
    n = facts["members"] + facts["nonmembers"]
    rows = [tidy.row("data", setting, name, value, unit=UNITS.get(name, "count"), n=n) for name, value in facts.items()]
    return rows + _covariate_rows(contents.sample, setting, rng)


def violations(rows: list[dict[str, Any]], limits: Mapping[str, float]) -> list[str]:
    """One text for each limit that a split breaks: anything shared, a statistic above its limit, a p-value below."""
    values = {row["metric"]: row["estimate"] for row in rows}
    above = dict.fromkeys(SHARED, 0.0) | {name: limits[name] for name in ("tvd", "ks", "wasserstein")}
    return [
        f"{name} {values[name]:.3g} exceeds the limit {limit:g}"
        for name, limit in above.items()
        if values.get(name, 0.0) > limit
    ] + [
        f"{name} {values[name]:.2g} is below the limit {limits['p_value']:g}"
        for name in P_VALUES
        if values.get(name, 1.0) < limits["p_value"]
    ]


def compare_targets(members: NDArray[Any], nonmembers: NDArray[Any], classes: bool) -> dict[str, float]:
    """Distance between the targets of members and non-members.

    Of classes, counted by class (class,): `tvd`, the total variation distance. Of numbers (record,): `ks` and its
    p-value `ks_p`, and `wasserstein` in standard deviations of all targets.
    """
    if classes:
        return {"tvd": float(np.abs(members / members.sum() - nonmembers / nonmembers.sum()).sum() / 2)}
    test = stats.ks_2samp(members, nonmembers)
    scale = np.concatenate([members, nonmembers]).std()
    return {
        "ks": float(test.statistic),
        "ks_p": float(test.pvalue),
        "wasserstein": float(stats.wasserstein_distance(members, nonmembers) / scale),
    }


def two_sample_test(sample: Sample, rng: np.random.Generator) -> tuple[float, Array, float]:
    """Classifier two-sample test (Lopez-Paz and Oquab 2017): cross-validated AUC of a small gradient-boosted model.

    Returns the AUC for members against non-members, the AUCs (permutation,) after shuffling membership among units, and
    the p-value: the AUC as one more normal draw beside those, by Student's t, since 20 permutations alone could not
    reach p = 0.001.
    """
    units = sample.unit.max() + 1
    fold = rng.permutation(np.arange(units) % FOLDS)[sample.unit]
    member = np.zeros(units, dtype=bool)
    member[sample.unit] = sample.member
    # These fits are tiny: more threads only wait for each other, and on a busy machine for long.
    with threadpool_limits(1):
        observed = _cross_validated_auc(sample.features, sample.member, fold)
        shuffled = (rng.permutation(member)[sample.unit] for _ in range(PERMUTATIONS))
        null = np.array([_cross_validated_auc(sample.features, labels, fold) for labels in shuffled])
    spread = max(null.std(ddof=1), 1e-12) * np.sqrt(1 + 1 / PERMUTATIONS)
    return observed, null, float(stats.t.sf((observed - null.mean()) / spread, PERMUTATIONS - 1))


def _cross_validated_auc(features: Array32, member: Mask, fold: NDArray[np.int64]) -> float:
    aucs = []
    for held_out in range(FOLDS):
        test, train = fold == held_out, fold != held_out
        if 0 < member[test].sum() < test.sum() and 0 < member[train].sum() < train.sum():
            model = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=4, max_bins=32, early_stopping=False)
            scores = model.fit(features[train], member[train]).decision_function(features[test])
            inside, outside = scores[member[test]], scores[~member[test]]
            u = stats.mannwhitneyu(inside, outside, method="asymptotic").statistic
            aucs.append(u / (len(inside) * len(outside)))
    return float(np.mean(aucs)) if aucs else 0.5


def _covariate_rows(sample: Sample, setting: Mapping[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    auc, null, p_value = two_sample_test(sample, rng)
    center, spread = null.mean(), 1.96 * null.std(ddof=1)
    n, folds, shuffles = len(sample.member), f"{FOLDS}-fold boosted trees", f"{PERMUTATIONS} permutations of the sides"
    interval = {"low": center - spread, "high": center + spread}
    return [
        tidy.row("data", setting, "covariate_auc", auc, null=center, n=n, method=folds),
        tidy.row("data", setting, "covariate_null", center, n=n, method=shuffles, **interval),
        tidy.row("data", setting, "covariate_p", p_value, unit=UNITS["covariate_p"], n=n, method=shuffles),
    ]
