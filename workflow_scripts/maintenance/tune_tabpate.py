"""Tune the settings of every private method for each epsilon and task on public tables that no run reports on.

python workflow_scripts/maintenance/tune_tabpate.py --output config/tabpate_settings.json \
    --params '{"epsilons": [1.0, 10.0], "delta": 1e-5, "records": 800, "repeats": 1}'

records: of each synthetic table; a larger run has more of them and more repeats, such as 5000 and 5. The noise has no
seed. The file has, by arm, task and epsilon, the settings chosen and the mean scores of all candidates.
"""

import yaml

from memaudit.common.io import write_json
from memaudit.common.progress_bar import steps
from memaudit.common.project_paths import PROJECT
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.privacy.pate_teachers import predictor
from memaudit.studies.tabpate.settings_tuning import CANDIDATES, GRIDS, best, score
from memaudit.studies.tabpate.shadow_students import CachedPredictions
from memaudit.studies.tabpate.tuning_tables import TABLES, tuning_table
from memaudit.workflow.job import run

REGRESSION_CARD = {"task": "regression", "version": None, "options": {"clip": 6.0}}


def main(job):
    params, tuned = job.params, {}
    arms = yaml.safe_load((PROJECT / "config/config.yaml").read_text(encoding="utf-8"))["tabpate"]["arms"]
    for task, names in TABLES.items():
        tables = [tuning_table(name, params.records, seed=0) for name in names]
        # Predictions of the same contexts for the same queries serve all methods, candidates and epsilons.
        predicts = [CachedPredictions(predictor(_model(task), table.classes)) for table in tables]
        for arm, grids in steps(GRIDS.items(), f"methods, {task}"):
            found = _tuned(arms[arm], grids[task], list(zip(tables, predicts, strict=True)), params)
            tuned.setdefault(arm, {})[task] = found
            print(arm, task, {epsilon: one["settings"] for epsilon, one in found.items()}, flush=True)
    effort = {"candidates": CANDIDATES, "tables": TABLES, "records": params.records, "repeats": params.repeats}
    write_json({"effort": effort | {"delta": params.delta}, "arms": tuned}, job.output[0])
    return {"seed": 0, "device": "cpu", "dtype": "float32"}


def _tuned(arm, grid, tables, params):
    """Chosen settings, candidates and their mean scores at each epsilon."""
    found = {}
    for epsilon in params.epsilons:
        scores = []
        for candidate in grid:
            entry = {"method": arm["method"], "held_out": arm.get("held_out", False)}
            entry["settings"] = arm["settings"] | candidate
            scores.append([
                score(table, entry, epsilon, params.delta, repeat, predict)
                for table, predict in tables
                for repeat in range(params.repeats)
            ])  # fmt: skip
        means = [round(sum(each) / len(each), 4) for each in scores]
        found[f"{epsilon:g}"] = {"settings": grid[best(scores)], "candidates": grid, "scores": means}
    return found


def _model(task):
    if task == "classification":
        return TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu")
    folder = PROJECT / "resources/tabicl-small-regression"
    return TabICLBranch.of_file(folder / f"{folder.name}.ckpt", REGRESSION_CARD, "cpu")


if __name__ == "__main__":
    run(main, globals())
