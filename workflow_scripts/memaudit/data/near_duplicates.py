"""Near duplicates among texts: candidates by MinHash (Broder 1997), then the exact Jaccard index.

The similarity (`likeness`) of two texts is the Jaccard index of their shingles, runs of `SHINGLE` words or marks,
whatever their case and spacing. A passage that occurs in two documents is cut at different places in each, yet some
text of the one shares at least half of its words with some text of the other: a similarity of about 0.3.

A pair is compared if its minima agree in one of the bands. A pair of similarity s is missed with probability
(1 - s^2)^64: 0.016 at 0.25, 0.0008 at 0.33. No text is dropped without the exact similarity.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Mask
from memaudit.common.progress_bar import steps

Hashes = NDArray[np.uint64]

SHINGLE = 5
BANDS, ROWS = 64, 2
WORD = re.compile(r"\w+|[^\w\s]")
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def first_of_near_duplicates(texts: Sequence[str], likeness: float) -> Mask:
    """Return a mask (text,) of the texts that are no near duplicate of a text kept before them.

    likeness: least similarity of near duplicates. Of two that MinHash finds the earlier is kept, unless it is itself
    left out.
    """
    shingles = shingles_of(texts)
    kept = np.ones(len(texts), dtype=bool)
    buckets: defaultdict[int, list[int]] = defaultdict(list)
    exact: dict[int, set[int]] = {}
    for text, shared in enumerate(steps(_shared(_bands(shingles)), "near duplicates")):
        if not len(shared):
            continue
        exact[text] = set(shingles[text].tolist())
        near = {other for bucket in shared for other in buckets[bucket]}
        kept[text] = all(jaccard(exact[text], exact[other]) < likeness for other in near)
        if kept[text]:
            for bucket in shared:
                buckets[bucket].append(text)
    return kept


def little_overlap(texts: Sequence[str], share: float) -> Mask:
    """Return a mask (text,) of the texts with at most this share of their distinct shingles in texts kept before them.

    A text may repeat runs of many others without being a near duplicate of any (n-gram overlap, Duan et al. 2024).
    """
    seen: set[int] = set()
    kept = np.zeros(len(texts), dtype=bool)
    for text, of_text in enumerate(shingles_of(texts)):
        own = set(of_text.tolist())
        kept[text] = len(own & seen) <= share * len(own)
        if kept[text]:
            seen |= own
    return kept


def overlap(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the share (text,) of each text's distinct shingles that occur in some other of the texts."""
    if not texts:
        return np.empty(0)
    own = [np.unique(of_text) for of_text in shingles_of(texts)]
    _, place, count = np.unique(np.concatenate(own), return_inverse=True, return_counts=True)
    elsewhere = np.split(count[place] > 1, np.cumsum([len(of_text) for of_text in own])[:-1])
    return np.array([of_text.mean() for of_text in elsewhere])


def jaccard(one: set[int], other: set[int]) -> float:
    """Return the Jaccard index of two sets: size of the intersection over that of the union; 1 for two empty sets."""
    common = len(one & other)
    together = len(one) + len(other) - common
    return common / together if together else 1.0


def shingles_of(texts: Sequence[str]) -> list[Hashes]:
    """Return the hashes of each text's shingles; a text with fewer words than a shingle has one, of all its words."""
    numbers: dict[str, int] = {}
    words = [[numbers.setdefault(word, len(numbers) + 1) for word in WORD.findall(text.lower())] for text in texts]
    words = [of_text + [0] * (SHINGLE - len(of_text)) for of_text in words]
    every = np.array([word for of_text in words for word in of_text], dtype=np.uint64)
    hashes = np.zeros(max(0, len(every) - SHINGLE + 1), dtype=np.uint64)
    for place in range(SHINGLE):
        hashes = _mixed(hashes + every[place : place + len(hashes)])
    ends = np.cumsum([len(of_text) for of_text in words])
    return [hashes[end - len(of_text) : end - SHINGLE + 1] for of_text, end in zip(words, ends, strict=True)]


def _bands(shingles: Sequence[Hashes]) -> Hashes:
    """(text, band): hash of the minima of each band under random orders of all shingles that differ between bands."""
    if not shingles:
        return np.empty((0, BANDS), dtype=np.uint64)
    every, starts = np.concatenate(shingles), np.cumsum([0, *map(len, shingles[:-1])])
    bands = np.zeros((BANDS, len(shingles)), dtype=np.uint64)
    for order in range(BANDS * ROWS):
        salt = np.uint64((order + 1) * int(MULTIPLIER) % 2**64)
        band = bands[order // ROWS]
        band[:] = _mixed(band + np.minimum.reduceat(_mixed(every ^ salt), starts))
    return bands.T


def _shared(bands: Hashes) -> Iterator[list[int]]:
    """Numbers of each text's band values that some other text has too."""
    _, number, count = np.unique(bands, return_inverse=True, return_counts=True)
    number = number.reshape(bands.shape)
    return (of_text[count[of_text] > 1].tolist() for of_text in number)


def _mixed(values: Hashes) -> Hashes:
    """Every bit of the result depends on every bit of the value (splitmix64, Steele et al. 2014)."""
    values = values + MULTIPLIER
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
