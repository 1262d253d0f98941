"""The smallest AUC that a number of contexts and records can tell."""

import numpy as np

from memaudit.statistics.detection_size import smallest_auc, tells


def test_more_contexts_and_more_records_tell_smaller_leaks():
    few, contexts, both = smallest_auc(16, 24), smallest_auc(32, 24), smallest_auc(32, 64)
    assert few > contexts > both > 0.5


def test_what_cannot_tell_is_refused_and_without_a_limit_nothing_is():
    assert not tells(16, 24, 0.6)
    assert tells(32, 64, 0.6)
    assert not tells(4, 64, 0.6)
    assert tells(4, 4, None)
    assert np.isnan(smallest_auc(32, 4))
