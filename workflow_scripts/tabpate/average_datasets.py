"""Average the utility of PATE students over data sets, beside published numbers (TabPATE, Tables 2, 3, 12).

python workflow_scripts/tabpate/average_datasets.py --input wine/utility.parquet diabetes/utility.parquet \
    --output average.parquet --params '{"published": [{"table": "Table 13", "dataset": "wine", "task": "classification",
        "arm": "as_published", "epsilon": 10, "metric": "balanced accuracy", "printed": 0.712}]}'

The tables averaged are those of the paper's means, by task: of Table 13 (classification) and of Table 3 (regression). A
condition is averaged over those of them that it has; the key `tables` says how many, "2 of 5". The key `source` is
"here" or "paper".
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from memaudit.common import tidy
from memaudit.common.io import read_table, write_table
from memaudit.statistics.dataset_means import means, published
from memaudit.studies.tabpate.student_utility import STUDY
from memaudit.workflow.job import run

KEYS = ["task", "arm", "approach", "epsilon"]
# Tables of the paper that list the data sets of its means, by task.
LISTED = {"classification": "Table 13", "regression": "Table 3"}


def main(job):
    scores = tidy.expand(pd.concat([read_table(path) for path in job.input], ignore_index=True))
    numbers = scores["dataset"].isin(scores["dataset"][scores["metric"] == "nrmse"])
    scores["task"] = numbers.map({True: "regression", False: "classification"})
    averaged = {task: _datasets(job.params.published, table) for task, table in LISTED.items()}
    scores = scores[[row.dataset in averaged[row.task] for row in scores.itertuples()]].dropna(subset=KEYS)
    counts = scores.groupby([*KEYS, "metric"])["dataset"].transform("nunique")
    scores["tables"] = [f"{count} of {len(averaged[task])}" for count, task in zip(counts, scores["task"], strict=True)]
    here = means(STUDY, scores, [*KEYS, "tables"], "dataset", 1, "data sets")
    paper = published(STUDY, [_counted(entry, averaged) for entry in job.params.published], scores)
    write_table(tidy.frame([*here, *paper]), job.output[0])


def _datasets(entries: Sequence[Mapping[str, Any]], table: str) -> set[str]:
    return {entry["dataset"] for entry in entries if entry["table"] == table} - {"mean"}


def _counted(entry: Mapping[str, Any], averaged: Mapping[str, set[str]]) -> Mapping[str, Any]:
    """A published entry; a mean says over how many tables."""
    if entry["dataset"] != "mean":
        return entry
    count = len(averaged[entry["task"]])
    return {**entry, "tables": f"{count} of {count}"}


if __name__ == "__main__":
    run(main, globals())
