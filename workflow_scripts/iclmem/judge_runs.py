"""Evaluate the fine-tuned models of one task, by run and by setting (ICLMEM, sections 4.2 and 5, Table 3).

python workflow_scripts/iclmem/judge_runs.py --input reference=reference_normal.nc slow=0.nc slow=1.nc \
    --output runs=runs.parquet results=results.parquet null=null.nc \
    --params '{"seed": 1, "arms": {"slow": {"model": "tabicl-small", "learning_rate": 1e-4, "queries": 50,
        "context": 64, "labels": "normal", "pairs": "fixed", "joint": false, "adapter": null, "private": null,
        "placebo": false, "copies": null, "label_smoothing": null, "planted": false, "control": null, "against": null}},
        "iclmem": {"fpr": [0.1, 0.01], "replicates": 200, "permutations": 999, "bins": 30,
        "rules": {"as_written": {"auc": 0.5}, "as_tabulated": {"auc": 0.55}}}}'

A task is a data set, or several with a jointly tuned model. Every entry of `arms` has its shards in an input of its
name; `reference` holds the base model's signals for each data set and label condition. Output `null` holds the arrays
for tests over several runs: AUCs under permuted memberships, of resampled records, of single manipulations.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_grid, write_table
from memaudit.common.job_inputs import several
from memaudit.common.progress_bar import steps
from memaudit.config.iclmem_section import PLANTED
from memaudit.studies.iclmem import probe_results, setting_summaries
from memaudit.studies.iclmem.canary_exposure import exposure_rows, run_exposure
from memaudit.studies.iclmem.run_metrics import DIMS, PROBED, SIGNALS, judge_run, score_changes, split_draws
from memaudit.workflow.job import run


def main(job):
    params = job.params.iclmem
    references = probe_results.references(_paths(job, "reference"))
    facts, nulls, changes, exposed = [], [], [], []
    for name, condition in steps(job.params.arms.items(), "conditions"):
        tuned = probe_results.join_shards(_paths(job, name))
        for dataset in dict.fromkeys(tuned.dataset.values):
            reference = _reference(references, dataset, condition["labels"], name)
            keys = {"dataset": dataset, "arm": name, **setting_summaries.describe(condition)}
            keys |= probe_results.table_facts(reference, condition["queries"])
            keys["trained_weights"] = tuned.attrs["trainable"]
            own = tuned.isel(target=tuned.dataset.values == dataset)
            judged = list(_judged(own, reference, condition["placebo"], job))
            facts += [keys | of_run for of_run, *_ in judged]
            changes += [change for *_, change, _ in judged]
            exposed += [permuted for *_, permuted in judged]
            nulls += [_null([arrays for _, arrays, *_ in judged], reference)] if judged else []
    runs = setting_summaries.apply_rules(pd.DataFrame(facts), params["rules"])
    write_table(runs, job.output.runs)
    estimates = setting_summaries.estimates(runs, params["fpr"])
    histograms = setting_summaries.score_histograms(runs, changes, params["bins"])
    exposures = exposure_rows(runs, exposed, PLANTED)
    write_table(tidy.frame([*estimates, *histograms, *exposures]), job.output.results)
    names = {name: ("run", runs[name].to_numpy()) for name in ("dataset", "arm", "split", "epoch")}
    null = xr.concat(nulls, "run", join="outer", data_vars="all").astype(np.float32)
    write_grid(null.assign_coords(**names, signal=list(SIGNALS), probe_signal=list(PROBED)), job.output.null)
    return {"seed": job.params.seed}


def _paths(job: Any, name: str) -> list[str]:
    if not (paths := job.input.get(name)):
        raise AuditError(f"iclmem: no input is called {name}; give {name}=PATH, or leave that condition out of `arms`")
    return several(paths)


def _reference(references: dict[tuple[str, str], xr.Dataset], dataset: str, labels: str, name: str) -> xr.Dataset:
    if (dataset, labels) not in references:
        raise AuditError(
            f"iclmem, condition {name}: no base model was probed on {dataset} with labels {labels}; give"
            " reference=PATH of these labels"
        )
    return references[dataset, labels]


def _judged(tuned: xr.Dataset, reference: xr.Dataset, control: bool, job: Any) -> Iterator[tuple[Any, ...]]:
    """Facts, arrays, dS and permuted exposures of every run of a condition on one data set."""
    sizes = {key: job.params.iclmem[key] for key in ("permutations", "replicates")}
    for split in map(int, tuned.split.values):
        of_split, base = tuned.sel(split=split), reference.sel(split=split)
        chosen = probe_results.places(of_split, base)
        draws = split_draws(base.id.values, base.pair.values, reference.dataset, split, seed=job.params.seed, **sizes)
        draws = draws.on(chosen)
        for epoch, run_signals in probe_results.runs(of_split, base.isel(target=chosen), control):
            facts, arrays = judge_run(run_signals, draws, tuple(job.params.iclmem["fpr"]))
            held_out = float(of_split.held_out.sel(epoch=epoch))
            exposures, permuted = run_exposure(run_signals, draws)
            about = {"split": split, "epoch": epoch, "held_out_loss": held_out}
            yield about | facts | exposures, arrays, score_changes(run_signals), permuted


def _null(arrays: list[dict[str, np.ndarray]], reference: xr.Dataset) -> xr.Dataset:
    # Manipulation and category in one name, since data sets may have different ones.
    pairs = zip(reference.category.values, reference.manipulation.values, strict=True)
    coordinates = {"manipulation": [f"{category}: {name}" for category, name in pairs]}
    return xr.Dataset(
        {name: (("run", *dims), np.stack([one[name] for one in arrays])) for name, dims in DIMS.items()}, coordinates
    )


if __name__ == "__main__":
    run(main, globals())
