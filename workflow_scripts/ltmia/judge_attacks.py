"""How well the learned attack and the baselines do on models and corpora that no classifier was trained on.

python workflow_scripts/ltmia/judge_attacks.py --input targets=mamba2.parquet facts=mamba2.json \
    corpora=corpora.parquet diversity=diversity.parquet permuted=permuted.parquet \
    classifiers=transformer.parquet classifiers=logistic.parquet \
    --output results=results.parquet roc=roc.parquet --params '{"seed": 1, "replicates": 200, "fpr": [0.01],
        "training": [["gpt2", "scipy", "full"]], "held_out": [["mamba2", "numpy", "full"]], "controls": {},
        "families": {"gpt2": "transformer", "mamba2": "state space"}, "contents": {"scipy": "text", "numpy": "code"},
        "ways": {"full": "full"}, "samples": 400, "classifiers": ["transformer", "logistic"], "published": []}'

Inputs: what `ltmia_finetune_targets`, `ltmia_prepare_corpora`, `ltmia_measure_diversity`, `ltmia_permute_features` and
`ltmia_train_attack` write. The first classifier is the attack. All attacks score the same texts. Corpora whose members
can be told without a model are left out of every mean. The key `source` tells "here" from "paper".
"""

import numpy as np
import pandas as pd

from memaudit import tidy
from memaudit.io import read_json, read_table, write_table
from memaudit.studies.ltmia.transfer_bootstrap import COMBINATION, STUDY, of_these
from memaudit.studies.ltmia.transfer_evaluation import ATTACK, Study, published_rows
from memaudit.workflow.job import run, several

SHOWN = ["loss", "ref_loss", "ez", ATTACK]  # as curves
POINTS = 31
KEY = [*COMBINATION, "id"]
TEXT = [*KEY, "member"]
GIVEN = ("training", "held_out", "controls", "families", "contents", "ways", "fpr", "replicates", "seed")


def main(job):
    wanted = job.params
    facts = {name: entry for path in several(job.input.facts) for name, entry in read_json(path).items()}
    scores, baselines = gathered(job)
    learnt = of_these(scores, wanted.training)
    sizes = {name.split(" ")[0]: entry["parameters"] for name, entry in facts.items()}
    given = {name: getattr(wanted, name) for name in GIVEN}
    study = Study(scores[~learnt], **given, unfit=unfit(job.input.corpora), sizes=sizes)
    rows = [*study.attacks([*baselines, ATTACK])]
    renamed = {ATTACK: wanted.classifiers[0]}
    study.held_out = study.held_out.assign(**{new: study.held_out[old] for old, new in renamed.items()})
    rows += study.classifiers(scores[learnt].rename(columns=renamed), wanted.classifiers)
    rows += study.diversity(read_table(job.input.diversity), wanted.training, wanted.samples)
    rows += study.importance(read_table(job.input.permuted), wanted.families)
    rows += [row for name, entry in facts.items() for row in guarantee(name, entry)]
    rows += [row for entry in wanted.published for row in published_rows(**entry)]
    write_table(tidy.frame(rows), job.output.results)
    fewest = (~study.held_out["member"].astype(bool)).groupby([study.held_out[key] for key in COMBINATION]).sum().min()
    curves = study.curves(SHOWN, np.geomspace(1 / fewest, 1, POINTS))
    write_table(tidy.frame(list(curves)), job.output.roc)
    return {"seed": wanted.seed}


def gathered(job):
    """Scores of all attacks, text by text, and baselines' names; of combinations that were trained on, the test's."""
    whole = pd.concat(map(read_table, several(job.input.targets)), ignore_index=True).drop(columns="tokens")
    baselines = [name for name in whole if name not in TEXT]
    names = [ATTACK, *job.params.classifiers[1:]]
    for name, path in zip(names, several(job.input.classifiers), strict=True):
        own = read_table(path, [*KEY, "score"]).rename(columns={"score": name})
        whole = whole.merge(own, on=KEY, validate="one_to_one")
    return whole, baselines


def unfit(path):
    """Corpora that do not pass the blind check."""
    table = tidy.expand(read_table(path))
    return table["dataset"][(table["metric"] == "fit for attacks") & (table["estimate"] == 0)].tolist()


def guarantee(name, facts):
    """The epsilon of a private target."""
    if facts.get("guarantee"):
        keys = dict(zip(COMBINATION, name.split(" "), strict=True)) | {"source": "here"}
        delta = facts["guarantee"]["delta"]
        yield tidy.row(STUDY, keys, "epsilon", facts["guarantee"]["epsilon"], unit="", method=f"delta {delta:g}")


if __name__ == "__main__":
    run(main, globals())
