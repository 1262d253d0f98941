"""The blind classifier scores texts by folds that have not seen them, and linearly in the membership."""

import numpy as np
from random_texts import rng, sentences
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge

from memaudit.attacks.blind_texts import FOLDS, PENALTY, blind_weights

MEMBER = np.arange(200) % 2 == 0


def test_scores_are_those_of_ridge_regressions_on_the_other_folds():
    texts = sentences(60, "folds", words=30)
    member = rng("members").random(60) < 0.4
    scores = blind_weights(texts, rng("folds")) @ member
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+|[^\w\s]", sublinear_tf=True).fit_transform(texts)
    for held_out in np.array_split(rng("folds").permutation(60), FOLDS):
        seen = np.setdiff1d(np.arange(60), held_out)
        target = member[seen] - member[seen].mean()
        model = Ridge(alpha=PENALTY, fit_intercept=False).fit(words[seen].toarray(), target)
        expected = model.predict(words[held_out].toarray())
        np.testing.assert_allclose(scores[held_out], expected - expected.mean(), atol=1e-8)


def test_a_word_of_members_is_found_and_a_word_of_one_text_is_not():
    """Every text alone holds a word of its own: a classifier that had seen the text would know all members."""
    texts = [f"{text} own{number}" for number, text in enumerate(sentences(200, "folds", words=40000))]
    scores = blind_weights(texts, rng("own")) @ MEMBER
    assert abs((scores[MEMBER][:, None] > scores[~MEMBER]).mean() - 0.5) < 0.12
    marked = [text + (" seen" if member else "") for text, member in zip(texts, MEMBER, strict=True)]
    scores = blind_weights(marked, rng("marked")) @ MEMBER
    assert (scores[MEMBER][:, None] > scores[~MEMBER]).mean() > 0.95
