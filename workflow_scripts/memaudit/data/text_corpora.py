"""Corpora of texts whose membership is known by construction.

Documents are split between pre-training and the pool. The pool's texts are assigned at random to members, non-members
and the selection set, which is neither and whose loss selects a fine-tuned model's checkpoint. So members and
non-members have one distribution, and a classifier that sees only the texts cannot distinguish them, which is tested
for each target's own membership (`attacks.blind_texts`). No document has more than a few texts in the pool: membership
of the pieces of one document says little about memorization elsewhere.
"""

import hmac
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from memaudit.common.arrays import Mask
from memaudit.common.errors import AuditError
from memaudit.data.near_duplicates import first_of_near_duplicates, little_overlap

Starts = Callable[[str], Sequence[int]]

MEMBER, NONMEMBER, SELECTION, PRETRAINING = "member", "nonmember", "selection", "pretraining"
PARTS = (MEMBER, NONMEMBER, SELECTION, PRETRAINING)


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
    pool: pd.DataFrame,
    pretraining: pd.DataFrame,
    sizes: Mapping[str, int],
    rng: np.random.Generator,
    *,
    most: int,
    documents: int,
    overlap: float,
) -> pd.DataFrame:
    """Draw sizes[part] texts of each `part` from the pool at random, and at most so many of those for pre-training.

    most: texts of the pool that one document may have; documents: fewest that members and non-members come from;
    overlap: largest share of a text's runs of words that occur in the pool's texts before it. Raises AuditError where
    the pool is too small or of too few documents.
    """
    parts = [part for part in PARTS if part != PRETRAINING]
    needed = sum(sizes[part] for part in parts)
    mixed = pool.iloc[rng.permutation(len(pool))]
    mixed = mixed[mixed.groupby("document", sort=False).cumcount() < most]
    mixed = mixed[little_overlap(mixed["text"].tolist(), overlap)]
    if len(mixed) < needed:
        raise AuditError(
            f"{len(mixed)} texts are left without duplicates and overlap, at most {most} a document, {needed} are"
            " needed; give the corpus more characters, raise document_texts or document_share of ltmia/texts, or set"
            " fewer texts"
        )
    assigned = mixed[:needed].assign(part=np.repeat(parts, [sizes[part] for part in parts]))
    count, _ = documents_of(assigned["document"][assigned["part"] != SELECTION])
    if count < documents:
        raise AuditError(
            f"its members and non-members come from {count} documents, {documents} are needed; give the corpus more"
            " characters or a smaller document_characters, take another corpus, or lower ltmia/texts/documents"
        )
    few = rng.permutation(len(pretraining))[: sizes[PRETRAINING]]
    return pd.concat([assigned, pretraining.iloc[few].assign(part=PRETRAINING)], ignore_index=True)


def most_per_document(attacked: int, share: float, texts: int) -> int:
    """Return how many texts one document may have: `texts`, or if fewer this share of those attacked; at least 1."""
    return max(1, min(texts, int(share * attacked + 1e-9)))


def documents_of(documents: Sequence[str]) -> tuple[int, float]:
    """Return the number of documents of texts (text,), and their effective number: 1 / sum of squared shares."""
    counts = np.unique(np.asarray(documents, dtype=str), return_counts=True)[1]
    return len(counts), float(counts.sum() ** 2 / (counts**2).sum())


def membership(texts: pd.DataFrame, redraw: np.random.Generator | None = None) -> pd.DataFrame:
    """Return the attacked texts (columns id, text, member), sorted by id, so that their order carries no information.

    redraw: assign membership of the same texts again, with as many members. If every model had the same members, a
    classifier trained on several models could recognise the texts instead of memorization.
    """
    attacked = texts[texts["part"].isin([MEMBER, NONMEMBER])].sort_values("id", ignore_index=True)
    member = (attacked["part"] == MEMBER).to_numpy()
    return attacked[["id", "text"]].assign(member=member if redraw is None else redraw.permutation(member))


def trained_on(texts: pd.DataFrame, attacked: pd.DataFrame, which: str, rng: np.random.Generator) -> pd.Series:
    """Return the texts that a target is fine-tuned on, as many as it has members.

    attacked: of `membership`; which: `members`; `other members`, drawn from the attacked texts independently of the
    membership; or `other texts`, drawn from the corpus's texts for pre-training, all if they are fewer. Raises
    AuditError where there are none of these.
    """
    member = attacked["member"].to_numpy()
    if which != "other texts":
        return attacked["text"][rng.permutation(member) if which == "other members" else member]
    others = texts["text"][texts["part"] == PRETRAINING]
    if others.empty:
        raise AuditError("there are no other texts to train on; set ltmia/texts/parts/pretraining")
    return others.iloc[rng.permutation(len(others))[: member.sum()]]


def text_id(text: str, key: bytes) -> str:
    """Return the keyed hash of a text, 32 hexadecimal digits: the same wherever the text occurs (see `record_ids`)."""
    return hmac.digest(key, text.encode(), "sha256").hex()[:32]
