"""Benchmark a small TabICL against scikit-learn's usual estimators on real tables, and write its model card.

python workflow_scripts/models/evaluate_tabicl.py --input resources/tabicl-small/{tabicl-small.ckpt,model.json} \
    --output benchmark.json README.md --params '{"csv_folder": "FOLDER", "seed": 0, "splits": 5, "rows": 1000}'

Params: csv_folder holds NAME.csv.gz of the tables in memaudit.models.tabicl_benchmark, last column the target; of each
at most `rows` rows are sampled.
"""

from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from memaudit.common.io import read_json, replacing, write_json
from memaudit.models.model_cards import tabicl_card
from memaudit.models.tabicl import TabICLBranch
from memaudit.models.tabicl_benchmark import classifiers, compare, real_tables, regressors
from memaudit.statistics.benchmark_scores import macro_auc, r_squared
from memaudit.workflow.job import run

AUC = "area under the ROC curve; several classes: mean of one against the rest"
METRICS = {
    "classification": ("auc", classifiers, macro_auc, AUC),
    "regression": ("r2", regressors, r_squared, "coefficient of determination of the predicted mean"),
}


@torch.no_grad()
def main(job):
    torch.set_num_threads(1)
    params, (checkpoint, path) = job.params, job.input[:2]
    facts = read_json(path)
    key, methods, score, meaning = METRICS[facts["task"]]
    card_of = {"task": facts["task"], "version": None, "options": {"clip": facts["clip"]}}
    predictors = methods(TabICLBranch.of_file(Path(checkpoint), card_of, "cpu"), checkpoint, params.seed)
    data = {}
    for name, x, y in real_tables(facts["task"], params.csv_folder):
        scores = compare(name, x, y, predictors, score, params)
        data[name] = {"rows": min(len(x), params.rows), "features": x.shape[1], key: scores}
        if facts["task"] == "classification":
            data[name]["classes"] = int(y.nunique())
        print(name, {method: round(float(np.mean(values)), 3) for method, values in scores.items()}, flush=True)
    mean = {name: round(float(np.mean([entry[key][name] for entry in data.values()])), 6) for name in predictors}
    benchmark = {
        "data": data,
        f"mean_{key}": mean,
        "metric": meaning,
        "splits": params.splits,
        "seed": params.seed,
        "checkpoint_sha256": facts["sha256"],
        "versions": {name: version(name) for name in ("torch", "tabicl", "numpy", "pandas", "scikit-learn")},
    }
    write_json(benchmark, job.output[0])
    with replacing(job.output[1]) as temporary:
        # Read back: the card must be the text that the files give.
        temporary.write_text(tabicl_card(facts, read_json(job.output[0]), Path(checkpoint).stem), encoding="utf-8")


if __name__ == "__main__":
    run(main, globals())
