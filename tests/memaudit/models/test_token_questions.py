"""Records as questions in tokens: of columns with their own tokens, and of words that all columns share."""

import numpy as np

from memaudit.models.token_questions import Words

CELLS = np.array([[0, 1, 3], [2, 2, 0]])


def test_questions_of_columns_have_tokens_of_their_own():
    words = Words(columns=3, bins=4, classes=2)
    assert words.questions(CELLS).tolist() == [[0, 5, 11, 12], [2, 6, 8, 12]]
    assert words.questions(CELLS, np.array([True, False])).tolist() == [[0, 5, 11, 13], [2, 6, 8, 12]]
    assert words.answers.tolist() == [14, 15]
    assert words.size == 16


def test_words_share_their_tokens():
    words = Words(columns=3, bins=4, classes=2, shared=True)
    assert words.questions(CELLS).tolist() == [[0, 1, 3, 4], [2, 2, 0, 4]]
    assert words.answers.tolist() == [6, 7]


def test_the_synthetic_question_is_about_the_signed_sum():
    assert Words(3, 4, 2).sums(CELLS, np.repeat([1, -1, 1], 4)).tolist() == [2, 0]
    assert Words(3, 4, 2, shared=True).sums(CELLS, np.array([1, -1, -1, 1])).tolist() == [1, -1]
