"""Rank members by vulnerability score, correlate it with predictors, and attack ordinary records and outliers.

python workflow_scripts/attacks/rank_records.py --input main=0.nc main=1.nc records=records.parquet schema=schema.json \
    --output tidy=risk.parquet ranks=ranks.parquet map=risk_map.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "attacks": {"sets": 128, "fpr": [0.05, 0.01], "replicates": 200, "neighbours": 5}}'

The vulnerability score (Cohen's d, tidy metric `exposure`) uses all shadow contexts of the usual variant; the attack by
quartile uses the first `sets`, as the tables do. The loss without the record comes from the first half of the contexts
and is correlated with the score in the second half. Free-text columns have no distance and are left out. The map
contains no record ids: its points are numbered by rank.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest

from memaudit import seeds, tidy
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.score_matrices import confidence, of_input, variant
from memaudit.data.record_encoding import encode
from memaudit.errors import AuditError
from memaudit.io import read_json, read_table, write_table
from memaudit.statistics.attack_performance import judge, rows
from memaudit.statistics.rank_correlation import rank_correlation, rank_shares
from memaudit.statistics.record_distances import neighbour_distances, standardised
from memaudit.statistics.record_vulnerability import vulnerability_score_cohens_d
from memaudit.workflow.job import run

STUDY = "attacks"
LOSS = "loss without the record"


def main(job):
    dataset, settings = job.wildcards.dataset, job.params.attacks
    grid = variant(of_input(job, "main"), "usual")
    # Members and non-members are encoded in one space, whose columns are standardised together.
    space = _space(grid, read_table(job.input.records), read_json(job.input.schema), dataset)
    space, grid = space[grid.member.values], grid.isel(record=grid.member.values)
    labels, membership = grid.label.values, grid.design.values
    signals = confidence(grid)

    rng = seeds.generator(job.params.seed, STUDY, dataset, "exposure")
    scores = vulnerability_score_cohens_d(signals, membership, rng, settings["replicates"])
    # A chance-low OUT mean would raise both the loss and the score, so they come from different contexts.
    half = len(membership) // 2
    later = vulnerability_score_cohens_d(signals[half:], membership[half:], rng, 1)[:, 0]
    place = np.argsort(np.argsort(-scores[:, 0], kind="stable"))
    ranks = pd.DataFrame({"id": grid.record.values, "exposure": scores[:, 0], "rank": place})
    write_table(ranks.sort_values("rank"), job.output.ranks)

    predictors = _predictors(space, grid, signals[:half], job)
    results = []
    for name, predictor in predictors.items():
        rng = seeds.generator(job.params.seed, STUDY, dataset, "predictor", name)
        outcome = later if name == LOSS else scores[:, 0]
        estimate = rank_correlation(outcome, predictor, rng, grid.unit.values, settings["replicates"])
        results += rows(STUDY, {"dataset": dataset, "predictor": name}, [estimate])
        print(f"{name}: Spearman correlation {estimate.estimate:.2f}", flush=True)
    distance = rank_shares(predictors["neighbour distance"])
    results += _by_quartile(signals, membership, distance, grid.unit.values, job)
    write_table(tidy.frame(results), job.output.tidy)
    write_table(tidy.frame(_map(dataset, scores, place, distance, labels, settings["replicates"])), job.output.map)
    return {"seed": job.params.seed}


def _space(grid, records: pd.DataFrame, schema: dict, dataset: str) -> np.ndarray:
    columns = [column for column in schema["columns"] if column["type"] != "text"]
    if not columns:
        raise AuditError(f"data set {dataset}: all columns are free text, which has no distance; leave it out")
    x, _ = encode(records.set_index("id").loc[grid.record.values], schema | {"columns": columns})
    categorical = np.array([column["type"] == "categorical" for column in columns])
    return standardised(x.astype(float), categorical, ~grid.member.values)


def _predictors(space, grid, signals, job) -> dict[str, np.ndarray]:
    """Candidate predictors of the members' vulnerability scores; signals: of the first contexts, for the loss."""
    labels, outside = grid.label.values, ~grid.design.values[: len(signals)]
    near = neighbour_distances(space, labels, grid.unit.values, job.params.attacks["neighbours"])
    frequency = np.bincount(labels) / len(labels)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = near["other classes"] / near["own class"]
    forest = IsolationForest(random_state=seeds.integer(job.params.seed, STUDY, grid.dataset, "forest")).fit(space)
    return {
        "neighbour distance": near["all"],
        # Small where records of other classes are closer.
        "distance to other classes over own": margin,
        "frequency of the class": frequency[labels],
        LOSS: (np.logaddexp(0, -signals) * outside).sum(0) / outside.sum(0),
        "isolation forest": -forest.score_samples(space),
    }


def _by_quartile(signals, membership, distance, units, job) -> list[dict]:
    """LiRA among the records of each quarter of the neighbour distance: 1 = dense regions, 4 = outliers."""
    settings, dataset = job.params.attacks, job.wildcards.dataset
    signals, membership = signals[: settings["sets"]], membership[: settings["sets"]]
    scores = calibrate(signals, membership, "lira")
    results = []
    for number, quarter in enumerate(np.array_split(np.argsort(distance, kind="stable"), 4), 1):
        rng = seeds.generator(job.params.seed, STUDY, dataset, "quartile", number)
        options = {"fprs": settings["fpr"], "rng": rng, "groups": units[quarter], "replicates": settings["replicates"]}
        estimates = judge(scores[:, quarter], membership[:, quarter], **options)
        results += rows(STUDY, {"dataset": dataset, "quartile": number}, estimates)
    return results


def _map(dataset: str, scores, place, distance, labels, replicates: int) -> list[dict]:
    """Tidy rows of each point, in descending order of the vulnerability score."""
    method = f"bootstrap over shadow sets, {replicates} replicates"
    points = []
    for record in np.argsort(place):
        keys = {"dataset": dataset, "point": place[record], "class": labels[record]}
        d, low, high = scores[record]
        points.append(tidy.row(STUDY, keys, "distance", distance[record], unit="rank"))
        points.append(tidy.row(STUDY, keys, "exposure", d, unit="sigma", low=low, high=high, method=method, null=0.0))
    return points


if __name__ == "__main__":
    run(main, globals())
