"""Mean of the attacks over data sets, beside the published numbers (TabPATE, Tables 1, 5, 6, 7, 10).

python workflow_scripts/attacks/average_datasets.py --input attacks=wine/attacks.parquet \
    attacks=breast_cancer/attacks.parquet families=wine/families.parquet \
    --output average=average.parquet families=families.parquet \
    --params '{"published": [{"table": "Table 1", "dataset": "mean", "attack": "lira", "poison": 0,
        "metric": "auc", "printed": 0.73}], "records": {"wine": 178}}'

records: number of each table's records (null: not known), which Table 16 lists. Metrics of the arm `main` are averaged
where all averaged data sets have them: as "mean" those of the paper's means (of its Table 5) that the run has, and, if
it has others, as "mean of all tables" all of the run; the key `tables` says how many, "4 of 5". The key `source` tells
"here" from "paper". Model families, if any, are averaged in a file of their own over the tables that compare them, if
two or more, a family where all have it.
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
MEAN, OF_ALL = "mean", "mean of all tables"
LISTED = "Table 5"  # of the paper: it lists the data sets of the means


def main(job):
    scores = _expanded(job.input.attacks)
    scores = scores[(scores["arm"] == "main") & scores["metric"].str.fullmatch(AVERAGED)]
    scores = scores.dropna(subset=KEYS)
    listed = {entry["dataset"] for entry in job.params.published if entry["table"] == LISTED} - {MEAN}
    here = _means(scores, listed)
    paper = published(STUDY, [_counted(entry, len(listed)) for entry in job.params.published], scores)
    write_table(tidy.frame([*here, *paper, *_sizes(scores, job.params.records)]), job.output.average)
    if families := job.input.get("families"):
        write_table(tidy.frame(list(_of_families(_expanded(families)))), job.output.families)


def _expanded(paths: str | list[str]) -> pd.DataFrame:
    return tidy.expand(pd.concat([read_table(path) for path in several(paths)], ignore_index=True))


def _of_families(scores: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Means of the leakage and accuracy of each model family, and of their differences."""
    chosen = scores[scores["metric"].str.fullmatch(COMPARED)]
    if (count := chosen["dataset"].nunique()) < 2:
        return iter(())
    return means(STUDY, chosen, OF_FAMILIES, "dataset", count, "data sets", OF_ALL)


def _means(scores: pd.DataFrame, listed: set[str]) -> Iterator[dict[str, Any]]:
    """Means over the paper's data sets that the run has, and over all of the run."""
    present = set(scores["dataset"])
    named = {MEAN: (present & listed, len(listed))} if present & listed else {}
    if present - listed and len(present) > 1:
        named[OF_ALL] = present, len(present)
    for name, (datasets, of) in named.items():
        chosen = scores[scores["dataset"].isin(datasets)].assign(tables=f"{len(datasets)} of {of}")
        yield from means(STUDY, chosen, [*KEYS, "tables"], "dataset", len(datasets), "data sets", name)


def _counted(entry: Mapping[str, Any], count: int) -> Mapping[str, Any]:
    """A published entry; a mean says over how many tables."""
    return {**entry, "tables": f"{count} of {count}"} if entry["dataset"] == MEAN else entry


def _sizes(scores: pd.DataFrame, records: Mapping[str, int | None]) -> Iterator[dict[str, Any]]:
    """Number of records of each attacked table, in the setting of LiRA on its members."""
    attacked = scores.query("attack == 'lira' and records == 'members' and metric == 'auc'")
    for keys in attacked[["dataset", *KEYS]].to_dict("records"):
        if count := records[keys["dataset"]]:
            yield tidy.row(STUDY, keys, "n", count, unit="records")


if __name__ == "__main__":
    run(main, globals())
