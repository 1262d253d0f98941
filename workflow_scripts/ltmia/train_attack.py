"""Train a classifier of texts on combinations of known membership, and apply it to other combinations.

python workflow_scripts/ltmia/train_attack.py --input rows=gpt2.npy rows=mamba2.npy \
    scores=gpt2.parquet scores=mamba2.parquet \
    --output weights=classifier.safetensors card=classifier.json scores=scores.parquet --params '{"seed": 1,
        "training": [["gpt2", "scipy", "full"]], "validation": 0.1, "test": 0.1, "arm": "paper",
        "architecture": {"width": 64}, "fitting": {"epochs": 20, "batch": 128}}'

Inputs: outputs of `ltmia_finetune_targets`, rows and scores in one order. A text belongs to training, validation or
test by its id, in all combinations of `training` alike. arm: preset `paper` or `repository`; architecture and fitting
change the values that they name. Third output: log-odds of membership of the test portion, and of all texts of other
combinations, and the share of each text's features outside the range of the training.
"""

import pandas as pd

from memaudit.attacks.feature_range import FeatureRange
from memaudit.attacks.learned_classifier import odds_of_rows, save
from memaudit.attacks.learned_training import Combination, settings_of, train
from memaudit.common.io import write_table
from memaudit.common.job_inputs import several
from memaudit.models.model_folder import set_up
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.target_combinations import open_combinations, portions
from memaudit.workflow.job import run


def main(job):
    params = job.params
    device = set_up(job.threads)
    opened = open_combinations(several(job.input.rows), several(job.input.scores))
    training, validation = [], []
    for name in map(tuple, params.training):
        table, rows = opened[name]
        places = portions(table["id"], params.validation, params.test)
        member = table["member"].to_numpy(dtype=bool)
        for part, place in ((training, places["training"]), (validation, places["validation"])):
            part.append(Combination(" ".join(name), rows[place], member[place]))
        opened[name] = table[places["test"]], rows[places["test"]]
    fitting = settings_of(params.arm, params.architecture, params.fitting)
    classifier = train(training, validation, auc, params.seed, *fitting, device)
    read = FeatureRange.of([one.rows for one in training])
    classifier.facts["range"] = read.facts()
    save(classifier, job.output.weights, job.output.card)
    tables = [
        table.assign(score=odds_of_rows(classifier, rows), outside=read.outside_of_rows(rows))
        for table, rows in opened.values()
    ]
    write_table(pd.concat(tables, ignore_index=True), job.output.scores)
    print(classifier.facts["history"], flush=True)
    return {"seed": params.seed, "device": device, "dtype": "float32"}


if __name__ == "__main__":
    run(main, globals())
