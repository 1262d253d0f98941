"""Fine-tune one base model on the members of corpora, and score all texts with each target and its base.

python workflow_scripts/ltmia/finetune_targets.py --input texts=texts.parquet base=base \
    --output targets.npy targets.parquet targets.json --wildcards '{"model": "gpt2"}' \
    --params '{"seed": 1, "length": 64, "targets": [["scipy", "full"]], "fixed": [],
        "tunings": {"full": {"epochs": 3, "batch": 16, "learning_rate": 1e-3, "lora": null, "privacy": null,
        "trains_on": "members"}}}'

base: a folder that `transformers` opens, or its config.json. Every target starts from it; the epoch with the lowest
loss on the selection pool is kept. Members are drawn anew for each target, except for the corpora named `fixed`. A
tuning of 0 epochs is the base itself, a negative control. trains_on: members, or for two more negative controls other
texts of the corpus, or members of another draw. lora: rank, alpha, dropout; privacy: epsilon, delta, clip,
of DP-SGD per text. Outputs: packed features, target by target, texts by their ids; a table with model, dataset, tuning,
id, member, tokens and the baseline scores, in the same order; facts of each target. A killed job resumes from its
state.
"""

import numpy as np
import pandas as pd

from memaudit.attacks.token_features import channels, writing_rows
from memaudit.common import seeds
from memaudit.common.io import read_table, write_json, write_table
from memaudit.data.text_corpora import SELECTION, membership, trained_on
from memaudit.models.language_models import check_length, encode, folder_of, open_model, open_tokenizer
from memaudit.models.language_training import Run, Settings
from memaudit.models.model_folder import set_up
from memaudit.studies.ltmia.model_pair_queries import BASELINES, ModelPair, check_changed, in_parts, query_pair
from memaudit.workflow.job import run
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    params, model = job.params, job.wildcards.model
    device = set_up(job.threads)
    texts = read_table(job.input.texts)
    targets = {}
    for dataset, tuning in params.targets:
        path = ("ltmia", model, dataset, tuning)
        own = texts[texts["dataset"] == dataset]
        redraw = None if dataset in params.fixed else seeds.generator(params.seed, *path, "members")
        attacked = membership(own, redraw)
        rng = seeds.generator(params.seed, *path, "training")
        training = trained_on(own, attacked, params.tunings[tuning]["trains_on"], rng)
        selection = own["text"][own["part"] == SELECTION]
        targets[dataset, tuning] = score_target(job, scratch, device, path, attacked, training, selection)
    tables = [table for table, _, _ in targets.values()]
    records = np.concatenate([records for _, records, _ in targets.values()])
    with writing_rows(job.output[0], len(records), params.length, len(channels())) as rows:
        rows[:] = records["row"]
    write_table(pd.concat(tables, ignore_index=True), job.output[1])
    facts = {" ".join((model, *name)): one for name, (_, _, one) in targets.items()}
    write_json(facts, job.output[2])
    return {"seed": params.seed, "device": device, "dtype": "float32"}


def score_target(job, scratch, device, path, attacked, training, selection):
    """Table, records (row, scores) and facts of one target."""
    params, (_, model, dataset, tuning) = job.params, path
    folder, name = folder_of(job.input.base), f"{dataset}-{tuning}"
    tokenizer, reference = open_tokenizer(folder), open_model(folder, device)
    check_length(reference, params.length, str(folder))
    given = {key: value for key, value in params.tunings[tuning].items() if key != "trains_on"}
    settings, facts = Settings.of(given), {}
    ids, mask = encode(tokenizer, attacked["text"], params.length)
    pair = ModelPair(reference, reference)
    if settings.epochs:
        seed = seeds.integer(params.seed, *path, "fine-tuning")
        seen, chosen = (encode(tokenizer, part, params.length) for part in (training, selection))
        fitted = Run(open_model(folder, device), seen, chosen, settings, seed, scratch.folder / f"{name}.state")
        pair = ModelPair(fitted.train(), reference)
        facts = {"history": fitted.done["history"], "best": fitted.done["best"], "guarantee": fitted.guarantee}
        facts |= {"trained": sum(one.numel() for one in fitted.weights.values())}
        member, was_seen = attacked["member"], attacked["text"].isin(training)
        facts |= {"seen": {"members": int(was_seen[member].sum()), "nonmembers": int(was_seen[~member].sum())}}
    texts = attacked["text"].tolist()

    def scored(part):
        return query_pair(pair, ids[part], mask[part], texts[part])

    records = in_parts(len(ids), scored, scratch.part, f"{model} {name}", f"{name}-")
    table = attacked[["id", "member"]].assign(model=model, dataset=dataset, tuning=tuning, tokens=mask.sum(1))
    table = table.join(pd.DataFrame(records["scores"], columns=list(BASELINES)))
    if settings.epochs:
        check_changed(table, f"{model} on {dataset}, {tuning}")
    return table, records, facts | {"parameters": reference.num_parameters()}


if __name__ == "__main__":
    run(resumable(main), globals())
