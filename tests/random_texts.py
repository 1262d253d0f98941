"""Random texts and tables of them."""

import pandas as pd

from memaudit.common import seeds
from memaudit.data.near_duplicates import WORD


def rng(name="a test"):
    return seeds.generator(1, name)


def sentences(count, name, words=400, length=40):
    """Texts of random words; no two share a run of five but by a planted copy."""
    draw = rng(name)
    return [" ".join(f"w{word}" for word in draw.integers(words, size=length)) for _ in range(count)]


def table(texts, per_document=1):
    return pd.DataFrame({"document": [str(i // per_document) for i in range(len(texts))], "text": texts})


def shingles(text):
    words = WORD.findall(text.lower())
    return {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))}


def likeness(one, other):
    """Jaccard index of the shingles of two texts, by definition."""
    one, other = shingles(one), shingles(other)
    return len(one & other) / len(one | other)
