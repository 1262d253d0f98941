"""Records that are known to be hard: wrong labels, and canaries outside the distribution.

"Predicting memorization within LLMs fine-tuned for classification", Section 5.8.
"""

from dataclasses import replace

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from memaudit.common.arrays import Array, Codes
from memaudit.statistics.record_distances import standardised
from memaudit.studies.predict.setting_sources import Records

NEIGHBOURS = 5  # natural records whose labels make a canary's likely label


def with_canaries(records: Records, count: int, rng: np.random.Generator) -> Records:
    """The records and `count` canaries: each column is drawn independently from the records', the label is unlikely.

    Canaries lie outside the distribution, as those of Section 5.8, and have another label than most of their nearest
    natural records: it can only be memorized.
    """
    if not count:
        return records
    rows = rng.integers(0, len(records.code), (count, records.x.shape[1]))
    x = np.take_along_axis(records.x, rows, 0)
    code = _another(likely(records, x), np.full(count, records.classes), rng)
    drawn = {
        "x": x,
        "code": code,
        "clean": code,
        "choices": np.full(count, records.classes),
        "ids": np.array([f"canary-{number:04d}" for number in range(count)]),
        "unit": records.unit.max() + 1 + np.arange(count),
        "canary": np.ones(count, bool),
    }
    return replace(records, **{key: np.concatenate([getattr(records, key), more]) for key, more in drawn.items()})


def mislabelled(records: Records, share: float, rng: np.random.Generator) -> Records:
    """The records with another of their possible labels on that share of those that are no canaries."""
    natural = np.flatnonzero(~records.canary)
    wrong = rng.permutation(natural)[: round(share * len(natural))]
    code = records.code.copy()
    code[wrong] = _another(code[wrong], records.choices[wrong], rng)
    return replace(records, code=code)


def likely(records: Records, x: Array) -> Codes:
    """Label of most of the 5 nearest records of each row of x (row, column), (row,)."""
    if len(records.categorical):
        kinds, reference = records.categorical, np.arange(len(records.x) + len(x)) < len(records.x)
        space, metric = standardised(np.concatenate([records.x, x]), kinds, reference), "euclidean"
    else:  # pixels are on one scale; words are codes, which are equal or not
        metric = "hamming" if records.words else "euclidean"
        space = np.concatenate([records.x, x])
    neighbours = KNeighborsClassifier(min(NEIGHBOURS, len(records.x)), metric=metric)
    neighbours.fit(space[: len(records.x)], records.code)
    return neighbours.predict(space[len(records.x) :])


def _another(code: Codes, choices: Codes, rng: np.random.Generator) -> Codes:
    """Another label than each code (record,), at random among the first `choices` (record,)."""
    return (code + rng.integers(1, choices)) % choices
