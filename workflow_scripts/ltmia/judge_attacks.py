"""Evaluate the learned attack and the baselines on models and corpora that no classifier was trained on.

python workflow_scripts/ltmia/judge_attacks.py --input targets=mamba2.parquet facts=mamba2.json \
    bases=mamba2/training.json texts=texts.parquet \
    classifiers=transformer.parquet classifiers=logistic.parquet \
    --output results=results.parquet roc=roc.parquet --params '{"seed": 1, "replicates": 200, "fpr": [0.01],
        "models": ["mamba2"], "training": [["gpt2", "scipy", "full"]], "held_out": [["mamba2", "numpy", "full"]],
        "controls": {}, "families": {"gpt2": "transformer", "mamba2": "state space"}, "ways": {"full": "full"},
        "contents": {"scipy": "text", "numpy": "code"}, "classifiers": ["transformer", "logistic"],
        "size": {"combinations to learn from": 1}, "published": []}'

Inputs: what `ltmia_finetune_targets`, `ltmia_prepare_corpora` and `ltmia_train_attack` write; bases: of `models`, by
`ltmia_prepare_model`. The first classifier is the attack. All attacks score the same texts. Targets whose own
membership a classifier of texts alone predicts, or predicts in reverse, are left out of every mean. size: numbers of
the run that stand beside the paper's. The key `source` is "here" or "paper".
"""

import numpy as np
import pandas as pd

from memaudit.common import tidy, transfer_setting
from memaudit.common.io import read_json, read_table, write_table
from memaudit.common.job_inputs import several
from memaudit.statistics.dataset_means import published
from memaudit.studies.ltmia.base_model_rows import base_model_rows
from memaudit.studies.ltmia.blind_checks import blind_checks, blind_rows, unfit
from memaudit.studies.ltmia.null_controls import null_controls, null_rows
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION, STUDY, is_combination
from memaudit.studies.ltmia.transfer_evaluation import ATTACK, NULL, Study
from memaudit.workflow.job import run

CURVES = ["loss", "ref_loss", "ez", ATTACK]
POINTS = 31
KEY = [*COMBINATION, "id"]
TEXT = [*KEY, "member"]
GIVEN = ("training", "held_out", "controls", "families", "contents", "ways", "fpr", "replicates", "seed")


def main(job):
    params = job.params
    facts = {name: entry for path in several(job.input.facts) for name, entry in read_json(path).items()}
    scores, baselines = gathered(job)
    in_training = is_combination(scores, params.training)
    sizes = {name.split(" ")[0]: entry["parameters"] for name, entry in facts.items()}
    given = {name: getattr(params, name) for name in GIVEN}
    checks = blind_checks(memberships(job), read_table(job.input.texts, ["dataset", "id", "text"]), params.seed)
    study = Study(scores[~in_training], **given, unfit=unfit(checks), sizes=sizes)
    attacks, nulls = [*baselines, ATTACK], null_controls(params.controls, params.ways)
    rows = [*blind_rows(checks), *null_rows(scores, attacks, nulls, params.seed)]
    rows += [*study.attacks(attacks), *study.shuffled_training()]
    study.held_out, tested = (renamed(part, params.classifiers[0]) for part in (study.held_out, scores[in_training]))
    rows += study.classifiers(tested, params.classifiers)
    rows += [row for name, entry in facts.items() for row in guarantee(name, entry)]
    bases = dict(zip(params.models, map(read_json, several(job.input.bases)), strict=True))
    parameters = {name: entry["parameters"] for name, entry in bases.items()}
    made_here = [name for name, entry in bases.items() if "losses" in entry]
    rows += base_model_rows(bases)
    rows += transfer_setting.rows(params.size | transfer_setting.base_numbers(parameters, made_here))
    rows += published(STUDY, params.published, tidy.frame(rows), several="attack")
    write_table(tidy.frame(rows), job.output.results)
    fewest = (~study.held_out["member"].astype(bool)).groupby([study.held_out[key] for key in COMBINATION]).sum().min()
    study.held_out = study.held_out.rename(columns={params.classifiers[0]: ATTACK})
    curves = study.curves(CURVES, np.geomspace(1 / fewest, 1, POINTS))
    write_table(tidy.frame(list(curves)), job.output.roc)
    return {"seed": params.seed}


def gathered(job):
    """Scores of all attacks, text by text, and the baselines' names; of training combinations the test portion only."""
    whole = pd.concat(map(read_table, several(job.input.targets)), ignore_index=True).drop(columns="tokens")
    baselines = [name for name in whole if name not in TEXT]
    names = [ATTACK, *job.params.classifiers[1:]]
    for name, path in zip(names, several(job.input.classifiers), strict=True):
        own = read_table(path)
        nulls = [column for column in own if column.startswith(NULL) and name == ATTACK]
        scores = {column: name + column.removeprefix("score") for column in own if column.startswith("score")}
        own = own[[*KEY, *scores, *nulls]].rename(columns=scores)
        whole = whole.merge(own, on=KEY, validate="one_to_one")
    return whole, baselines


def memberships(job):
    """Members and non-members of every target, those of training among them."""
    return pd.concat([read_table(path, TEXT) for path in several(job.input.targets)], ignore_index=True)


def renamed(table, classifier):
    """The table with the attack's scores, those of its seeds too, under the name of its classifier."""
    return table.rename(
        columns=lambda name: classifier + name.removeprefix(ATTACK) if name.startswith(ATTACK) else name
    )


def guarantee(name, facts):
    """Tidy row of the epsilon of a private target."""
    if facts.get("guarantee"):
        keys = dict(zip(COMBINATION, name.split(" "), strict=True)) | {"source": "here"}
        delta = facts["guarantee"]["delta"]
        yield tidy.row(STUDY, keys, "epsilon", facts["guarantee"]["epsilon"], unit="", method=f"delta {delta:g}")


if __name__ == "__main__":
    run(main, globals())
