"""Fine-tune one base model on the members of corpora: targets whose members are known, asked about all texts.

python workflow_scripts/ltmia/finetune_targets.py --input texts=texts.parquet base=base \
    --output targets.npy targets.parquet targets.json --wildcards '{"model": "gpt2"}' \
    --params '{"seed": 1, "length": 64, "targets": [["scipy", "full"]], "fixed": [],
        "tunings": {"full": {"epochs": 3, "batch": 16, "learning_rate": 1e-3, "lora": null, "privacy": null}}}'

base: a folder that `transformers` opens, or its config.json. Every target begins from it; the epoch with the lowest
loss on the selection pool is kept, and is then asked together with the base about members and non-members. Members are
dealt anew for each target, but of the corpora named `fixed`. A tuning of 0 epochs is the base itself: the null. lora:
rank, alpha, dropout; privacy: epsilon, delta, clip, of DP-SGD per text. rows: packed features, target by target, texts
by their ids; scores: model, dataset, tuning, id, member, tokens and the baselines, in the same order. A killed job goes
on from its state.
"""

import numpy as np
import pandas as pd

from memaudit import seeds
from memaudit.attacks.token_features import channels, writing_rows
from memaudit.data.text_corpora import SELECTION, membership
from memaudit.io import read_table, write_json, write_table
from memaudit.models.language_models import check_length, encode, folder_of, open_model, open_tokenizer
from memaudit.models.language_training import Run, Settings
from memaudit.models.model_folder import set_up
from memaudit.studies.ltmia.model_pair_queries import BASELINES, Pair, ask, check_changed
from memaudit.workflow.job import run
from memaudit.workflow.progress_bar import steps
from memaudit.workflow.scratch import resumable

PART = 256  # texts between two visits to the disk


def main(job, scratch):
    wanted, model = job.params, job.wildcards.model
    device = set_up(job.threads)
    texts = read_table(job.input.texts)
    found = {}
    for dataset, tuning in wanted.targets:
        path = ("ltmia", model, dataset, tuning)
        own = texts[texts["dataset"] == dataset]
        redraw = None if dataset in wanted.fixed else seeds.generator(wanted.seed, *path, "members")
        asked = membership(own, redraw)
        selection = own["text"][own["part"] == SELECTION]
        found[dataset, tuning] = target(job, scratch, device, path, asked, selection)
    tables = [table for table, _, _ in found.values()]
    records = np.concatenate([records for _, records, _ in found.values()])
    with writing_rows(job.output[0], len(records), wanted.length, len(channels())) as rows:
        rows[:] = records["row"]
    write_table(pd.concat(tables, ignore_index=True), job.output[1])
    facts = {" ".join((model, *name)): one for name, (_, _, one) in found.items()}
    write_json(facts, job.output[2])
    return {"seed": wanted.seed, "device": device, "dtype": "float32"}


def target(job, scratch, device, path, asked, selection):
    """Scores, records (row, scores) and facts of one target."""
    wanted, (_, model, dataset, tuning) = job.params, path
    folder, name = folder_of(job.input.base), f"{dataset}-{tuning}"
    tokenizer, reference = open_tokenizer(folder), open_model(folder, device)
    check_length(reference, wanted.length, str(folder))
    settings, facts = Settings.of(wanted.tunings[tuning]), {}
    ids, mask = encode(tokenizer, asked["text"], wanted.length)
    pair = Pair(reference, reference)
    if settings.epochs:
        member = asked["member"].to_numpy()
        seed = seeds.integer(wanted.seed, *path, "fine-tuning")
        chosen = encode(tokenizer, selection, wanted.length)
        state = scratch.folder / f"{name}.state"
        training = Run(open_model(folder, device), (ids[member], mask[member]), chosen, settings, seed, state)
        pair = Pair(training.train(), reference)
        facts = {"history": training.done["history"], "best": training.done["best"], "guarantee": training.guarantee}
        facts |= {"trained": sum(one.numel() for one in training.weights.values())}
    parts = [slice(start, start + PART) for start in range(0, len(ids), PART)]
    texts = asked["text"].tolist()
    records = [
        scratch.part(f"{name}-{at.start:08d}", lambda at=at: ask(pair, ids[at], mask[at], texts[at]))
        for at in steps(parts, f"{model} {name}", unit=f"x{PART}")
    ]
    records = np.concatenate(records)
    table = asked[["id", "member"]].assign(model=model, dataset=dataset, tuning=tuning, tokens=mask.sum(1))
    table = table.join(pd.DataFrame(records["scores"], columns=list(BASELINES)))
    if settings.epochs:
        check_changed(table, f"{model} on {dataset}, {tuning}")
    return table, records, facts | {"parameters": reference.num_parameters()}


if __name__ == "__main__":
    run(resumable(main), globals())
