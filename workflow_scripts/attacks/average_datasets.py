"""Mean of the attacks over data sets, beside the published numbers (TabPATE, Tables 1, 5, 6, 7, 10).

python workflow_scripts/attacks/average_datasets.py --input attacks=wine/attacks.parquet \
    attacks=breast_cancer/attacks.parquet families=wine/families.parquet \
    --output average=average.parquet families=families.parquet \
    --params '{"published": [{"table": "Table 1", "dataset": "mean", "attack": "lira", "poison": 0,
        "metric": "auc", "printed": 0.73}], "records": {"wine": 178}}'

records: number of each table's records (null: not known), which Table 16 lists. Metrics of the arm `main` are averaged
where all averaged data sets have them: as "mean" those of the paper's means (of its Table 5) that the run has, if it
has two or more, and as "mean of all tables" all of the run, if it has others; the method says over how many. The key
`source` tells "here" from "paper". Model families, if any, are averaged in a file of their own over the tables that
compare them, a family where all have it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from memaudit.common import tidy
from memaudit.common.io import read_table, write_table
from memaudit.common.job_inputs import several
from memaudit.statistics.dataset_means import means, published
from memaudit.statistics.threat_models import STUDY
from memaudit.workflow.job import run

KEYS = ["arm", "model", "records", "threat", "attack", "poison"]
AVERAGED = r"(auc|tpr@[\d.e-]+)( difference)?"
OF_FAMILIES = ["model", "attack", "records"]
COMPARED = rf"({AVERAGED}|(accuracy|balanced accuracy|log loss)( difference)?)"
LISTED = "Table 5"  # of the paper: it lists the data sets of the means


def main(job):
    scores = _expanded(job.input.attacks)
    scores = scores[(scores["arm"] == "main") & scores["metric"].str.fullmatch(AVERAGED)]
    scores = scores.dropna(subset=KEYS)
    here = _means(scores, {entry["dataset"] for entry in job.params.published if entry["table"] == LISTED} - {"mean"})
    paper = published(STUDY, job.params.published, scores)
    write_table(tidy.frame([*here, *paper, *_sizes(scores, job.params.records)]), job.output.average)
    if families := job.input.get("families"):
        write_table(tidy.frame(list(_of_families(_expanded(families)))), job.output.families)


def _expanded(paths: str | list[str]) -> pd.DataFrame:
    return tidy.expand(pd.concat([read_table(path) for path in several(paths)], ignore_index=True))


def _of_families(scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Means of the leakage and accuracy of each model family, and of their differences."""
    chosen = scores[scores["metric"].str.fullmatch(COMPARED)]
    return means(STUDY, chosen, OF_FAMILIES, "dataset", chosen["dataset"].nunique(), "data sets")


def _means(scores: pd.DataFrame, listed: set[str]) -> Iterator[dict[str, Any]]:
    """Means over the paper's data sets that the run has, and over all of the run."""
    present = set(scores["dataset"])
    named = {"mean": present & listed, "mean of all tables": present if present - listed else set()}
    for name, datasets in named.items():
        if len(datasets) < 2:
            continue
        chosen = scores[scores["dataset"].isin(datasets)]
        yield from means(STUDY, chosen, KEYS, "dataset", len(datasets), "data sets", name)


def _sizes(scores: pd.DataFrame, records: Mapping[str, int | None]) -> Iterator[dict[str, Any]]:
    """Number of records of each attacked table, in the setting of LiRA on its members."""
    attacked = scores.query("attack == 'lira' and records == 'members' and metric == 'auc'")
    for keys in attacked[["dataset", *KEYS]].to_dict("records"):
        if count := records[keys["dataset"]]:
            yield tidy.row(STUDY, keys, "n", count, unit="records")


if __name__ == "__main__":
    run(main, globals())
