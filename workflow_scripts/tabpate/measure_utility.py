"""Measure the utility of PATE students: accuracy or error on test records, and differences from no privacy.

python workflow_scripts/tabpate/measure_utility.py --input answers=students.nc answers=answers-0.nc \
    records=records.parquet public=config/public/wine.yaml --output utility.parquet --wildcards '{"dataset": "wine"}' \
    --params '{"seed": 1, "replicates": 200, "arms": {"as_published": {"method": "tabpate"}}}'

Each private condition is compared with `as_published` at the same epsilon, and with `non_private`, on the same test
records. `majority`, for a number target `mean`, predicts the most frequent class, or the mean, of the records not
tested: a baseline without privacy that any model should exceed.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from memaudit.common import seeds, tidy
from memaudit.common.constant_students import CONSTANT as CONSTANT_STUDENTS
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, read_table, write_table
from memaudit.common.job_inputs import several
from memaudit.data.membership_matrices import unit_codes
from memaudit.privacy.public_facts import read_facts
from memaudit.statistics.attack_performance import rows
from memaudit.studies.tabpate import student_utility
from memaudit.studies.tabpate.student_utility import NO_ANSWER, STUDY, Scores, Trial
from memaudit.workflow.job import run

# Conditions that the paper's claims compare, beside `as_published` and `non_private`, at the same epsilon.
ALSO = {"class_moments_shared": ["prompt_pate"], "prompt_pate": ["published_moments"]}
# Methods whose students are taught by labels that the budget pays for.
TAUGHT = ("tabpate", "tabpate-tuned", "prompt-pate")
CONSTANT = {"classification": ("majority", "majority class"), "regression": ("mean", "mean")}


def main(job):
    facts, grid = read_facts(job.input.public), _gathered(job.input.answers)
    records = read_table(job.input.records).set_index("id").loc[grid.record.values]
    trial = _trial(job, grid, records, facts)
    results, scores = [], {}
    for (condition, epsilon), places in pd.DataFrame({"arm": grid.arm.values, "epsilon": grid.epsilon.values}).groupby(
        ["arm", "epsilon"]
    ):
        one, approach = grid.isel(release=places.index), "non-private"
        if np.isfinite(epsilon):
            approach = job.params.arms[condition]["method"]
        keys = _keys(job, condition, approach, epsilon)
        predicted = _predicted(one, facts.task)
        scores[condition, epsilon] = keys, trial.scores(predicted, one.repeat.values)
        useless = trial.constant(predicted, one.repeat.values) | _untaught(one, approach, facts)
        results.append(_constant_students(keys, useless))
        results += [*rows(STUDY, keys, student_utility.estimates(scores[condition, epsilon][1])), *_counts(one, keys)]
    constant = trial.scores(trial.guesses(), range(len(trial.tested)))
    results += rows(STUDY, _keys(job, *CONSTANT[facts.task], np.inf), student_utility.estimates(constant))
    results += _differences(scores)
    write_table(tidy.frame(results), job.output[0])
    return {"seed": job.params.seed}


def _keys(job, condition: str, approach: str, epsilon: float) -> dict[str, str]:
    return {"dataset": job.wildcards.dataset, "arm": condition, "approach": approach, "epsilon": f"{epsilon:g}"}


def _gathered(paths: str | list[str]) -> xr.Dataset:
    """All answers as one grid; `agreement` is NaN for releases without a context."""
    grids = [read_grid(path) for path in several(paths)]
    empty = [grid if "agreement" in grid else grid.assign(agreement=grid.asked * np.nan) for grid in grids]
    return xr.concat(empty, "release", data_vars="minimal", coords="minimal", combine_attrs="drop")


def _trial(job, grid: xr.Dataset, records: pd.DataFrame, facts) -> Trial:
    """Test records of each repeat. Raises AuditError where a release has no answers to some of them."""
    missing = np.isnan(grid.answers.values)
    answered = ~(missing.any(-1) if facts.task == "classification" else missing)
    tested = np.array([answered[grid.repeat.values == repeat].any(0) for repeat in range(int(grid.repeat.max()) + 1)])
    if (short := (answered != tested[grid.repeat.values]).any(1)).any():
        condition, epsilon, repeat = (grid[name].values[short.argmax()] for name in ("arm", "epsilon", "repeat"))
        where = (
            f"tabpate, data set {job.wildcards.dataset}, condition {condition}, epsilon {epsilon:g}, repeat {repeat}"
        )
        raise AuditError(f"{where}: answers are missing or NaN, where other conditions have some; rerun it")
    if facts.task == "regression":
        truth = records["target"].to_numpy(dtype=np.float64)
    else:
        truth = pd.Index(facts.target, dtype="str").get_indexer(records["target"])
    rng = seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "utility")
    options = {"groups": unit_codes(records), "replicates": job.params.replicates}
    return student_utility.trial(facts.task, truth, tested, rng=rng, **options)


def _predicted(grid: xr.Dataset, task: str) -> np.ndarray:
    """Predicted classes (repeat, record), the first of tied ones, `NO_ANSWER` without an answer; or numbers."""
    answers = grid.answers.values
    if task == "regression":
        return answers.astype(np.float64)
    return np.where(np.isneginf(answers).all(-1), NO_ANSWER, np.nan_to_num(answers, nan=-np.inf).argmax(-1))


def _counts(grid: xr.Dataset, keys: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Means over repeats: queries asked and answered, and agreement of the labels with those without privacy."""
    if np.isinf(grid.epsilon.values).any():
        return
    for name in ("asked", "answered"):
        yield tidy.row(STUDY, keys, name, grid[name].mean(), unit="records", n=grid.sizes["release"])
    agreement = grid.agreement.values[~np.isnan(grid.agreement.values)]
    if len(agreement):
        yield tidy.row(STUDY, keys, "agreement", agreement.mean(), n=len(agreement), method="mean over repeats")


def _untaught(grid: xr.Dataset, approach: str, facts) -> NDArray[np.bool_]:
    """(repeat,) whether a context has fewer labels than the target has classes; for a number target, fewer than two."""
    least = len(facts.target) if facts.task == "classification" else 2
    return (grid.answered.values < least) & (approach in TAUGHT)


def _constant_students(keys: dict[str, Any], constant: NDArray[np.bool_]) -> dict[str, Any]:
    method = "repeats whose student is constant or was taught fewer labels than classes"
    return tidy.row(STUDY, keys, CONSTANT_STUDENTS, constant.sum(), unit="repeats", n=len(constant), method=method)


def _differences(scores: dict[tuple[str, float], tuple[dict, Scores]]) -> Iterator[dict[str, Any]]:
    for (condition, epsilon), (keys, changed) in scores.items():
        also = [(other, epsilon) for other in ALSO.get(condition, [])]
        for other in (("as_published", epsilon), ("non_private", np.inf), *also):
            if np.isfinite(epsilon) and condition != other[0] and other in scores:
                named = keys | {"arm": f"{condition} - {other[0]}"}
                yield from rows(STUDY, named, student_utility.differences(changed, scores[other][1]))


if __name__ == "__main__":
    run(main, globals())
