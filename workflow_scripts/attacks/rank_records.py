"""Rank members by vulnerability score, correlate it with predictors, and attack ordinary records and outliers.

python workflow_scripts/attacks/rank_records.py --input main=0.nc main=1.nc records=records.parquet schema=schema.json \
    --output tidy=risk.parquet ranks=ranks.parquet map=risk_map.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "attacks": {"sets": 128, "fpr": [0.05, 0.01], "replicates": 200, "permutations": 39,
        "neighbours": 5}}'

The vulnerability score (tidy metric `vulnerability`, with a credible interval that holds for the highest scores, too)
uses all shadow contexts of the usual variant; the attack by quartile uses the first `sets`, as the tables do. The loss
without the record comes from the first half of the contexts and is correlated with the score in the second half.
Free-text columns have no distance and are left out. The map contains no record ids: its points are numbered by rank.
"""

import numpy as np
import pandas as pd

from memaudit.attacks.regression_signals import predicts_numbers
from memaudit.attacks.score_matrices import confidence, of_input, variant
from memaudit.common import seeds, tidy
from memaudit.common.io import read_json, read_table, write_table
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.attack_performance import judge_options, rows
from memaudit.statistics.group_comparison import judge_groups
from memaudit.statistics.rank_correlation import rank_correlation, rank_shares
from memaudit.statistics.record_vulnerability import Population
from memaudit.statistics.threat_models import ratio
from memaudit.studies.attacks.vulnerability_predictors import (
    feature_space,
    from_neighbours,
    isolation,
    loss_without_record,
)
from memaudit.workflow.job import run

STUDY = "attacks"
LOSS = "loss without the record"


def main(job):
    dataset, settings = job.wildcards.dataset, job.params.attacks
    grid = variant(of_input(job, "main"), "usual")
    records = read_table(job.input.records).set_index("id").loc[grid.record.values]
    space = feature_space(records, read_json(job.input.schema), ~grid.member.values, dataset)
    space, grid = space[grid.member.values], grid.isel(record=grid.member.values)
    labels, membership, signals = grid.label.values, grid.design.values, confidence(grid)

    rng = seeds.generator(job.params.seed, STUDY, dataset, "exposure")  # old name is kept: draws stay the same
    population = Population.fit(signals, membership, rng, grid.unit.values)
    scores = population.intervals(signals, membership)
    # A chance-low OUT mean would raise both the loss and the score, so they come from different contexts.
    half = len(membership) // 2
    later = population.scores(signals[half:], membership[half:])
    place = np.argsort(np.argsort(-scores[:, 0], kind="stable"))
    ranks = pd.DataFrame({"id": grid.record.values, "vulnerability": scores[:, 0], "rank": place})
    write_table(ranks.sort_values("rank"), job.output.ranks)

    if predicts_numbers(grid):  # predictors and the map compare classes: the quarters of the target
        labels = pd.qcut(pd.Series(labels).rank(method="first"), 4, labels=False).to_numpy()
    predictors = from_neighbours(space, labels, grid.unit.values, settings["neighbours"])
    predictors[LOSS] = loss_without_record(signals[:half], membership[:half])
    predictors["isolation forest"] = isolation(space, seeds.integer(job.params.seed, STUDY, dataset, "forest"))
    results = []
    for name, predictor in predictors.items():
        rng = seeds.generator(job.params.seed, STUDY, dataset, "predictor", name)
        outcome = later if name == LOSS else scores[:, 0]
        estimate = rank_correlation(outcome, predictor, rng, grid.unit.values, settings["replicates"])
        results += rows(STUDY, {"dataset": dataset, "predictor": name}, [estimate])
        print(f"{name}: Spearman correlation {estimate.estimate:.2f}", flush=True)
    distance = rank_shares(predictors["neighbour distance"])
    results += _by_quartile(signals, grid, distance, job)
    write_table(tidy.frame(results), job.output.tidy)
    write_table(tidy.frame(_map(dataset, scores, place, distance, labels)), job.output.map)
    return {"seed": job.params.seed}


def _by_quartile(signals, grid, distance, job) -> list[dict]:
    """LiRA among the records of each quarter of the neighbour distance: 1 = dense regions, 4 = outliers."""
    settings, quarters = job.params.attacks, np.array_split(np.argsort(distance, kind="stable"), 4)
    masks = {number: np.isin(np.arange(len(distance)), quarter) for number, quarter in enumerate(quarters, 1)}
    signals, membership = signals[: settings["sets"]], grid.design.values[: settings["sets"]]
    rng = seeds.generator(job.params.seed, STUDY, grid.dataset, "quartiles")
    options = judge_options(settings) | {"rng": rng, "scheme": Scheme.of(grid.attrs)}
    judged = judge_groups(ratio(signals), membership, masks, grid.unit.values, **options)
    keys = {number: {"dataset": grid.dataset, "quartile": number} for number in judged}
    return [row for number, of in judged.items() for row in rows(STUDY, keys[number], of.estimates)]


def _map(dataset: str, scores, place, distance, labels) -> list[dict]:
    """Tidy rows of each point, in descending order of the vulnerability score."""
    method = "posterior under the scores of all records, 95 % credible interval"
    points = []
    for record in np.argsort(place):
        keys = {"dataset": dataset, "point": place[record], "class": labels[record]}
        d, low, high = scores[record]
        points.append(tidy.row(STUDY, keys, "distance", distance[record], unit="rank"))
        of_score = {"unit": "sigma", "low": low, "high": high, "method": method, "null": 0.0}
        points.append(tidy.row(STUDY, keys, "vulnerability", d, **of_score))
    return points


if __name__ == "__main__":
    run(main, globals())
