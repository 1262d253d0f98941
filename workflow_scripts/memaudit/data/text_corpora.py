"""Corpora of texts whose membership is known by construction.

Documents are split between pre-training and the pool. The pool's texts are assigned at random to members, non-members
and the selection set, which is neither and whose loss selects a fine-tuned model's checkpoint. So members and
non-members have one distribution, and a classifier that sees only the texts cannot distinguish them: `blind_scores`
tests this.
"""

import hmac
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError
from memaudit.data.near_duplicates import first_of_near_duplicates

Starts = Callable[[str], Sequence[int]]

MEMBER, NONMEMBER, SELECTION, PRETRAINING = "member", "nonmember", "selection", "pretraining"
PARTS = (MEMBER, NONMEMBER, SELECTION, PRETRAINING)
FOLDS = 5


def for_pretraining(documents: pd.DataFrame, share: float, rng: np.random.Generator) -> Mask:
    """Draw the documents for pre-training as a mask (document,): up to a share of all characters.

    Raises AuditError where either part would be empty.
    """
    order = rng.permutation(len(documents))
    sizes = documents["text"].str.len().to_numpy()[order]
    chosen = np.empty(len(documents), dtype=bool)
    chosen[order] = np.cumsum(sizes) - sizes / 2 <= share * sizes.sum()
    if not 0 < chosen.sum() < len(chosen):
        raise AuditError(
            f"a corpus of {len(documents)} documents cannot be split between pre-training and pool; give it more"
        )
    return chosen


def cut(documents: pd.DataFrame, starts: Starts, size: int, least: int) -> pd.DataFrame:
    """Cut documents into texts of `size` pieces (columns document, text); the last of a document has at least `least`.

    starts: function of a text that returns where its pieces begin: words (`word_starts`), or a tokenizer's tokens.
    """
    texts = []
    for name, text in documents[["document", "text"]].itertuples(index=False, name=None):
        places = np.asarray(starts(text), dtype=int)
        firsts = np.arange(0, len(places), size)
        firsts = firsts[len(places) - firsts >= least]
        ends = np.append(places, len(text))[np.minimum(firsts + size, len(places))]
        texts += [(name, text[start:end]) for start, end in zip(places[firsts], ends, strict=True)]
    return pd.DataFrame(texts, columns=["document", "text"])


def word_starts(text: str) -> list[int]:
    """Return where the words of a text begin; the characters between two words belong to the first."""
    return [word.start() for word in re.finditer(r"\S+", text)]


def without_duplicates(texts: pd.DataFrame, likeness: float) -> pd.DataFrame:
    """Drop exact and near duplicates of earlier texts (see `near_duplicates`), ignoring case and spacing."""
    exact = texts["text"].str.lower().str.split().str.join(" ")
    texts = texts[(~exact.duplicated()) & (exact != "")]
    return texts[first_of_near_duplicates(texts["text"].tolist(), likeness)]


def assemble(
    documents: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]],
    starts: Starts,
    size: int,
    least: int,
    likeness: float,
    rng: np.random.Generator,
) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return each corpus's texts of the pool and for pre-training, from its documents of both, without duplicates.

    Of duplicates within a pool, or in two pools, a random one is kept; of one in a pool and one for pre-training, that
    in the pool.
    """
    cuts = [
        cut(both[part], starts, size, least).assign(dataset=dataset, part=part)
        for part in (0, 1)
        for dataset, both in documents.items()
    ]
    texts = pd.concat(cuts, ignore_index=True)
    texts = without_duplicates(texts.iloc[rng.permutation(len(texts))].sort_values("part", kind="stable"), likeness)
    columns = ["dataset", "document", "text"]
    return {
        dataset: tuple(texts.loc[(texts["dataset"] == dataset) & (texts["part"] == part), columns] for part in (0, 1))
        for dataset in documents
    }


def assign_parts(
    pool: pd.DataFrame, pretraining: pd.DataFrame, sizes: Mapping[str, int], rng: np.random.Generator
) -> pd.DataFrame:
    """Draw sizes[part] texts of each `part` from the pool at random, and at most so many of those for pre-training.

    Raises AuditError where the pool is too small.
    """
    parts = [part for part in PARTS if part != PRETRAINING]
    needed = sum(sizes[part] for part in parts)
    if len(pool) < needed:
        raise AuditError(
            f"{len(pool)} texts are left without duplicates, {needed} are needed; give the corpus more characters,"
            " or set fewer texts"
        )
    part = np.repeat(parts, [sizes[part] for part in parts])
    assigned = pool.iloc[rng.permutation(len(pool))[:needed]].assign(part=part)
    few = rng.permutation(len(pretraining))[: sizes[PRETRAINING]]
    return pd.concat([assigned, pretraining.iloc[few].assign(part=PRETRAINING)], ignore_index=True)


def membership(texts: pd.DataFrame, redraw: np.random.Generator | None = None) -> pd.DataFrame:
    """Return the attacked texts (columns id, text, member), sorted by id, so that their order carries no information.

    redraw: assign membership of the same texts again, with as many members. If every model had the same members, a
    classifier trained on several models could recognise the texts instead of memorization.
    """
    attacked = texts[texts["part"].isin([MEMBER, NONMEMBER])].sort_values("id", ignore_index=True)
    member = (attacked["part"] == MEMBER).to_numpy()
    return attacked[["id", "text"]].assign(member=member if redraw is None else redraw.permutation(member))


def text_id(text: str, key: bytes) -> str:
    """Return the keyed hash of a text, 32 hexadecimal digits: the same wherever the text occurs (see `record_ids`)."""
    return hmac.digest(key, text.encode(), "sha256").hex()[:32]


def blind_scores(texts: Sequence[str], member: Mask, seed: int) -> Array:
    """Return membership scores (text,) of a classifier of the texts alone, without any model (blind baseline).

    Logistic regression on TF-IDF of words and pairs of words, in five folds. Where membership was assigned at random
    its AUC differs from 0.5 only by chance; non-members of another time or source are detected (Duan et al. 2024). Each
    fold's scores are centred: folds differ in their intercept.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    texts, scores = np.array(texts, dtype=object), np.empty(len(texts))
    for seen, held_out in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(texts, member):
        words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+|[^\w\s]", sublinear_tf=True)
        model = LogisticRegression(C=10, max_iter=1000).fit(words.fit_transform(texts[seen]), member[seen])
        decision = model.decision_function(words.transform(texts[held_out]))
        scores[held_out] = decision - decision.mean()
    return scores
