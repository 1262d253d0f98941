"""Train a classifier of texts on combinations of known membership, and apply it to other combinations.

python workflow_scripts/ltmia/train_attack.py --input rows=gpt2.npy scores=gpt2.parquet \
    other_rows=mamba2.npy other_scores=mamba2.parquet \
    --output weights=classifier.safetensors card=classifier.json scores=scores.parquet --params '{"seed": 1,
        "training": [["gpt2", "scipy", "full"]], "validation": 0.1, "test": 0.1, "arm": "paper", "seeds": 5,
        "shuffles": 0, "held_out": [["mamba2", "numpy", "full"]],
        "choice": {"folds": 3, "epochs": [2, 4], "weight_decay": [], "clamp": []}, "architecture": {"width": 64},
        "fitting": {"batch": 128}}'

Inputs: outputs of `ltmia_finetune_targets`, rows and scores in one order; other_*: of targets that train nothing, which
are read when everything is chosen and trained. A text belongs to training, validation or test by its id, in all
combinations of `training` alike. arm: preset `paper` or `repository`; architecture and fitting change the values that
they name; choice: values of which the best at left-out models and corpora of `training` is taken; seeds: classifiers
whose log-odds are averaged; shuffles: classifiers of shuffled labels, the null, which score `held_out` alone. Third
output: log-odds of membership of the test portion, and of all texts of other combinations: the mean, those of each
seed, and logits of each null; and the share of each text's features outside the range of the training. A killed job
goes on after the last classifier that it has trained.
"""

import pandas as pd

from memaudit.attacks.feature_range import FeatureRange
from memaudit.attacks.learned_classifier import from_bytes, odds_of_rows_by_seed, save, score_rows, to_bytes
from memaudit.attacks.learned_selection import Candidates, choose, train_seeds, train_shuffled
from memaudit.attacks.learned_training import Combination, settings_of
from memaudit.common.io import write_table
from memaudit.common.job_inputs import several
from memaudit.models.model_folder import set_up
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.target_combinations import open_combinations, portions
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    params = job.params
    device = set_up(job.threads)

    def keep(name, fit):
        return from_bytes(scratch.part(name, lambda: to_bytes(fit())), device)

    names = [tuple(name) for name in params.training]
    opened = open_combinations(several(job.input.rows), several(job.input.scores), names)
    parts = {name: divided(params, name, *opened[name]) for name in names}
    fitting = settings_of(params.arm, params.architecture, params.fitting)
    candidates = dict(params.choice)
    most = candidates.pop("folds")
    fitting, compared = choose(parts, Candidates(**candidates), fitting, most, auc, params.seed, device, keep)
    classifier = train_seeds(parts, fitting, params.seeds, auc, params.seed, device, keep)
    read = FeatureRange.of([training.rows for training, _ in parts.values()])
    classifier.facts |= {"compared": compared, "range": read.facts()}
    save(classifier, job.output[0], job.output[1])
    nulls = train_shuffled(parts, fitting, params.shuffles, auc, params.seed, device, keep)
    for path, scores in zip(several(job.input.other_rows), several(job.input.other_scores), strict=True):
        opened |= open_combinations([path], [scores])
    for name in names:
        table, rows = opened[name]
        place = portions(table["id"], params.validation, params.test)["test"]
        opened[name] = table[place], rows[place]
    tables = [
        table.assign(**scored(classifier, nulls if list(name) in params.held_out else [], rows)).assign(
            outside=read.outside_of_rows(rows)
        )
        for name, (table, rows) in opened.items()
    ]
    write_table(pd.concat(tables, ignore_index=True), job.output[2])
    for one in [*compared, classifier.facts["history"]]:
        print(one, flush=True)
    return {"seed": params.seed, "device": device, "dtype": "float32"}


def divided(params, name, table, rows):
    """Training and validation texts of a combination."""
    places, member = portions(table["id"], params.validation, params.test), table["member"].to_numpy(dtype=bool)
    return tuple(
        Combination(" ".join(name), rows[places[part]], member[places[part]]) for part in ("training", "validation")
    )


def scored(classifier, nulls, rows):
    """Scores of texts by column: mean log-odds over seeds, those of each seed, and the logits of each null."""
    odds = odds_of_rows_by_seed(classifier, rows)
    columns = {"score": odds.mean(1)} | {f"score seed {seed}": own for seed, own in enumerate(odds.T)}
    return columns | {f"shuffled {number}": score_rows(null, rows) for number, null in enumerate(nulls)}


if __name__ == "__main__":
    run(resumable(main), globals())
