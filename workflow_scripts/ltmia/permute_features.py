"""Apply the attack when a group of features is dealt to other texts (Figure 3): what it loses is what it had from them.

python workflow_scripts/ltmia/permute_features.py --input weights=classifier.safetensors card=classifier.json \
    rows=mamba2.npy scores=mamba2.parquet --output scores.parquet \
    --params '{"seed": 1, "combinations": [["mamba2", "numpy", "full"]], "repeats": 1, "texts": 200}'

Inputs: a classifier of `ltmia_train_attack`, and what `ltmia_finetune_targets` writes. Output: log-odds of the first
`texts` texts of each combination, by the group of features that was dealt (comparison, target, reference, or none) and
the repeat.
"""

import pandas as pd

from memaudit import seeds
from memaudit.attacks.learned_classifier import load, log_odds, permuted_odds
from memaudit.attacks.token_features import groups, unpack
from memaudit.io import write_table
from memaudit.models.model_folder import set_up
from memaudit.studies.ltmia.target_combinations import TEXT, channels_per_place, open_combinations
from memaudit.workflow.job import run, several


def main(job):
    wanted = job.params
    device = set_up(job.threads)
    classifier = load(job.input.weights, job.input.card, device)
    of_group = groups(channels_per_place(classifier.channels))
    asked = open_combinations(several(job.input.rows), several(job.input.scores))
    found = []
    for name in map(tuple, wanted.combinations):
        table, rows = (part[: wanted.texts] for part in asked[name])
        features = unpack(rows)
        found += [table[TEXT].assign(permuted="none", repeat=0, score=log_odds(classifier, features))]
        for repeat in range(wanted.repeats):
            rng = seeds.generator(wanted.seed, "ltmia", *name, "importance", repeat)
            dealt = permuted_odds(classifier, features, of_group, rng)
            found += [table[TEXT].assign(permuted=group, repeat=repeat, score=odds) for group, odds in dealt.items()]
    write_table(pd.concat(found, ignore_index=True), job.output[0])
    return {"seed": wanted.seed, "device": device, "dtype": "float32"}


if __name__ == "__main__":
    run(main, globals())
