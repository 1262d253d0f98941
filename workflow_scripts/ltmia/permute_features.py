"""Apply the attack with a group of features permuted among texts (Figure 3); the loss of AUC is the group's importance.

python workflow_scripts/ltmia/permute_features.py --input weights=classifier.safetensors card=classifier.json \
    rows=mamba2.npy scores=mamba2.parquet --output scores.parquet \
    --params '{"seed": 1, "combinations": [["mamba2", "numpy", "full"]], "repeats": 1, "texts": 200}'

Inputs: a classifier of `ltmia_train_attack`, and outputs of `ltmia_finetune_targets`. Output: log-odds of the first
`texts` texts of each combination, by the permuted group of features (comparison, target, reference, or none) and the
repeat.
"""

import pandas as pd

from memaudit.attacks.learned_classifier import load, log_odds, permuted_odds
from memaudit.attacks.token_features import groups, unpack
from memaudit.common import seeds
from memaudit.common.io import write_table
from memaudit.common.job_inputs import several
from memaudit.models.model_folder import set_up
from memaudit.studies.ltmia.target_combinations import TEXT, channels_per_place, open_combinations
from memaudit.workflow.job import run


def main(job):
    params = job.params
    device = set_up(job.threads)
    classifier = load(job.input.weights, job.input.card, device)
    of_group = groups(channels_per_place(classifier.channels))
    opened = open_combinations(several(job.input.rows), several(job.input.scores))
    tables = []
    for name in map(tuple, params.combinations):
        table, rows = (part[: params.texts] for part in opened[name])
        features = unpack(rows)
        tables += [table[TEXT].assign(permuted="none", repeat=0, score=log_odds(classifier, features))]
        for repeat in range(params.repeats):
            rng = seeds.generator(params.seed, "ltmia", *name, "importance", repeat)
            permuted = permuted_odds(classifier, features, of_group, rng)
            for group, odds in permuted.items():
                tables += [table[TEXT].assign(permuted=group, repeat=repeat, score=odds)]
    write_table(pd.concat(tables, ignore_index=True), job.output[0])
    return {"seed": params.seed, "device": device, "dtype": "float32"}


if __name__ == "__main__":
    run(main, globals())
