"""Train classifiers on more and more combinations, with as many texts in all (Table 12), and apply them to others.

python workflow_scripts/ltmia/measure_diversity.py --input rows=gpt2.npy rows=mamba2.npy \
    scores=gpt2.parquet scores=mamba2.parquet --output scores.parquet --params '{"seed": 1, "samples": 400,
        "combinations": [1, 3], "draws": 2, "training": [["gpt2", "scipy", "full"]],
        "held_out": [["mamba2", "numpy", "full"]], "validation": 0.1, "test": 0.1,
        "arm": "paper", "architecture": {"width": 64}, "fitting": {"epochs": 20, "batch": 128}}'

Inputs and settings as for `ltmia_train_attack`. Each number of combinations is drawn `draws` times, and from each
combination as many texts as come to `samples` in all. Output: log-odds of the test portion of the combinations that
were trained on, and of all texts of the held-out ones.
"""

import numpy as np
import pandas as pd

from memaudit import seeds
from memaudit.attacks.learned_classifier import odds_of_rows
from memaudit.attacks.learned_training import Combination, settings_of, train
from memaudit.errors import AuditError
from memaudit.io import write_table
from memaudit.models.model_folder import set_up
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.target_combinations import TEXT, open_combinations, portions
from memaudit.workflow.job import run, several


def main(job):
    wanted = job.params
    device = set_up(job.threads)
    asked = open_combinations(several(job.input.rows), several(job.input.scores))
    named = [tuple(name) for name in wanted.training]
    others = {tuple(name): asked[tuple(name)] for name in wanted.held_out}
    found = []
    for count in wanted.combinations:
        for draw in range(wanted.draws):
            rng = seeds.generator(wanted.seed, "ltmia", "diversity", count, draw)
            chosen = [named[place] for place in sorted(rng.permutation(len(named))[:count])]
            classifier = fitted(wanted, {name: asked[name] for name in chosen}, rng, device)
            tested = others | {name: tested_part(wanted, *asked[name]) for name in chosen}
            for table, rows in tested.values():
                drawn = {"combinations": count, "draw": draw, "score": odds_of_rows(classifier, rows)}
                found.append(table[TEXT].assign(**drawn))
    write_table(pd.concat(found, ignore_index=True) if found else pd.DataFrame(), job.output[0])
    return {"seed": wanted.seed, "device": device, "dtype": "float32"}


def fitted(wanted, chosen, rng, device):
    """A classifier of `samples` texts of these combinations, half of each members."""
    training, validation = [], []
    each = wanted.samples // len(chosen) // 2
    for name, (table, rows) in chosen.items():
        member = table["member"].to_numpy(dtype=bool)
        places = portions(table["id"], wanted.validation, wanted.test)
        first = places["training"].start
        sides = [first + np.flatnonzero(member[places["training"]] == side) for side in (True, False)]
        if min(map(len, sides)) < each:
            raise AuditError(
                f"ltmia/diversity/samples: {' '.join(name)} has {min(map(len, sides))} members or non-members to train"
                f" on, {each} are wanted; ask for fewer samples"
            )
        drawn = np.sort(np.concatenate([rng.permutation(side)[:each] for side in sides]))
        training.append(Combination(" ".join(name), rows[drawn], member[drawn]))
        validation.append(Combination(" ".join(name), rows[places["validation"]], member[places["validation"]]))
    fitting = settings_of(wanted.arm, wanted.architecture, wanted.fitting)
    return train(training, validation, auc, wanted.seed, *fitting, device)


def tested_part(wanted, table, rows):
    place = portions(table["id"], wanted.validation, wanted.test)["test"]
    return table[place], rows[place]


if __name__ == "__main__":
    run(main, globals())
