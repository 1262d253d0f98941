"""Attack a fine-tuned language model of your own: which of these texts was it fine-tuned on?

python workflow_scripts/ltmia/attack_texts.py --input target=my-model/config.json base=its-base/config.json \
    texts=texts.csv weights=classifier.safetensors card=classifier.json held_out=scores.parquet --output verdicts.csv \
    --params '{"columns": ["text"], "held_out": [["mamba2", "numpy", "full"]]}'

target, base: folders that `transformers` opens, the fine-tuned model and what it was before. texts: .txt (a text a
line), .csv, .tsv, .jsonl or .parquet with the named columns. held_out: scores of `ltmia_train_attack`, of which the
combinations named in params trained no part of the classifier; what is said of errors was measured there, and holds for
models like those. Verdicts: the text's number in the file, its score (log-odds of membership), the probability of
membership where as many texts are members as not, and what calling all texts with such a score members costs. Of a
text of which both models say the same the probability is 0.5. A text is read as far as the classifier's own texts went;
`cut` says that it is longer. A killed job goes on.
"""

import numpy as np
import pandas as pd
from scipy.special import expit

from memaudit.attacks.learned_classifier import load, odds_of_rows
from memaudit.data.corpus_documents import read_texts
from memaudit.data.record_ids import keep_private
from memaudit.errors import AuditError
from memaudit.io import read_table, replacing
from memaudit.models.language_models import folder_of
from memaudit.models.model_folder import set_up
from memaudit.studies.ltmia.model_pair_queries import BASELINES, ask, encode_for, open_pair
from memaudit.studies.ltmia.target_combinations import channels_per_place, error_rates
from memaudit.studies.ltmia.transfer_bootstrap import of_these
from memaudit.workflow.job import run, tell
from memaudit.workflow.progress_bar import steps
from memaudit.workflow.scratch import resumable

PART = 256


def main(job, scratch):
    device = set_up(job.threads)
    keep_private(job.output[0])
    target, base = folder_of(job.input.target), folder_of(job.input.base)
    classifier = load(job.input.weights, job.input.card, device)
    table = read_texts(job.input.texts, job.params.columns)
    texts = table["text"].tolist()
    if not texts:
        raise AuditError(f"{job.input.texts}: holds no text; give it one a line")
    length, k = classifier.positions, channels_per_place(classifier.channels)
    ids, mask = encode_for(target, base, texts, length + 1)
    longer, ids, mask = mask[:, length], ids[:, :length], mask[:, :length]
    pair = open_pair(target, base, length, device)

    def asked(part):
        found = ask(pair, ids[part], mask[part], texts[part], k)
        return np.column_stack([odds_of_rows(classifier, found["row"]), found["scores"]])

    parts = [slice(at, at + PART) for at in range(0, len(texts), PART)]
    found = [scratch.part(f"{at.start:08d}", lambda at=at: asked(at)) for at in steps(parts, "texts", unit=f"x{PART}")]
    scores = pd.DataFrame(np.vstack(found), columns=["score", *BASELINES])
    if not scores["ref_loss"].any():
        tell(f"memaudit: {target} says the same of every text as its base: nothing was learnt, all odds are even")
    told = {"text": table["document"], "tokens": mask.sum(1), "cut": longer, "score": scores["score"]}
    told["probability"] = expit(scores["score"])
    known = read_table(job.input.held_out)
    rates = error_rates(scores["score"].to_numpy(), known[of_these(known, job.params.held_out)])
    with replacing(job.output[0]) as temporary:
        pd.DataFrame(told).join(rates).join(scores[list(BASELINES)]).to_csv(temporary, index=False)
    print(f"{len(texts)} texts, of which {longer.sum()} were cut after {length} tokens", flush=True)
    return {"device": device, "dtype": "float32"}


if __name__ == "__main__":
    run(resumable(main), globals())
