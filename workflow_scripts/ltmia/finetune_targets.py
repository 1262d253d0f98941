"""Fine-tune one base model on the members of corpora, and score all texts with each target and its base.

python workflow_scripts/ltmia/finetune_targets.py --input texts=texts.parquet base=base \
    --output targets.npy targets.parquet targets.json --wildcards '{"model": "gpt2"}' \
    --params '{"seed": 1, "length": 64, "targets": [["scipy", "full"]], "fixed": [],
        "tunings": {"full": {"epochs": 3, "batch": 16, "learning_rate": 1e-3, "lora": null, "privacy": null,
        "trains_on": "members"}}, "judged": [["scipy", "full"]], "baselines": {"names": ["recall"], "known": 2,
        "prefix": 16, "contrast": 0.5, "ceiling": 0.1, "neighbours": 10, "replaced": 0.1}}'

base: a folder that `transformers` opens, or its config.json. Every target starts from it; the epoch with the lowest
loss on the selection pool is kept. Members are drawn anew for each target, except for the corpora named `fixed`. A
tuning of 0 epochs is the base itself, a negative control. trains_on: members, or for two more negative controls other
texts of the corpus, or members of another draw. judged: targets that also have the further baselines named in
`baselines`; the texts that these know are taken from the selection pool of every target, and half of them are
members. lora: rank, alpha, dropout; privacy: epsilon, delta, clip, of DP-SGD per text. Outputs: packed features, target
by target, texts by their ids; a table with model, dataset, tuning, id, member, tokens and the baseline scores, in the
same order; facts of each target. A killed job resumes from its state.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from memaudit.attacks.token_features import channels, writing_rows
from memaudit.common import seeds
from memaudit.common.io import read_table, write_json, write_table
from memaudit.data.text_corpora import PRETRAINING, SELECTION, membership, trained_on
from memaudit.models.language_models import check_length, encode, folder_of, in_main_memory, open_model, open_tokenizer
from memaudit.models.language_training import Run, Settings
from memaudit.models.model_folder import set_up
from memaudit.studies.ltmia.further_queries import (
    SELF_REFERENCE,
    Knowledge,
    further_scores,
    self_reference,
    split_known,
)
from memaudit.studies.ltmia.model_pair_queries import (
    BASELINES,
    ModelPair,
    check_changed,
    in_parts,
    query_pair,
    scored_texts,
)
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
        others = own[own["part"] == SELECTION].sort_values("id"), texts[texts["part"] == PRETRAINING]
        targets[dataset, tuning] = score_target(job, scratch, device, path, attacked, training, *others)
    tables = [table for table, _, _ in targets.values()]
    records = np.concatenate([records for _, records, _ in targets.values()])
    with writing_rows(job.output[0], len(records), params.length, len(channels())) as rows:
        rows[:] = records["row"]
    write_table(pd.concat(tables, ignore_index=True), job.output[1])
    facts = {" ".join((model, *name)): one for name, (_, _, one) in targets.items()}
    write_json(facts, job.output[2])
    return {"seed": params.seed, "device": device, "dtype": "float32"}


def score_target(job, scratch, device, path, attacked, training, selection, public):
    """Table, records (row, scores) and facts of one target; public: texts that the base was trained on."""
    params, (_, model, dataset, tuning) = job.params, path
    folder, name = folder_of(job.input.base), f"{dataset}-{tuning}"
    tokenizer, reference = open_tokenizer(folder), open_model(folder, device)
    check_length(reference, params.length, str(folder))
    given = {key: value for key, value in params.tunings[tuning].items() if key != "trains_on"}
    settings, facts = Settings.of(given), {}
    ids, mask = encode(tokenizer, attacked["text"], params.length)
    *known, chosen = split_known(encode(tokenizer, selection["text"], params.length), params.baselines["known"])
    pair = ModelPair(reference, reference)
    if settings.epochs:
        seed = seeds.integer(params.seed, *path, "fine-tuning")
        trained = encode(tokenizer, training, params.length)
        trained = [np.concatenate(both) for both in zip(trained, known[0], strict=True)]
        with in_main_memory(reference):
            state = scratch.folder / f"{name}.state"
            target, facts = fine_tuned(open_model(folder, device), trained, chosen, settings, seed, state)
        pair = ModelPair(target, reference)
        member, was_seen = attacked["member"], attacked["text"].isin(training)
        facts |= {"seen": {"members": int(was_seen[member].sum()), "nonmembers": int(was_seen[~member].sum())}}
    texts = scored_texts(tokenizer, ids, mask)

    def scored(part):
        return query_pair(pair, ids[part], mask[part], texts[part])

    records = in_parts(len(ids), scored, scratch.part, f"{model} {name}", f"{name}-")
    table = attacked[["id", "member"]].assign(model=model, dataset=dataset, tuning=tuning, tokens=mask.sum(1))
    table = table.join(pd.DataFrame(records["scores"], columns=list(BASELINES)))
    if settings.epochs:
        check_changed(table, f"{model} on {dataset}, {tuning}")
    if [dataset, tuning] in params.judged:
        public = encode(tokenizer, public["text"], params.length)
        table = table.join(
            further(job, scratch, path, pair, (ids, mask, records["likelihoods"]), (*known, public), chosen, settings)
        )
    return table, records, facts | {"parameters": reference.num_parameters()}


def fine_tuned(model, trained, chosen, settings, seed, state):
    """The tuned model and facts of its training; the optimiser, twice as large as the model, is gone with its run."""
    fitted = Run(model, trained, chosen, settings, seed, state)
    target, done = fitted.train(), fitted.done
    facts = {"history": done["history"], "best": done["best"], "guarantee": fitted.guarantee}
    return target, facts | {"trained": sum(one.numel() for one in fitted.weights.values())}


def further(job, scratch, path, pair, texts, given, prompts, settings):
    """Scores of further baselines.

    texts: tokens, mask and the target's likelihoods; given: known members and non-members, public texts; prompts: of a
    self-reference.
    """
    options, folder, seed = job.params.baselines, folder_of(job.input.base), job.params.seed
    names, name, other = options["names"], "-".join(path[2:]), None
    if SELF_REFERENCE & set(names):
        tuned = seeds.integer(seed, *path, "self-reference")
        whole = prompts[1][:, options["prefix"] - 1]
        starts = prompts[0][whole, : options["prefix"]]
        plain, state = replace(settings, privacy=None), scratch.folder / f"{name}-self.state"
        other = self_reference(pair, folder, starts, job.params.length, plain, tuned, state)
    known = Knowledge.of(options, *given, pair.target.get_output_embeddings().weight.shape[0], other)

    def scored(part):
        drawn = seeds.integer(seed, *path, "neighbours", part.start)
        return further_scores(names, pair, *(one[part] for one in texts), known, drawn)

    label = f"{path[1]} {name}, further baselines"
    return pd.DataFrame(in_parts(len(texts[0]), scored, scratch.part, label, f"{name}-further-"), columns=names)


if __name__ == "__main__":
    run(resumable(main), globals())
