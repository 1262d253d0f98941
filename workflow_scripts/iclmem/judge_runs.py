"""Judge the fine-tuned models of one task, run by run and setting by setting (ICLMEM, sections 4.2 and 5, Table 3).

python workflow_scripts/iclmem/judge_runs.py --input reference=reference_normal.nc slow=0.nc slow=1.nc \
    --output runs=runs.parquet results=results.parquet null=null.nc \
    --params '{"seed": 1, "arms": {"slow": {"model": "tabicl-small", "learning_rate": 1e-4, "queries": 50,
        "context": 64, "labels": "normal", "pairs": "fixed", "joint": false, "adapter": null, "private": null}},
        "iclmem": {"fpr": [0.1, 0.01], "replicates": 200, "permutations": 999, "bins": 30,
        "rules": {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}}}}'

A task is a data set, or several whose models are tuned jointly. Every arm of the params has its shards in an input of
its name; `reference` has the base model's answers for each data set and label condition. `null` holds what judges
several runs together: AUCs under permuted memberships, of resampled records, of single manipulations.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from memaudit import tidy
from memaudit.errors import AuditError
from memaudit.io import write_grid, write_table
from memaudit.studies.iclmem import probe_grids as grids
from memaudit.studies.iclmem import setting_results as settings
from memaudit.studies.iclmem.run_results import DIMS, JUDGED, deltas, draw, judge_run
from memaudit.workflow.job import run, several
from memaudit.workflow.progress_bar import steps


def main(job):
    asked = job.params.iclmem
    references = grids.references(_paths(job, "reference"))
    facts, nulls, spreads = [], [], []
    for name, arm in steps(job.params.arms.items(), "arms"):
        tuned = grids.arm(_paths(job, name))
        for dataset in dict.fromkeys(tuned.dataset.values):
            if (dataset, arm["labels"]) not in references:
                mend = "give reference=PATH of that condition"
                raise AuditError(f"iclmem, arm {name}: no base answered {dataset} with labels {arm['labels']}; {mend}")
            reference = references[dataset, arm["labels"]]
            about = {"dataset": dataset, "arm": name, **settings.describe(arm)}
            about |= grids.table_facts(reference, arm["queries"])
            judged = list(_judged(tuned.isel(target=tuned.dataset.values == dataset), reference, arm["placebo"], job))
            facts += [about | found for found, _, _ in judged]
            spreads += [spread for _, _, spread in judged]
            nulls += [_null([arrays for _, arrays, _ in judged], reference)] if judged else []
    runs = settings.ruled(pd.DataFrame(facts), asked["rules"])
    write_table(runs, job.output.runs)
    results = [*settings.estimates(runs, asked["fpr"]), *settings.histograms(runs, spreads, asked["bins"])]
    write_table(tidy.frame(results), job.output.results)
    names = {name: ("run", runs[name].to_numpy()) for name in ("dataset", "arm", "split", "epoch")}
    null = xr.concat(nulls, "run", join="outer", data_vars="all").astype(np.float32)
    write_grid(null.assign_coords(**names, signal=list(JUDGED)), job.output.null)
    return {"seed": job.params.seed}


def _paths(job: Any, name: str) -> list[str]:
    if not (paths := job.input.get(name)):
        raise AuditError(f"iclmem: no input is called {name}; give {name}=PATH, or leave its arm out of the params")
    return several(paths)


def _judged(tuned: xr.Dataset, reference: xr.Dataset, placebo: bool, job: Any) -> Iterator[tuple[dict, dict, dict]]:
    """Facts, arrays and dS of every run of an arm on one data set."""
    asked = {key: job.params.iclmem[key] for key in ("permutations", "replicates")}
    for split in map(int, tuned.split.values):
        ours, base = tuned.sel(split=split), reference.sel(split=split)
        chosen = grids.places(ours, base)
        draws = draw(base.id.values, base.pair.values, reference.dataset, split, seed=job.params.seed, **asked)
        draws = draws.on(chosen)
        for epoch, one in grids.runs(ours, base.isel(target=chosen), placebo):
            facts, arrays = judge_run(one, draws, tuple(job.params.iclmem["fpr"]))
            yield {"split": split, "epoch": epoch, **facts}, arrays, deltas(one)


def _null(arrays: list[dict[str, np.ndarray]], reference: xr.Dataset) -> xr.Dataset:
    # A manipulation and its category in one name: data sets need not have the same ones.
    pairs = zip(reference.category.values, reference.manipulation.values, strict=True)
    named = {"manipulation": [f"{category}: {name}" for category, name in pairs]}
    return xr.Dataset(
        {name: (("run", *dims), np.stack([one[name] for one in arrays])) for name, dims in DIMS.items()}, named
    )


if __name__ == "__main__":
    run(main, globals())
