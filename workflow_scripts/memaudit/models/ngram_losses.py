"""Cross-entropies of unigram and bigram tables: what counts alone predict, without a language model."""

import numpy as np

from memaudit.common.arrays import Mask
from memaudit.models.language_models import Ids

# Weights of the unigram in the bigram's estimate, in tokens. The best one on the scored texts is taken, which favours
# the bigram: a model below it is below every smoothing of this list.
WEIGHTS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


def ngram_losses(seen: tuple[Ids, Mask], scored: tuple[Ids, Mask], vocabulary: int) -> dict[str, float]:
    """Mean loss in nats of the texts `scored` under a unigram and a bigram table counted on `seen`.

    Both are (ids, mask) of shape (text, token). The unigram has one count added to each token; the bigram is smoothed
    towards it by a Dirichlet prior (MacKay and Peto 1995). As in `language_models.mean_loss`, a text's loss is the mean
    over its tokens after the first, and texts weigh alike.
    """
    first, second, _ = _pairs(*seen)
    unigram = np.bincount(second, minlength=vocabulary) + 1.0
    unigram /= unigram.sum()
    counts = np.zeros((vocabulary, vocabulary))
    np.add.at(counts, (first, second), 1.0)
    totals = counts.sum(1)
    before, after, text = _pairs(*scored)
    bigrams = [
        _mean(-np.log((counts[before, after] + weight * unigram[after]) / (totals[before] + weight)), text)
        for weight in WEIGHTS
    ]
    return {"unigram": _mean(-np.log(unigram[after]), text), "bigram": min(bigrams)}


def _pairs(ids: Ids, mask: Mask) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tokens, their successors, and the text of each pair."""
    both = mask[:, :-1].astype(bool) & mask[:, 1:].astype(bool)
    return ids[:, :-1][both], ids[:, 1:][both], np.nonzero(both)[0]


def _mean(losses: np.ndarray, text: np.ndarray) -> float:
    """Mean over texts of each text's mean."""
    counts = np.bincount(text)
    return float((np.bincount(text, losses)[counts > 0] / counts[counts > 0]).mean())
