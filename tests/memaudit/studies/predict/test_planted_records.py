"""Wrong labels are possible ones, and the labels of canaries are unlikely."""

import numpy as np

from memaudit.studies.predict.planted_records import likely, mislabelled, with_canaries
from memaudit.studies.predict.setting_sources import Records


def test_another_label_is_one_that_the_record_may_have():
    count = 3000
    choices = np.tile([2, 4, 3], count // 3)
    code = np.zeros(count, int)
    plain = Records(np.zeros((count, 1)), code, code, choices, code.astype(str), code, code > 0, np.zeros(1, bool))
    noisy = mislabelled(plain, 0.5, np.random.default_rng(0))
    changed = noisy.code != noisy.clean
    assert changed.sum() == count / 2
    assert (noisy.code < choices).all()
    for choice in (2, 3, 4):
        assert set(noisy.code[changed & (choices == choice)]) == set(range(1, choice))
    assert with_canaries(plain, 0, np.random.default_rng(0)) is plain


def of_words(words, code, classes):
    none, count = np.zeros(0, bool), len(code)
    choices, ids = np.full(count, classes), np.arange(count)
    return Records(words, code, code, choices, ids.astype(str), ids, np.zeros(count, bool), none, words=True)


def test_the_label_of_a_canary_is_an_unlikely_one():
    """Three classes of words; a canary of the words of a class has either other label."""
    code = np.repeat(np.arange(3), 30)
    records = of_words(np.tile(code[:, None], (1, 4)), code, 3)
    assert likely(records, np.array([[2, 2, 2, 0], [1, 1, 1, 1]])).tolist() == [2, 1]
    planted = with_canaries(records, 40, np.random.default_rng(0))
    canary = planted.canary
    assert (planted.code[canary] != likely(records, planted.x[canary])).all()
    assert set(planted.code[canary]) == {0, 1, 2}
