"""Mean of the attacks over data sets, beside what the paper prints (TabPATE, Tables 1, 5, 6, 7, 10).

python workflow_scripts/attacks/average_datasets.py --input wine/attacks.parquet breast_cancer/attacks.parquet \
    --output average.parquet --params '{"published": [{"table": "Table 1", "dataset": "mean", "attack": "lira",
        "poison": 0, "metric": "auc", "printed": 0.73}]}'

Only what every data set has is averaged, in the arm `main`. The key `source` tells "here" from "paper".
"""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from memaudit import tidy
from memaudit.io import read_table, write_table
from memaudit.statistics.intervals import mean_of
from memaudit.statistics.threat_models import STUDY
from memaudit.workflow.job import run

KEYS = ["arm", "model", "records", "threat", "attack", "poison"]
AVERAGED = r"auc|tpr@[\d.e-]+|auc difference"


def main(job):
    scores = tidy.expand(pd.concat([read_table(path) for path in job.input], ignore_index=True))
    scores = scores[(scores["arm"] == "main") & scores["metric"].str.fullmatch(AVERAGED)]
    rows = [*_means(scores), *(_published(**entry) for entry in job.params.published)]
    write_table(tidy.frame(rows), job.output[0])


def _means(scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    datasets = scores["dataset"].nunique()
    for values, group in scores.groupby([*KEYS, "metric"], sort=False):
        if len(group) < datasets:
            continue
        *of_group, metric = values
        mean, low, high = mean_of(*(group[name].to_numpy() for name in ("estimate", "low", "high")))
        keys = {"source": "here", "dataset": "mean", **dict(zip(KEYS, of_group, strict=True))}
        method = f"mean of {datasets} data sets taken as given; MOVER, from the interval of each"
        interval = {"low": low, "high": high, "null": group["null"].mean()}
        yield tidy.row(STUDY, keys, metric, mean, n=group["n"].sum(), method=method, **interval)


def _published(metric: str, printed: float, **keys: Any) -> dict[str, Any]:
    return tidy.row(STUDY, {"source": "paper", **keys}, metric, printed, method="as printed")


if __name__ == "__main__":
    run(main, globals())
