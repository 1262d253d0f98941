"""Attack a fine-tuned language model of your own: score each of your texts as a member or non-member.

python workflow_scripts/ltmia/attack_texts.py --input target=my-model/config.json base=its-base/config.json \
    texts=texts.csv nonmembers=known.csv weights=classifier.safetensors card=classifier.json \
    held_out=scores.parquet --output verdicts.csv verdicts.txt \
    --params '{"columns": ["text"], "rate": 0.1, "held_out": [["mamba2", "numpy", "full"]]}'

target, base: folders that `transformers` opens, of the fine-tuned model and of its base. texts: .txt (one text per
line), .csv, .tsv, .jsonl or .parquet with the named columns. nonmembers: such a file of texts that the target was
certainly not fine-tuned on, drawn like the others; it may be left out, and then there are no p-values. rate: false
discovery rate of the column `detected`, or null. held_out: scores of `ltmia_train_attack`; the combinations named in
params trained no part of the classifier, and the error rates are measured on them.

Verdicts: the text's number in the file, its score (log-odds of membership, 0 for a text that both models predict
alike), rank, conformal p-value, detection, the share of its features outside the range of the classifier's training,
and error rates if all texts with at least this score are called members. verdicts.txt says what they may be taken for.
A text is truncated to the length of the classifier's training texts; then `cut` is true. A killed job resumes.
"""

import numpy as np
import pandas as pd

from memaudit.attacks.feature_range import FeatureRange
from memaudit.attacks.learned_classifier import load, odds_of_rows
from memaudit.attacks.token_features import unpack
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, replacing
from memaudit.common.private_files import keep_private
from memaudit.data.corpus_documents import read_texts
from memaudit.models.language_models import folder_of, open_tokenizer
from memaudit.models.model_folder import set_up
from memaudit.studies.ltmia.model_pair_queries import (
    BASELINES,
    encode_for,
    in_parts,
    open_pair,
    query_pair,
    scored_texts,
)
from memaudit.studies.ltmia.own_verdicts import check_range, statements, verdicts
from memaudit.studies.ltmia.target_combinations import channels_per_place
from memaudit.studies.ltmia.transfer_bootstrap import is_combination
from memaudit.workflow.job import run, tell
from memaudit.workflow.scratch import resumable

OWN = ("score", "outside")


def main(job, scratch):
    device = set_up(job.threads)
    for path in job.output[:2]:
        keep_private(path)
    classifier = load(job.input.weights, job.input.card, device)
    trained = FeatureRange.of_facts(classifier.facts, job.input.card)
    table, known = both_files(job)
    texts = [*table["text"], *known["text"]]
    target, base = folder_of(job.input.target), folder_of(job.input.base)
    length, k = classifier.positions, channels_per_place(classifier.channels)
    ids, mask = encode_for(target, base, texts, length + 1)
    longer, ids, mask = mask[:, length], ids[:, :length], mask[:, :length]
    texts = scored_texts(open_tokenizer(base), ids, mask)
    pair = open_pair(target, base, length, device)

    def scored(part):
        records = query_pair(pair, ids[part], mask[part], texts[part], k)
        own = odds_of_rows(classifier, records["row"]), trained.outside(unpack(records["row"]))
        return np.column_stack([*own, records["scores"]])

    rows = in_parts(len(texts), scored, scratch.part, "texts")
    scores = pd.DataFrame(rows, columns=[*OWN, *BASELINES])
    if not scores["ref_loss"].any():
        tell(f"memaudit: {target} predicts every text as its base does: fine-tuning changed nothing, all odds are even")
    own, others = scores[: len(table)], scores["score"][len(table) :].to_numpy()
    every = read_table(job.input.held_out)
    held_out, rate = every[is_combination(every, job.params.held_out)], job.params.rate
    found = verdicts(own["score"].to_numpy(), others, own["outside"].to_numpy(), held_out, rate)
    check_range(found["unusual"], str(target))
    facts = pd.DataFrame({"text": table["document"], "tokens": mask.sum(1)[: len(own)], "cut": longer[: len(own)]})
    with replacing(job.output[0]) as temporary:
        facts.join(found).join(own[list(BASELINES)]).to_csv(temporary, index=False)
    lines = [f"{len(own)} texts, of which {facts['cut'].sum()} were cut after {length} tokens."]
    lines += statements(found, len(others), held_out, rate)
    with replacing(job.output[1]) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for line in lines:
        tell(f"memaudit: {line}")
    return {"device": device, "dtype": "float32"}


def both_files(job):
    """The user's texts, and the known non-members, possibly none."""
    table = read_texts(job.input.texts, job.params.columns)
    if table.empty:
        raise AuditError(f"{job.input.texts}: holds no text; give it one per line")
    path = getattr(job.input, "nonmembers", None)
    if not path:
        return table, table[:0]
    known = read_texts(path, job.params.columns)
    if known.empty:
        raise AuditError(f"{path}: holds no text; give known non-members, or leave ltmia/attack/nonmembers out")
    if (twice := table["text"].isin(known["text"])).any():
        number = table["document"][twice.idxmax()]
        raise AuditError(f"{job.input.texts}: text {number} is also one of {path}; leave it out of one of the two")
    return table, known


if __name__ == "__main__":
    run(resumable(main), globals())
