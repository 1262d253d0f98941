"""Cut the documents of all corpora into texts, leave out copies, deal the rest to their parts, and test them blindly.

python workflow_scripts/ltmia/prepare_corpora.py --input key=id.key documents=scipy.parquet documents=numpy.parquet \
    --output texts=texts.parquet tokenizer=tokenizer.json config=tokenizer_config.json results=corpora.parquet \
    --params '{"seed": 1, "datasets": ["scipy", "numpy"], "replicates": 200,
        "shifted": {"shifted": {"members": "scipy", "nonmembers": "numpy"}},
        "texts": {"vocabulary": 2048, "unit": "tokens", "size": 64, "least": 32, "pretraining_share": 0.5,
        "likeness": 0.25, "parts": {"member": 300, "nonmember": 300, "selection": 100, "pretraining": 1000}}}'

documents: of `datasets`, in that order; all corpora at once, for no text may be nearly one of
another corpus, or of the part on which all base models are trained. The tokenizer learns from that part alone. unit:
texts of `size` of its tokens, or of words, for models with tokenizers of their own. shifted: corpora with members of
one and non-members of another. A corpus whose members can be told without any model is unfit for attacks.
"""

import pandas as pd

from memaudit import seeds, tidy
from memaudit.data import text_corpora
from memaudit.data.record_ids import keep_private, read_key
from memaudit.errors import AuditError
from memaudit.io import read_table, write_table
from memaudit.models.language_models import token_starts, train_tokenizer, write_tokenizer
from memaudit.statistics.attack_performance import judge
from memaudit.workflow.job import run, several


def main(job):
    wanted, settings, key = job.params, job.params.texts, read_key(job.input.key)
    keep_private(job.output.texts)
    documents = {
        name: split(wanted, name, path)
        for name, path in zip(wanted.datasets, several(job.input.documents), strict=True)
    }
    tokenizer = train_tokenizer(pd.concat([both[1]["text"] for both in documents.values()]), settings["vocabulary"])
    starts = text_corpora.word_starts if settings["unit"] == "words" else lambda text: token_starts(tokenizer, text)
    sizes = [settings[name] for name in ("size", "least", "likeness")]
    whole = text_corpora.assemble(documents, starts, *sizes, seeds.generator(wanted.seed, "ltmia", "copies"))
    dealt = {name: deal(wanted, name, *both) for name, both in whole.items()}
    dealt |= {name: shifted(name, dealt, **trap) for name, trap in wanted.shifted.items()}
    rows = [row for name, texts in dealt.items() for row in described(wanted, name, texts, whole.get(name))]
    texts = pd.concat(dealt.values(), ignore_index=True)
    write_table(texts.assign(id=[text_corpora.text_id(text, key) for text in texts["text"]]), job.output.texts)
    write_tokenizer(tokenizer, [job.output.tokenizer, job.output.config])
    write_table(tidy.frame(rows), job.output.results)
    return {"seed": wanted.seed}


def split(wanted, dataset, path):
    """A corpus's documents, for the pool and for pre-training."""
    table, rng = read_table(path), seeds.generator(wanted.seed, "ltmia", dataset, "pretraining")
    first = text_corpora.for_pretraining(table, wanted.texts["pretraining_share"], rng)
    return table[~first], table[first]


def deal(wanted, dataset, pool, pretraining):
    try:
        rng = seeds.generator(wanted.seed, "ltmia", dataset, "deal")
        return text_corpora.assign_parts(pool, pretraining, wanted.texts["parts"], rng)
    except AuditError as error:
        raise AuditError(f"corpus {dataset}: {error}") from error


def shifted(name, dealt, members, nonmembers):
    """A corpus with the members and selection texts of one, and the non-members of another."""
    own, other = dealt[members], dealt[nonmembers]
    kept = own[own["part"].isin([text_corpora.MEMBER, text_corpora.SELECTION])]
    return pd.concat([kept, other[other["part"] == text_corpora.NONMEMBER]]).assign(dataset=name)


def described(wanted, dataset, texts, whole):
    """Tidy rows of a corpus: its texts, and what a classifier tells of its members by their texts alone."""
    keys = {"source": "here", "dataset": dataset}
    asked = texts[texts["part"].isin([text_corpora.MEMBER, text_corpora.NONMEMBER])]
    member = (asked["part"] == text_corpora.MEMBER).to_numpy()
    scores = text_corpora.blind_scores(asked["text"], member, seeds.integer(wanted.seed, "ltmia", "blind"))
    rng = seeds.generator(wanted.seed, "ltmia", "blind", "intervals")
    found = judge(scores[None], member[None], fprs=(0.1,), rng=rng, replicates=wanted.replicates)[0]
    interval = {"low": found.low, "high": found.high, "n": found.n, "null": found.null}
    print(f"{dataset}: a blind classifier has AUC {found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]", flush=True)
    yield tidy.row("ltmia", keys, "blind auc", found.estimate, method=found.method, **interval)
    # One in forty corpora lies below one half by chance: a classifier that takes members for others tells none.
    fit = found.low <= found.null
    yield tidy.row("ltmia", keys, "fit for attacks", fit, unit="yes or no", n=found.n)
    if whole is not None:
        yield tidy.row("ltmia", keys, "texts without copies", sum(map(len, whole)), unit="texts")


if __name__ == "__main__":
    run(main, globals())
