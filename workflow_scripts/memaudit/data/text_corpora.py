"""Corpora of texts whose membership is known by construction: texts cut from documents, and what becomes of each.

Documents are split between the texts for pre-training and the pool. The pool's texts are dealt at random to members,
non-members and the selection pool, a third that is neither and by whose loss a fine-tuned model's checkpoint is taken.
So members and non-members have one distribution, and a classifier that sees the texts alone must fail to tell them
apart: `blind_scores` tests it.
"""

import hmac
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.data.near_duplicates import first_of_their_kind
from memaudit.errors import AuditError

Starts = Callable[[str], Sequence[int]]

MEMBER, NONMEMBER, SELECTION, PRETRAINING = "member", "nonmember", "selection", "pretraining"
PARTS = (MEMBER, NONMEMBER, SELECTION, PRETRAINING)
FOLDS = 5


def for_pretraining(documents: pd.DataFrame, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(document,) which documents are for pre-training: random ones, up to a share of all characters.

    Raises AuditError where either side would be empty.
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
    """Texts of `size` pieces in succession (columns document, text), and ends of documents with at least `least`.

    starts: where the pieces of a text begin: its words (`word_starts`), or a tokenizer's tokens.
    """
    found = []
    for name, text in documents[["document", "text"]].itertuples(index=False, name=None):
        places = np.asarray(starts(text), dtype=int)
        firsts = np.arange(0, len(places), size)
        firsts = firsts[len(places) - firsts >= least]
        ends = np.append(places, len(text))[np.minimum(firsts + size, len(places))]
        found += [(name, text[start:end]) for start, end in zip(places[firsts], ends, strict=True)]
    return pd.DataFrame(found, columns=["document", "text"])


def word_starts(text: str) -> list[int]:
    """Where the words of a text begin; what stands between two belongs to the first."""
    return [word.start() for word in re.finditer(r"\S+", text)]


def without_copies(texts: pd.DataFrame, likeness: float) -> pd.DataFrame:
    """Texts that are no copy of an earlier one, exact or near: see `near_duplicates`. Case and spacing do not count."""
    exact = texts["text"].str.lower().str.split().str.join(" ")
    texts = texts[(~exact.duplicated()) & (exact != "")]
    return texts[first_of_their_kind(texts["text"].tolist(), likeness)]


def assemble(
    documents: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]],
    starts: Starts,
    size: int,
    least: int,
    likeness: float,
    rng: np.random.Generator,
) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Each corpus's texts of the pool and for pre-training, from its documents of both; no text is a copy of another.

    Of copies within a pool, or in two pools, a random one stays; of one in a pool and one for pre-training, the first.
    """
    sides = [
        cut(both[side], starts, size, least).assign(dataset=dataset, side=side)
        for side in (0, 1)
        for dataset, both in documents.items()
    ]
    texts = pd.concat(sides, ignore_index=True)
    texts = without_copies(texts.iloc[rng.permutation(len(texts))].sort_values("side", kind="stable"), likeness)
    columns = ["dataset", "document", "text"]
    return {
        dataset: tuple(texts.loc[(texts["dataset"] == dataset) & (texts["side"] == side), columns] for side in (0, 1))
        for dataset in documents
    }


def deal(
    pool: pd.DataFrame, pretraining: pd.DataFrame, sizes: Mapping[str, int], rng: np.random.Generator
) -> pd.DataFrame:
    """Texts with their `part`, sizes[part] of each: of the pool at random, of those for pre-training at most so many.

    Raises AuditError where the pool is too small.
    """
    wanted = [part for part in PARTS if part != PRETRAINING]
    needed = sum(sizes[part] for part in wanted)
    if len(pool) < needed:
        raise AuditError(
            f"{len(pool)} texts are left without copies, {needed} are needed; give the corpus more characters, or ask"
            " for fewer texts"
        )
    part = np.repeat(wanted, [sizes[part] for part in wanted])
    dealt = pool.iloc[rng.permutation(len(pool))[:needed]].assign(part=part)
    few = rng.permutation(len(pretraining))[: sizes[PRETRAINING]]
    return pd.concat([dealt, pretraining.iloc[few].assign(part=PRETRAINING)], ignore_index=True)


def membership(texts: pd.DataFrame, redraw: np.random.Generator | None = None) -> pd.DataFrame:
    """The texts that are attacked (columns id, text, member), sorted by id, which is no order of anything.

    redraw: deal the same texts anew, as many to members. If every model had the same members, a classifier trained on
    several could know the texts again, and not what memorization looks like.
    """
    asked = texts[texts["part"].isin([MEMBER, NONMEMBER])].sort_values("id", ignore_index=True)
    member = (asked["part"] == MEMBER).to_numpy()
    return asked[["id", "text"]].assign(member=member if redraw is None else redraw.permutation(member))


def text_id(text: str, key: bytes) -> str:
    """Keyed hash of a text, 32 hexadecimal digits: the same wherever the text stands (see `identity`)."""
    return hmac.digest(key, text.encode(), "sha256").hex()[:32]


def blind_scores(texts: Sequence[str], member: NDArray[np.bool_], seed: int) -> NDArray[np.float64]:
    """How much each text (text,) looks like a member to a classifier that has seen other texts, and no model.

    Logistic regression on TF-IDF of words and pairs of words, in five folds. Where membership was drawn at random
    nothing but chance moves its AUC from 0.5; non-members of another time or place are found out (Duan et al. 2024).
    Each fold's scores are centred: folds differ in their intercept.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    texts, scores = np.array(texts, dtype=object), np.empty(len(texts))
    for seen, held_out in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(texts, member):
        words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+|[^\w\s]", sublinear_tf=True)
        model = LogisticRegression(C=10, max_iter=1000).fit(words.fit_transform(texts[seen]), member[seen])
        found = model.decision_function(words.transform(texts[held_out]))
        scores[held_out] = found - found.mean()
    return scores
