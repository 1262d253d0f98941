"""Tune the settings of every private method for each epsilon and task on public tables that no run reports on.

python workflow_scripts/maintenance/tune_tabpate.py --output config/tabpate_settings.json \
    --params '{"epsilons": [1.0, 10.0], "delta": 1e-5, "records": 1000, "repeats": 5, "only": [], "force": false}'

records: of each synthetic table. The noise has no seed. The file has, by arm, task and epsilon, the settings chosen and
the mean scores of all candidates. It is written after every arm: an interrupted run goes on where it ended, and an arm
is tuned again where its candidates have changed. All arms have the same effort, so that other records, repeats or delta
need `force`, which tunes all of them anew.
"""

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from pydantic import TypeAdapter

from memaudit.common.compared_arms import compared_arms
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.common.progress_bar import steps
from memaudit.common.project_paths import PROJECT
from memaudit.common.resumable_measurements import resume
from memaudit.config.tabpate_arms import Method
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.privacy.pate_teachers import predictor
from memaudit.studies.tabpate import synthesizer_tuning
from memaudit.studies.tabpate.settings_tuning import CANDIDATES, GRIDS, best, score
from memaudit.studies.tabpate.shadow_students import CachedPredictions
from memaudit.studies.tabpate.tuning_tables import TABLES, tuning_table
from memaudit.workflow.job import Paths, run
from memaudit.workflow.synthesizer_environment import handed_over

REGRESSION_CARD = {"task": "regression", "version": None, "options": {"clip": 6.0}}
SYNTHESIZERS = ("aim", "mst")


def main(job):
    params, path = job.params, Path(job.output[0])
    effort = {"candidates": CANDIDATES, "tables": {task: list(names) for task, names in TABLES.items()}}
    effort |= {key: getattr(params, key) for key in ("records", "repeats", "delta")}
    force = getattr(params, "force", False)
    if path.exists() and read_json(path)["effort"] != effort:
        if not force:
            raise AuditError(f"{path}: tuned with other records, repeats, delta or tables; tune all anew by `force`")
        path.unlink()
    arms = _arms()
    resume(
        path,
        "arms",
        GRIDS,
        lambda name: _tuned(name, arms[name], params),
        lambda name, known: _is_current(known, GRIDS[name], _epsilons(arms[name], params)),
        only=getattr(params, "only", []),
        force=force,
        facts={"effort": effort},
    )
    return {"seed": 0, "device": "cpu", "dtype": "float32"}


def _arms():
    """Arms that are tuned, with the defaults of their settings."""
    arms = compared_arms()
    return {name: TypeAdapter(Method).validate_python(arms[name]).model_dump() for name in GRIDS}


def _epsilons(arm, params):
    """Epsilons at which an arm is compared: its own, or all."""
    return arm["epsilons"] or params.epsilons


def _is_current(known, grids, epsilons):
    """Whether the arm was tuned with these candidates at these epsilons."""
    return all(
        known.get(task, {}).get(f"{epsilon:g}", {}).get("candidates") == grid
        for task, grid in grids.items()
        for epsilon in epsilons
    )


def _tuned(name, arm, params):
    """Chosen settings, candidates and their mean scores of an arm, by task and epsilon."""
    before, tuned, epsilons = _cpu_seconds(), {}, _epsilons(arm, params)
    for task, grid in GRIDS[name].items():
        of_candidates = [
            _scores(_tables(task, params.records), arm | {"settings": arm["settings"] | candidate}, epsilons, params)
            for candidate in steps(grid, f"{name}, {task}")
        ]
        tuned[task] = {
            f"{epsilon:g}": _chosen(grid, scores)
            for epsilon, scores in zip(epsilons, zip(*of_candidates, strict=True), strict=True)
        }
        print(name, task, {epsilon: one["settings"] for epsilon, one in tuned[task].items()}, flush=True)
    return tuned | {"cpu_seconds": round(_cpu_seconds() - before)}


def _scores(tables, entry, epsilons, params):
    """Scores (epsilon, table and repeat) of one candidate."""
    if entry["method"] in SYNTHESIZERS:
        return synthesizer_tuning.scores(tables, entry, epsilons, params.delta, params.repeats, _synthesized)
    return [
        [
            score(table, entry, epsilon, params.delta, repeat, predict)
            for table, predict in tables
            for repeat in range(params.repeats)
        ]
        for epsilon in epsilons
    ]


def _chosen(grid, scores):
    means = [round(sum(each) / len(each), 4) for each in scores]
    return {"settings": grid[best(scores)], "candidates": grid, "scores": means}


def _synthesized(samples):
    """Synthetic codes of samples, made in the environment of the synthesizers."""
    with TemporaryDirectory() as folder:
        given, made = Path(folder, "samples.json"), Path(folder, "synthetic.json")
        write_json(samples, given)
        files = {"input": Paths([f"samples={given}"]), "output": [made]}
        job = SimpleNamespace(**files, params={"code": "by hand"}, wildcards={})
        handed_over(job, str(Path(__file__).with_name("synthesize_samples.py")), ("samples",))
        return read_json(made)


def _cpu_seconds():
    """CPU seconds of this process and of the jobs that it has waited for."""
    return sum(os.times()[:4])


@cache
def _tables(task, records):
    """Tuning tables of a task with the model's predictions, which serve all methods, candidates and epsilons."""
    tables = [tuning_table(name, records, seed=0) for name in TABLES[task]]
    return [(table, CachedPredictions(predictor(_model(task), table.classes))) for table in tables]


def _model(task):
    if task == "classification":
        return TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu")
    folder = PROJECT / "resources/tabicl-small-regression"
    return TabICLBranch.of_file(folder / f"{folder.name}.ckpt", REGRESSION_CARD, "cpu")


if __name__ == "__main__":
    run(main, globals())
