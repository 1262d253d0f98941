"""Losses of unigram and bigram tables: known distributions, and the weighting of texts."""

import numpy as np
import pytest

from memaudit.models.ngram_losses import ngram_losses


def chain(rng, transition, texts, length):
    ids = np.empty((texts, length), dtype=np.int64)
    ids[:, 0] = rng.integers(len(transition), size=texts)
    for place in range(1, length):
        below = rng.random(texts)[:, None] > transition[ids[:, place - 1]].cumsum(1)
        ids[:, place] = below.sum(1)
    return ids, np.ones_like(ids, dtype=bool)


def test_the_bigram_reaches_the_entropy_rate_of_a_markov_chain():
    rng = np.random.default_rng(0)
    transition = np.full((5, 5), 0.02) + 0.9 * np.roll(np.eye(5), 1, axis=1)
    seen, scored = (chain(rng, transition, 2000, 30) for _ in range(2))
    losses = ngram_losses(seen, scored, 5)
    rate = -(transition * np.log(transition)).sum(1).mean()
    assert losses["bigram"] == pytest.approx(rate, abs=0.01)
    assert losses["unigram"] == pytest.approx(np.log(5), abs=0.01)


def test_independent_tokens_leave_the_bigram_nothing_to_gain():
    rng = np.random.default_rng(1)
    seen, scored = (chain(rng, np.full((40, 40), 1 / 40), 400, 20) for _ in range(2))
    losses = ngram_losses(seen, scored, 40)
    assert losses["bigram"] == pytest.approx(losses["unigram"], abs=0.02)


def test_texts_weigh_alike_and_padding_counts_nothing():
    seen = np.array([[0, 1, 0, 1, 0, 1]]), np.ones((1, 6), dtype=bool)
    ids = np.array([[0, 1, 0, 1], [0, 2, 2, 2]])
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0]], dtype=bool)
    alone = [ngram_losses(seen, (ids[[row]], mask[[row]]), 3)["unigram"] for row in range(2)]
    assert ngram_losses(seen, (ids, mask), 3)["unigram"] == pytest.approx(np.mean(alone))


def test_a_token_never_seen_has_a_finite_loss():
    seen = np.array([[0, 1, 0]]), np.ones((1, 3), dtype=bool)
    scored = np.array([[2, 3, 2]]), np.ones((1, 3), dtype=bool)
    assert all(np.isfinite(loss) for loss in ngram_losses(seen, scored, 4).values())
