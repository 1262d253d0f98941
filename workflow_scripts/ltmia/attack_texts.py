"""Attack a fine-tuned language model of your own: score each of your texts as a member or non-member.

python workflow_scripts/ltmia/attack_texts.py --input target=my-model/config.json base=its-base/config.json \
    texts=texts.csv weights=classifier.safetensors card=classifier.json held_out=scores.parquet --output verdicts.csv \
    --params '{"columns": ["text"], "held_out": [["mamba2", "numpy", "full"]]}'

target, base: folders that `transformers` opens, of the fine-tuned model and of its base. texts: .txt (one text per
line), .csv, .tsv, .jsonl or .parquet with the named columns. held_out: scores of `ltmia_train_attack`; the combinations
named in params trained no part of the classifier, and the error rates are measured on them: they hold for models like
those. Verdicts: the text's number in the file, its score (log-odds of membership), the probability of membership at
even priors, and the error rates if all texts with at least this score are called members. The probability is 0.5 for a
text that both models predict alike. A text is truncated to the length of the classifier's training texts; then `cut` is
true. A killed job resumes.
"""

import numpy as np
import pandas as pd
from scipy.special import expit

from memaudit.attacks.learned_classifier import load, odds_of_rows
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, replacing
from memaudit.common.private_files import keep_private
from memaudit.data.corpus_documents import read_texts
from memaudit.models.language_models import folder_of
from memaudit.models.model_folder import set_up
from memaudit.studies.ltmia.model_pair_queries import BASELINES, encode_for, in_parts, open_pair, query_pair
from memaudit.studies.ltmia.target_combinations import channels_per_place, error_rates
from memaudit.studies.ltmia.transfer_bootstrap import is_combination
from memaudit.workflow.job import run, tell
from memaudit.workflow.scratch import resumable


def main(job, scratch):
    device = set_up(job.threads)
    keep_private(job.output[0])
    target, base = folder_of(job.input.target), folder_of(job.input.base)
    classifier = load(job.input.weights, job.input.card, device)
    table = read_texts(job.input.texts, job.params.columns)
    texts = table["text"].tolist()
    if not texts:
        raise AuditError(f"{job.input.texts}: holds no text; give it one per line")
    length, k = classifier.positions, channels_per_place(classifier.channels)
    ids, mask = encode_for(target, base, texts, length + 1)
    longer, ids, mask = mask[:, length], ids[:, :length], mask[:, :length]
    pair = open_pair(target, base, length, device)

    def scored(part):
        records = query_pair(pair, ids[part], mask[part], texts[part], k)
        return np.column_stack([odds_of_rows(classifier, records["row"]), records["scores"]])

    rows = in_parts(len(texts), scored, scratch.part, "texts")
    scores = pd.DataFrame(rows, columns=["score", *BASELINES])
    if not scores["ref_loss"].any():
        tell(f"memaudit: {target} predicts every text as its base does: fine-tuning changed nothing, all odds are even")
    verdicts = {"text": table["document"], "tokens": mask.sum(1), "cut": longer, "score": scores["score"]}
    verdicts["probability"] = expit(scores["score"])
    known = read_table(job.input.held_out)
    rates = error_rates(scores["score"].to_numpy(), known[is_combination(known, job.params.held_out)])
    with replacing(job.output[0]) as temporary:
        pd.DataFrame(verdicts).join(rates).join(scores[list(BASELINES)]).to_csv(temporary, index=False)
    print(f"{len(texts)} texts, of which {longer.sum()} were cut after {length} tokens", flush=True)
    return {"device": device, "dtype": "float32"}


if __name__ == "__main__":
    run(resumable(main), globals())
