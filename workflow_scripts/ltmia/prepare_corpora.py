"""Cut documents into texts, remove near-duplicates, and assign the rest to parts, few of any document.

python workflow_scripts/ltmia/prepare_corpora.py --input key=id.key documents=scipy.parquet documents=numpy.parquet \
    --output texts=texts.parquet tokenizer=tokenizer.json config=tokenizer_config.json results=corpora.parquet \
    --params '{"seed": 1, "datasets": ["scipy", "numpy"],
        "shifted": {"shifted": {"members": "scipy", "nonmembers": "numpy"}},
        "texts": {"vocabulary": 2048, "unit": "tokens", "size": 64, "least": 32, "pretraining_share": 0.5,
        "likeness": 0.25, "overlap": 0.5, "documents": 100, "document_share": 0.02, "document_texts": 10,
        "parts": {"member": 300, "nonmember": 300, "selection": 100, "pretraining": 1000}}}'

documents: of `datasets`, in that order. All corpora are prepared at once: no text may be a near-duplicate of a text of
another corpus, or of the part that all base models are trained on. The tokenizer is trained on that part only. unit:
texts of `size` of its tokens, or of words, for models with tokenizers of their own. document_share, document_texts:
most texts of one document, a share of members and non-members, and a number; documents: fewest that these come from.
shifted: corpora with members of one and non-members of another. Whether texts alone tell members from non-members is
tested for each target, whose members are drawn anew (`ltmia_judge_attacks`).
"""

import pandas as pd

from memaudit.common import seeds, tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, write_table
from memaudit.common.job_inputs import several
from memaudit.common.private_files import keep_private
from memaudit.data import near_duplicates, text_corpora
from memaudit.data.record_ids import read_key
from memaudit.models.language_models import token_starts, train_tokenizer, write_tokenizer
from memaudit.workflow.job import run


def main(job):
    params, settings, key = job.params, job.params.texts, read_key(job.input.key)
    keep_private(job.output.texts)
    documents = {
        name: split(params, name, path)
        for name, path in zip(params.datasets, several(job.input.documents), strict=True)
    }
    tokenizer = train_tokenizer(pd.concat([both[1]["text"] for both in documents.values()]), settings["vocabulary"])
    starts = text_corpora.word_starts if settings["unit"] == "words" else lambda text: token_starts(tokenizer, text)
    sizes = [settings[name] for name in ("size", "least", "likeness")]
    whole = text_corpora.assemble(documents, starts, *sizes, seeds.generator(params.seed, "ltmia", "copies"))
    corpora = {name: assign_parts(params, name, *both) for name, both in whole.items()}
    corpora |= {name: shifted(name, corpora, **entry) for name, entry in params.shifted.items()}
    rows = [row for name, texts in corpora.items() for row in described(name, texts, whole.get(name))]
    texts = pd.concat(corpora.values(), ignore_index=True)
    write_table(texts.assign(id=[text_corpora.text_id(text, key) for text in texts["text"]]), job.output.texts)
    write_tokenizer(tokenizer, [job.output.tokenizer, job.output.config])
    write_table(tidy.frame(rows), job.output.results)
    return {"seed": params.seed}


def split(params, dataset, path):
    """A corpus's documents for the pool, and those for pre-training."""
    table, rng = read_table(path), seeds.generator(params.seed, "ltmia", dataset, "pretraining")
    first = text_corpora.for_pretraining(table, params.texts["pretraining_share"], rng)
    return table[~first], table[first]


def assign_parts(params, dataset, pool, pretraining):
    """A corpus's texts with their part, assigned at random."""
    settings, sizes = params.texts, params.texts["parts"]
    attacked = sizes[text_corpora.MEMBER] + sizes[text_corpora.NONMEMBER]
    most = text_corpora.most_per_document(attacked, settings["document_share"], settings["document_texts"])
    rules = {"most": most, "documents": settings["documents"], "overlap": settings["overlap"]}
    rng = seeds.generator(params.seed, "ltmia", dataset, "deal")
    try:
        return text_corpora.assign_parts(pool, pretraining, sizes, rng, **rules)
    except AuditError as error:
        raise AuditError(f"corpus {dataset}: {error}") from error


def shifted(name, corpora, members, nonmembers):
    """A corpus with the members and selection texts of one, and the non-members of another."""
    own, other = corpora[members], corpora[nonmembers]
    kept = own[own["part"].isin([text_corpora.MEMBER, text_corpora.SELECTION])]
    return pd.concat([kept, other[other["part"] == text_corpora.NONMEMBER]]).assign(dataset=name)


def described(dataset, texts, whole):
    """Tidy rows of a corpus: documents of its members and non-members, and what their texts have in common."""
    keys = {"source": "here", "dataset": dataset}
    attacked = texts[texts["part"].isin([text_corpora.MEMBER, text_corpora.NONMEMBER])]
    count, effective = text_corpora.documents_of(attacked["document"])
    shared = near_duplicates.overlap(attacked["text"].tolist())
    print(f"{dataset}: {len(attacked)} texts of {count} documents, effectively {effective:.1f}", flush=True)
    yield tidy.row("ltmia", keys, "documents", count, unit="documents", n=len(attacked))
    yield tidy.row("ltmia", keys, "effective documents", effective, unit="documents", n=len(attacked))
    yield tidy.row("ltmia", keys, "shared runs of words", shared.mean(), n=len(attacked))
    if whole is not None:
        yield tidy.row("ltmia", keys, "texts without copies", sum(map(len, whole)), unit="texts")


if __name__ == "__main__":
    run(main, globals())
