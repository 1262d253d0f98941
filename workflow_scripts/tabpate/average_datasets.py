"""Average the utility of PATE students over data sets, beside published numbers (TabPATE, Tables 2, 3, 12).

python workflow_scripts/tabpate/average_datasets.py --input wine/utility.parquet diabetes/utility.parquet \
    --output average.parquet --params '{"published": [{"table": "Table 2", "dataset": "mean", "task": "classification",
        "approach": "tabpate", "epsilon": 10, "metric": "balanced accuracy", "printed": 0.712}]}'

Classification and regression are averaged separately, and only conditions that every data set of the task has. The key
`source` is "here" or "paper".
"""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from memaudit import tidy
from memaudit.io import read_table, write_table
from memaudit.statistics.intervals import mean_of
from memaudit.studies.tabpate.student_utility import STUDY
from memaudit.workflow.job import run

KEYS = ["task", "arm", "approach", "epsilon"]


def main(job):
    scores = tidy.expand(pd.concat([read_table(path) for path in job.input], ignore_index=True))
    numbers = scores["dataset"].isin(scores["dataset"][scores["metric"] == "nrmse"])
    scores["task"] = numbers.map({True: "regression", False: "classification"})
    rows = [*_means(scores), *(_published(**entry) for entry in job.params.published)]
    write_table(tidy.frame(rows), job.output[0])


def _means(scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    datasets = scores.groupby("task")["dataset"].nunique()
    for values, group in scores.groupby([*KEYS, "metric"], sort=False):
        *of_group, metric = values
        keys = {"source": "here", "dataset": "mean", **dict(zip(KEYS, of_group, strict=True))}
        if len(group) < datasets[keys["task"]]:
            continue
        mean, low, high = mean_of(*(group[name].to_numpy() for name in ("estimate", "low", "high")))
        method = f"mean of {len(group)} data sets taken as given; MOVER, from the interval of each"
        facts = {"n": group["n"].sum(), "unit": group["unit"].iloc[0], "null": group["null"].mean()}
        named = keys | {"epsilon": f"{keys['epsilon']:g}"}
        yield tidy.row(STUDY, named, metric, mean, low=low, high=high, method=method, **facts)


def _published(metric: str, printed: float, **keys: Any) -> dict[str, Any]:
    return tidy.row(STUDY, {"source": "paper", **keys}, metric, printed, method="as printed")


if __name__ == "__main__":
    run(main, globals())
