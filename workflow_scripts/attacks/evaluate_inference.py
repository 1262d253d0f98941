"""Infer a hidden attribute, the presence of a corpus, and the share of a property from the same shadow contexts.

python workflow_scripts/attacks/evaluate_inference.py --input main=main.nc settings=settings.nc attribute=attribute.nc \
    --output tidy=inference.parquet roc=inference_roc.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "attacks": {"sets": 128, "fpr": [0.05, 0.01], "replicates": 200, "permutations": 39,
        "inference": {"corpora": [10, 30, 100], "trials": 200}}}'

An input may be several shards. Corpora larger than the IN or the OUT records of some context are left out. A curve
is of the members for the column, of the smallest corpus for the presence. Tables without a variant `shares` in
`settings` have no property inference.
"""

from collections.abc import Iterator

import numpy as np

from memaudit.attacks import attribute_inference
from memaudit.attacks.score_matrices import confidence, of_input, variant
from memaudit.common import seeds, tidy
from memaudit.common.io import write_table
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.attack_performance import ROC_FPRS, curve_rows, judge_options, roc_band, rows
from memaudit.studies.attacks import attribute_inference_results as columns
from memaudit.studies.attacks import dataset_inference, property_inference
from memaudit.workflow.job import run


def main(job):
    results, curves = [], []
    for question, evaluate in {"attribute": _attribute, "data set": _corpora, "property": _property}.items():
        rng = seeds.generator(job.params.seed, "attacks", job.wildcards.dataset, "inference", question)
        keys = {"dataset": job.wildcards.dataset, "question": question}
        for found, estimates, *curve in evaluate(job, job.params.attacks, rng):
            results += rows("attacks", keys | found, estimates)
            print(f"{question}, {found}: {estimates[0].metric} {estimates[0].estimate:.3f}", flush=True)
            if curve:
                method = estimates[-1].method.partition(", FPR")[0]
                curves += curve_rows("attacks", keys, ROC_FPRS, *curve, method)
    write_table(tidy.frame(results), job.output.tidy)
    write_table(tidy.frame(curves), job.output.roc)
    return {"seed": job.params.seed}


def _attribute(job, settings: dict, rng: np.random.Generator) -> Iterator[tuple]:
    grid = of_input(job, "attribute")
    posterior = attribute_inference.scores(grid.logits.values, grid.label.values, grid.bin.values, grid.prior.values)
    predicted = columns.guesses(posterior, grid.truth.values, np.bincount(grid.bin.values, grid.prior.values))
    sampled = {"rng": rng, "groups": grid.unit.values, "replicates": settings["replicates"]}
    membership = grid.design.values
    options = judge_options(settings) | sampled | {"scheme": Scheme.of(grid.attrs)}
    judged = columns.judge_attribute(predicted, membership, **options)
    for cells, estimates in judged.items():
        if cells != "members":
            yield {"cells": cells}, estimates
            continue
        band = columns.band(predicted, membership, ROC_FPRS, **sampled)
        yield {"cells": cells}, estimates, band, predicted.positive[np.nonzero(membership)[1]]


def _corpora(job, settings: dict, rng: np.random.Generator) -> Iterator[tuple]:
    grid = of_input(job, "main")
    usual = variant(grid, grid.variant.values[0]).isel(model=slice(settings["sets"]))
    members, public = (usual.isel(record=side) for side in (usual.member.values, ~usual.member.values))
    signals, membership, units = confidence(members), members.design.values, members.unit.values
    # Records of one unit are not independent: one record per unit.
    others = confidence(public)[:, np.unique(public.unit.values, return_index=True)[1]]
    inference, replicates = settings["inference"], settings["replicates"]
    for records in sorted(inference["corpora"]):
        if records > dataset_inference.largest_corpus(membership, units):
            print(f"data set: a corpus of {records} records is larger than the members or non-members of a context")
            continue
        drawn = {"records": records, "trials": inference["trials"], "rng": rng, "groups": units}
        redrawn = {"permutations": settings["permutations"], "scheme": Scheme.of(grid.attrs)}
        p_values, inside = observed = dataset_inference.p_values(signals, membership, others, **drawn)
        null = dataset_inference.corpora_null(
            signals, membership, others, observed, fprs=settings["fpr"], **redrawn, **drawn
        )
        estimates = dataset_inference.judge_corpora(
            p_values, inside, fprs=settings["fpr"], rng=rng, replicates=replicates, null=null
        )
        if records > min(inference["corpora"]):
            yield {"corpus": records}, estimates
            continue
        together = dataset_inference.one_group(p_values)
        band = roc_band(-p_values, inside, ROC_FPRS, rng=rng, groups=together, replicates=replicates)
        yield {"corpus": records}, estimates, band, inside


def _property(job, settings: dict, rng: np.random.Generator) -> Iterator[tuple]:
    grid = of_input(job, "settings") if job.input.get("settings") else None
    names = [] if grid is None else [name for name in grid.variant.values if "shares" in name.split()]
    if not names:
        print("property: no variant has `shares`, so no property is inferred")
        return
    sets = variant(grid, names[0])
    answers, second_share = confidence(sets), sets.shown.values
    estimates, band = property_inference.judge_property(answers, second_share, rng=rng, **judge_options(settings))
    yield {"variant": str(names[0])}, estimates, band, second_share


if __name__ == "__main__":
    run(main, globals())
