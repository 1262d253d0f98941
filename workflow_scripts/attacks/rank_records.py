"""Who leaks? Exposure of every member, what foretells it, and the attack among ordinary records and outliers.

python workflow_scripts/attacks/rank_records.py --input main=0.nc main=1.nc records=records.parquet schema=schema.json \
    --output tidy=risk.parquet ranks=ranks.parquet map=risk_map.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "attacks": {"sets": 128, "fpr": [0.05, 0.01], "replicates": 200, "neighbours": 5}}'

Exposure comes from all shadow sets of the usual contexts; the attack by quartile from the first `sets`, as in the
tables. The loss without the record is that of the first half of the sets, beside the exposure in the second half. Free
text has no distance: such columns are left out. The map names no record: its points are numbered by rank.
"""

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.ensemble import IsolationForest

from memaudit import seeds, tidy
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.score_matrices import confidence, of_input, variant
from memaudit.data.record_encoding import encode
from memaudit.errors import AuditError
from memaudit.io import read_json, read_table, write_table
from memaudit.statistics import record_vulnerability
from memaudit.statistics.attack_performance import judge, rows
from memaudit.workflow.job import run

STUDY = "attacks"
LOSS = "loss without the record"


def main(job):
    dataset, asked = job.wildcards.dataset, job.params.attacks
    grid = variant(of_input(job, "main"), "usual")
    # Members and reference records alike: their columns are standardised together.
    space = _space(grid, read_table(job.input.records), read_json(job.input.schema), dataset)
    space, grid = space[grid.member.values], grid.isel(record=grid.member.values)
    labels, design = grid.label.values, grid.design.values
    signals = confidence(grid)

    rng = seeds.generator(job.params.seed, STUDY, dataset, "exposure")
    exposure = record_vulnerability.effect_sizes(signals, design, rng, asked["replicates"])
    # A mean that is by chance low outside would raise both the loss and the exposure: each from sets of its own.
    half = len(design) // 2
    later = record_vulnerability.effect_sizes(signals[half:], design[half:], rng, 1)[:, 0]
    place = np.argsort(np.argsort(-exposure[:, 0], kind="stable"))
    ranks = pd.DataFrame({"id": grid.record.values, "exposure": exposure[:, 0], "rank": place})
    write_table(ranks.sort_values("rank"), job.output.ranks)

    predictors = _predictors(space, grid, signals[:half], job)
    results = []
    for name, predictor in predictors.items():
        rng = seeds.generator(job.params.seed, STUDY, dataset, "predictor", name)
        exposed = later if name == LOSS else exposure[:, 0]
        estimate = record_vulnerability.rank_correlation(exposed, predictor, rng, grid.unit.values, asked["replicates"])
        results += rows(STUDY, {"dataset": dataset, "predictor": name}, [estimate])
        print(f"{name}: Spearman correlation {estimate.estimate:.2f}", flush=True)
    distance = rankdata(predictors["neighbour distance"]) / len(space)
    results += _by_quartile(signals, design, distance, grid.unit.values, job)
    write_table(tidy.frame(results), job.output.tidy)
    write_table(tidy.frame(_map(dataset, exposure, place, distance, labels, asked["replicates"])), job.output.map)
    return {"seed": job.params.seed}


def _space(grid, records: pd.DataFrame, schema: dict, dataset: str) -> np.ndarray:
    columns = [column for column in schema["columns"] if column["type"] != "text"]
    if not columns:
        raise AuditError(f"data set {dataset}: all columns are free text, which has no distance; leave it out")
    x, _ = encode(records.set_index("id").loc[grid.record.values], schema | {"columns": columns})
    categorical = np.array([column["type"] == "categorical" for column in columns])
    return record_vulnerability.standardised(x.astype(float), categorical, ~grid.member.values)


def _predictors(space, grid, signals, job) -> dict[str, np.ndarray]:
    """What might foretell a member's exposure, higher or lower; signals: of the first shadow sets, for the loss."""
    labels, outside = grid.label.values, ~grid.design.values[: len(signals)]
    near = record_vulnerability.neighbour_distances(space, labels, grid.unit.values, job.params.attacks["neighbours"])
    frequency = np.bincount(labels) / len(labels)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = near["other classes"] / near["own class"]
    forest = IsolationForest(random_state=seeds.integer(job.params.seed, STUDY, grid.dataset, "forest")).fit(space)
    return {
        "neighbour distance": near["all"],
        # Small in foreign ground.
        "distance to other classes over own": margin,
        "frequency of the class": frequency[labels],
        LOSS: (np.logaddexp(0, -signals) * outside).sum(0) / outside.sum(0),
        "isolation forest": -forest.score_samples(space),
    }


def _by_quartile(signals, design, distance, units, job) -> list[dict]:
    """LiRA among the records of each quarter of the neighbour distance: 1 = in company, 4 = outliers."""
    asked, dataset = job.params.attacks, job.wildcards.dataset
    signals, design = signals[: asked["sets"]], design[: asked["sets"]]
    scores = calibrate(signals, design, "lira")
    found = []
    for number, quarter in enumerate(np.array_split(np.argsort(distance, kind="stable"), 4), 1):
        rng = seeds.generator(job.params.seed, STUDY, dataset, "quartile", number)
        options = {"fprs": asked["fpr"], "rng": rng, "groups": units[quarter], "replicates": asked["replicates"]}
        estimates = judge(scores[:, quarter], design[:, quarter], **options)
        found += rows(STUDY, {"dataset": dataset, "quartile": number}, estimates)
    return found


def _map(dataset: str, exposure, place, distance, labels, replicates: int) -> list[dict]:
    """Rows of one point after the other, the most exposed first."""
    method = f"bootstrap over shadow sets, {replicates} replicates"
    found = []
    for record in np.argsort(place):
        keys = {"dataset": dataset, "point": place[record], "class": labels[record]}
        d, low, high = exposure[record]
        found.append(tidy.row(STUDY, keys, "distance", distance[record], unit="rank"))
        found.append(tidy.row(STUDY, keys, "exposure", d, unit="sigma", low=low, high=high, method=method, null=0.0))
    return found


if __name__ == "__main__":
    run(main, globals())
