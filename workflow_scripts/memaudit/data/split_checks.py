"""Is a split fair: the same targets and features on both sides, and nothing on both sides?

An attack that scores well on an unfair split has found the difference between the sides, not membership.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from memaudit import tidy
from memaudit.data.duckdb_engine import connect, identifier, literal
from memaudit.data.member_splits import MEMBERS
from memaudit.data.membership_matrices import unit_codes
from memaudit.data.record_encoding import encode
from memaudit.io import read_table

ROWS, PERMUTATIONS, FOLDS = 2000, 20, 3
SHARED = ("shared_ids", "shared_copies", "shared_groups")
UNITS = {"tvd": "fraction", "ks": "fraction", "ks_p": "probability", "wasserstein": "sd", "covariate_p": "probability"}
P_VALUES = ("ks_p", "covariate_p")


def check_split(
    records: str | Path,
    split: str | Path,
    schema: Mapping[str, Any],
    setting: Mapping[str, Any],
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """All statistics of a split as tidy rows. records, split: Parquet tables (id, ...) and (id, side).

    shared_*: ids, feature rows and groups that stand on both sides. tvd: total variation distance of the classes. ks,
    ks_p, wasserstein: of a numeric target, the last in its standard deviations. covariate_*: see two_sample.
    """
    with connect(Path(split).parent) as connection:
        connection.execute(f"CREATE VIEW split AS SELECT * FROM read_parquet({literal(split)})")
        connection.execute(f"CREATE VIEW sided AS SELECT * FROM read_parquet({literal(records)}) JOIN split USING (id)")
        facts = _shared(connection, schema)
        if schema["task"] == "classification":
            facts |= compare_classes(*_class_counts(connection))
        else:
            facts |= compare_numbers(*(_targets(connection, side) for side in ("=", "<>")))
        sample = _sample(connection, read_table(split, columns=["id"])["id"], rng)
    n = facts["members"] + facts["nonmembers"]
    rows = [tidy.row("data", setting, name, value, unit=UNITS.get(name, "count"), n=n) for name, value in facts.items()]
    return rows + _covariates(sample, schema, setting, rng)


def violations(rows: list[dict[str, Any]], limits: Mapping[str, float]) -> list[str]:
    """What a split may not show, one text each: anything shared, a statistic above its limit, a p-value below."""
    found = {row["metric"]: row["estimate"] for row in rows}
    above = dict.fromkeys(SHARED, 0.0) | {name: limits[name] for name in ("tvd", "ks", "wasserstein")}
    return [
        f"{name} {found[name]:.3g} exceeds the limit {limit:g}"
        for name, limit in above.items()
        if found.get(name, 0.0) > limit
    ] + [
        f"{name} {found[name]:.2g} is below the limit {limits['p_value']:g}"
        for name in P_VALUES
        if found.get(name, 1.0) < limits["p_value"]
    ]


def two_sample(
    features: NDArray[np.float32], member: NDArray[np.bool_], unit: NDArray[np.int64], rng: np.random.Generator
) -> tuple[float, NDArray[np.float64], float]:
    """Classifier two-sample test (Lopez-Paz and Oquab 2017): can a small gradient-boosted model tell the sides apart?

    features (record, column), member and unit (record,). Returns the cross-validated AUC, the AUCs (permutation,) after
    shuffling the units' sides, and the p-value: the AUC as one more normal draw beside those, by Student's t, since 20
    permutations alone could not reach p = 0.001.
    """
    units = unit.max() + 1
    fold = rng.permutation(np.arange(units) % FOLDS)[unit]
    side = np.zeros(units, dtype=bool)
    side[unit] = member
    # These fits are tiny: more threads only wait for each other, and on a busy machine for long.
    with threadpool_limits(1):
        observed = _cross_validated_auc(features, member, fold)
        shuffled = (rng.permutation(side)[unit] for _ in range(PERMUTATIONS))
        null = np.array([_cross_validated_auc(features, labels, fold) for labels in shuffled])
    spread = max(null.std(ddof=1), 1e-12) * np.sqrt(1 + 1 / PERMUTATIONS)
    return observed, null, float(stats.t.sf((observed - null.mean()) / spread, PERMUTATIONS - 1))


def _cross_validated_auc(features: NDArray[np.float32], member: NDArray[np.bool_], fold: NDArray[np.int64]) -> float:
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


def _covariates(
    sample: pd.DataFrame, schema: Mapping[str, Any], setting: Mapping[str, Any], rng: np.random.Generator
) -> list[dict[str, Any]]:
    # Free text enters by its length: enough to see that one side has the long ones.
    texts = [column["name"] for column in schema["columns"] if column["type"] == "text"]
    sample = sample.assign(**{name: sample[name].str.len() for name in texts})
    columns = [{**column, "type": "numeric"} if column["name"] in texts else column for column in schema["columns"]]
    features, _ = encode(sample, {**schema, "columns": columns})
    auc, null, p_value = two_sample(features, (sample["side"] == MEMBERS).to_numpy(), unit_codes(sample), rng)
    center, spread = null.mean(), 1.96 * null.std(ddof=1)
    n, folds, shuffles = len(sample), f"{FOLDS}-fold boosted trees", f"{PERMUTATIONS} permutations of the sides"
    interval = {"low": center - spread, "high": center + spread}
    return [
        tidy.row("data", setting, "covariate_auc", auc, null=center, n=n, method=folds),
        tidy.row("data", setting, "covariate_null", center, n=n, method=shuffles, **interval),
        tidy.row("data", setting, "covariate_p", p_value, unit=UNITS["covariate_p"], n=n, method=shuffles),
    ]


def _shared(connection: DuckDBPyConnection, schema: Mapping[str, Any]) -> dict[str, int]:
    columns = ", ".join(identifier(column["name"]) for column in schema["columns"])
    keys = {"shared_ids": "id", "shared_copies": f"hash({columns})"} | (
        {"shared_groups": '"group"'} if schema["grouped"] else {}
    )
    return {
        name: connection.execute(
            f"SELECT count(*) FROM (SELECT {key} AS key FROM sided GROUP BY key HAVING min(side) <> max(side))"
        ).fetchone()[0]
        for name, key in keys.items()
    }


def compare_classes(inside: NDArray[np.integer], outside: NDArray[np.integer]) -> dict[str, float]:
    """Records of either side and total variation distance `tvd`, from how many of each class there are (class,)."""
    distance = float(np.abs(inside / inside.sum() - outside / outside.sum()).sum() / 2)
    return {"members": int(inside.sum()), "nonmembers": int(outside.sum()), "tvd": distance}


def compare_numbers(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> dict[str, float]:
    """Records of either side, `ks` and its p-value `ks_p`, and `wasserstein` in standard deviations of all targets."""
    test = stats.ks_2samp(inside, outside)
    scale = np.concatenate([inside, outside]).std()
    return {
        "members": len(inside),
        "nonmembers": len(outside),
        "ks": float(test.statistic),
        "ks_p": float(test.pvalue),
        "wasserstein": float(stats.wasserstein_distance(inside, outside) / scale),
    }


def _class_counts(connection: DuckDBPyConnection) -> list[NDArray[np.int64]]:
    counts = connection.execute(
        f"SELECT count(*) FILTER (side = '{MEMBERS}') AS inside, count(*) FILTER (side <> '{MEMBERS}') AS outside "
        "FROM sided GROUP BY target"
    ).df()
    return [counts[side].to_numpy() for side in ("inside", "outside")]


def _targets(connection: DuckDBPyConnection, side: str) -> NDArray[np.float64]:
    return connection.execute(f"SELECT target FROM sided WHERE side {side} '{MEMBERS}'").fetchnumpy()["target"]


def _sample(connection: DuckDBPyConnection, ids: pd.Series, rng: np.random.Generator) -> pd.DataFrame:
    places = np.sort(rng.choice(len(ids), min(ROWS, len(ids)), replace=False))
    connection.register("drawn", pd.DataFrame({"id": ids.iloc[places], "place": places}))
    return connection.execute("SELECT sided.* FROM sided JOIN drawn USING (id) ORDER BY drawn.place").df()
