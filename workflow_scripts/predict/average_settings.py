"""Means of the predictors' metrics over settings, beside the paper's numbers (Figure 3, Section 5.4, Tables 1 and 2).

python workflow_scripts/predict/average_settings.py --input a/predictors.parquet b/predictors.parquet \
    --output average.parquet --params '{"memorized": 4, "published": [{"table": "Section 5.4", "case": "mean", "tau": 0,
        "predictor": "psmi", "metric": "tpr", "printed": 0.658}]}'

Averages are of metrics that every setting has: those at the interruption, and rates at a fixed threshold. Settings
whose share of memorized records does not exceed that of non-members are left out: there is nothing to predict. The key
`source` is "here" or "paper".
"""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from memaudit import tidy
from memaudit.io import read_table, write_table
from memaudit.statistics.intervals import mean_of
from memaudit.studies.predict.predictor_evaluation import STUDY
from memaudit.workflow.job import run

KEYS = ["truth", "records", "predictor", "tau"]


def main(job):
    scores = tidy.expand(pd.concat([read_table(path) for path in job.input], ignore_index=True))
    rows = [
        *_means(beyond_chance(scores, job.params.memorized)),
        *(_published(**entry) for entry in job.params.published),
    ]
    write_table(tidy.frame(rows), job.output[0])


def beyond_chance(scores: pd.DataFrame, memorized: float) -> pd.DataFrame:
    """Rows of the settings whose share of memorized records has an interval above that of non-members."""
    share = scores[(scores["metric"] == "memorized") & (scores["threshold"] == memorized)]
    return scores[scores["case"].isin(share.loc[share["low"] > share["null"], "case"])]


def _means(scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    cases = scores["case"].nunique()
    at_stop = (scores["truth"] == "memorized") & scores["rule"].isin(["first", "closest"])
    fixed = scores["tau"].notna() & scores["profile"].isna()
    found = scores[at_stop | fixed].dropna(subset="estimate")
    for values, group in found.groupby([*KEYS, "metric"], sort=False, dropna=False):
        *of_group, metric = values
        if len(group) < cases:
            continue
        named = {key: value for key, value in zip(KEYS, of_group, strict=True) if pd.notna(value)}
        if "tau" in named:
            named["tau"] = f"{named['tau']:g}"
        mean, low, high = mean_of(*(group[name].to_numpy() for name in ("estimate", "low", "high")))
        method = f"mean of {cases} settings taken as given; MOVER, from the interval of each"
        facts = {"n": group["n"].sum(), "null": group["null"].mean(), "method": method}
        yield tidy.row(STUDY, {"source": "here", "case": "mean"} | named, metric, mean, low=low, high=high, **facts)


def _published(metric: str, printed: float, **keys: Any) -> dict[str, Any]:
    return tidy.row(STUDY, {"source": "paper", **keys}, metric, printed, method="as printed")


if __name__ == "__main__":
    run(main, globals())
