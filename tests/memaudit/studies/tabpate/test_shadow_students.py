"""Cached answers of PATE teachers, and shadow contexts of a table."""

import numpy as np

from memaudit.studies.tabpate.shadow_students import Remembered


def test_what_is_asked_again_is_remembered_and_said_in_order():
    asked = []

    def ask(contexts, queries):
        asked.append(len(contexts))
        return np.stack([np.full((len(queries), 2), x.sum() + y.sum()) for x, y in contexts])

    known, queries = Remembered(ask), np.zeros((3, 2), dtype=np.float32)
    one, two, same = ((np.full((2, 2), fill, dtype=np.float32), np.arange(2)) for fill in (1, 2, 1))
    assert known([one, two, same], queries)[:, 0, 0].tolist() == [5, 9, 5]
    assert known([two, one], queries)[:, 0, 0].tolist() == [9, 5]
    assert asked == [2]
    assert known([one], queries[:2]).shape == (1, 2, 2)
    assert known([(one[0], one[1][::-1])], queries).shape == (1, 3, 2)
    assert asked == [2, 1, 1], "other queries, or labels in another order, are another question"
