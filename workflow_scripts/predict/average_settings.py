"""Means of the predictors' metrics over settings, beside the paper's numbers (Figure 3, Section 5.4, Tables 1 and 2).

python workflow_scripts/predict/average_settings.py --input a/predictors.parquet b/predictors.parquet \
    --output average.parquet --params '{"memorized": 4, "published": [{"table": "Section 5.4", "case": "mean", "tau": 0,
        "predictor": "psmi", "metric": "tpr", "printed": 0.658}]}'

Averages are of metrics that every setting has: those at the interruption, and rates at a fixed threshold. Settings
where more than a fifth of what is called memorized may be chance are left out. The key `source` is "here" or "paper".
"""

import pandas as pd

from memaudit.common import tidy
from memaudit.common.io import read_table, write_table
from memaudit.statistics.dataset_means import means, published
from memaudit.studies.predict.judged_setting import STUDY
from memaudit.workflow.job import run

KEYS = ["truth", "records", "predictor", "tau"]


def main(job):
    scores = tidy.expand(pd.concat([read_table(path) for path in job.input], ignore_index=True))
    paper = published(STUDY, job.params.published, scores)
    scores = beyond_chance(scores, job.params.memorized)
    cases = scores["case"].nunique()
    here = means(STUDY, averaged(scores), KEYS, "case", cases, "settings")
    write_table(tidy.frame([*here, *paper]), job.output[0])


def beyond_chance(scores: pd.DataFrame, memorized: float) -> pd.DataFrame:
    """Rows of the settings that are judged: their share of memorized records is more than five times chance."""
    share = scores[(scores["metric"] == "memorized beyond chance") & (scores["threshold"] == memorized)]
    return scores[scores["case"].isin(share.loc[share["low"] > share["null"], "case"])]


def averaged(scores: pd.DataFrame) -> pd.DataFrame:
    """Rows that every setting has: metrics at the interruption, and rates at a fixed threshold."""
    at_stop = (scores["truth"] == "memorized") & scores["rule"].isin(["first", "closest"])
    fixed = scores["tau"].notna() & scores["profile"].isna()
    return scores[at_stop | fixed].dropna(subset="estimate")


if __name__ == "__main__":
    run(main, globals())
