"""Average the utility of PATE students over data sets, beside published numbers (TabPATE, Tables 2, 3, 12).

python workflow_scripts/tabpate/average_datasets.py --input wine/utility.parquet diabetes/utility.parquet \
    --output average.parquet --params '{"published": [{"table": "Table 2", "dataset": "mean", "task": "classification",
        "approach": "tabpate", "epsilon": 10, "metric": "balanced accuracy", "printed": 0.712}]}'

Classification and regression are averaged separately, and only conditions that every data set of the task has. The key
`source` is "here" or "paper".
"""

import pandas as pd

from memaudit.common import tidy
from memaudit.common.io import read_table, write_table
from memaudit.statistics.dataset_means import means, published
from memaudit.studies.tabpate.student_utility import STUDY
from memaudit.workflow.job import run

KEYS = ["task", "arm", "approach", "epsilon"]


def main(job):
    scores = tidy.expand(pd.concat([read_table(path) for path in job.input], ignore_index=True))
    numbers = scores["dataset"].isin(scores["dataset"][scores["metric"] == "nrmse"])
    scores["task"] = numbers.map({True: "regression", False: "classification"})
    datasets = scores.groupby("task")["dataset"].nunique()
    here = means(STUDY, scores.dropna(subset=KEYS), KEYS, "dataset", datasets, "data sets")
    paper = published(STUDY, job.params.published, scores)
    write_table(tidy.frame([*here, *paper]), job.output[0])


if __name__ == "__main__":
    run(main, globals())
