"""Train classifiers on increasing numbers of combinations with a fixed number of texts (Table 12), and on combinations
of one tuning alone, and apply them.

python workflow_scripts/ltmia/measure_diversity.py --input rows=gpt2.npy rows=mamba2.npy \
    scores=gpt2.parquet scores=mamba2.parquet --output scores.parquet --params '{"seed": 1, "samples": 400,
        "combinations": [1, 3], "draws": 2, "training": [["gpt2", "scipy", "full"]],
        "held_out": [["mamba2", "numpy", "full"]], "validation": 0.1, "test": 0.1,
        "arm": "paper", "architecture": {"width": 64}, "fitting": {"epochs": 20, "batch": 128}}'

Inputs and settings as for `ltmia_train_attack`. Each number of combinations is drawn `draws` times, with equal numbers
of texts of each, `samples` in total, from portions of exact size: that there are enough is known from the config. Where
the training combinations have several tunings, each is a strength: as many combinations of each as the rarest has are
drawn likewise. Output: log-odds and the score of EZ-MIA of the test portion of the training combinations, and of all
texts of the held-out ones, by combinations, strength ("" for all tunings) and draw.
"""

import pandas as pd

from memaudit.attacks.learned_classifier import odds_of_rows
from memaudit.attacks.learned_training import Combination, settings_of, train
from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.common.job_inputs import several
from memaudit.models.model_folder import set_up
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.exact_portions import balanced_draw, exact_portions
from memaudit.studies.ltmia.target_combinations import TEXT, open_combinations
from memaudit.studies.ltmia.transfer_evaluation import EZ
from memaudit.workflow.job import run


def main(job):
    params = job.params
    device = set_up(job.threads)
    opened = open_combinations(several(job.input.rows), several(job.input.scores))
    named = [tuple(name) for name in params.training]
    others = {tuple(name): opened[tuple(name)] for name in params.held_out}
    tables = []
    for strength, names, count in pools(named, params.combinations):
        for draw in range(params.draws):
            rng = seeds.generator(params.seed, "ltmia", "diversity", *([strength] if strength else []), count, draw)
            chosen = [names[place] for place in sorted(rng.permutation(len(names))[:count])]
            classifier = fitted(params, {name: opened[name] for name in chosen}, rng, device)
            tested = dict(others)
            for name in chosen:
                table, rows = opened[name]
                place = exact_portions(table["id"], params.validation, params.test)["test"]
                tested[name] = table[place], rows[place]
            drawn = {"combinations": count, "strength": strength, "draw": draw}
            for table, rows in tested.values():
                tables.append(table[[*TEXT, EZ]].assign(**drawn, score=odds_of_rows(classifier, rows)))
    write_table(pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(), job.output[0])
    return {"seed": params.seed, "device": device, "dtype": "float32"}


def pools(named, counts):
    """What combinations are drawn from: strength, names and number to draw, of all tunings and of each alone."""
    yield from (("", named, count) for count in counts)
    by_tuning = {tuning: [name for name in named if name[2] == tuning] for *_, tuning in named}
    if counts and len(by_tuning) > 1:
        fewest = min(map(len, by_tuning.values()))
        yield from ((tuning, names, fewest) for tuning, names in by_tuning.items())


def fitted(params, chosen, rng, device):
    """A classifier trained on `samples` texts of these combinations, half of each members as far as there are some."""
    training, validation = [], []
    for name, (table, rows) in chosen.items():
        member = table["member"].to_numpy(dtype=bool)
        places = exact_portions(table["id"], params.validation, params.test)
        own = places["training"]
        try:
            drawn = own.start + balanced_draw(member[own], params.samples // len(chosen), rng)
        except AuditError as error:
            raise AuditError(f"ltmia/diversity/samples: {' '.join(name)} has {error}") from None
        training.append(Combination(" ".join(name), rows[drawn], member[drawn]))
        validation.append(Combination(" ".join(name), rows[places["validation"]], member[places["validation"]]))
    fitting = settings_of(params.arm, params.architecture, params.fitting)
    return train(training, validation, auc, params.seed, *fitting, device)


if __name__ == "__main__":
    run(main, globals())
