"""What the plan promises about intervals, tried out with the intervals that the studies draw."""

import numpy as np
import pytest

from memaudit.evaluation import bootstrap, sample_size

WIDTH = 0.2


def width(hits):
    """Width of the two-way interval of the share of hits, (record, model); all cells are IN."""
    rng = np.random.default_rng(0)
    weights = bootstrap.two_way_weights(hits.shape[1], hits.shape[0], 2000, rng)
    low, high = bootstrap.interval(bootstrap.rate(hits, np.ones_like(hits), weights))
    return high - low


@pytest.mark.parametrize(("share", "expected"), [(1, 1), (4, 2)])
def test_one_records_tpr_has_the_wanted_interval(share, expected):
    """M models, half of them IN; a quarter of the models makes it twice as wide."""
    inside = sample_size.models_for_width(WIDTH) // 2 // share
    assert width(np.arange(inside)[None] % 2 == 0) == pytest.approx(expected * WIDTH, rel=0.1)


def test_records_that_differ_as_much_as_they_can_need_all_that_are_asked_for():
    records = sample_size.records_for_width(WIDTH)
    hits = np.repeat(np.arange(records)[:, None] % 2 == 0, 500, axis=1)
    assert width(hits) == pytest.approx(WIDTH, rel=0.1)


def test_a_records_own_threshold_needs_the_papers_numbers_of_models():
    assert [sample_size.models_for_fpr(fpr) for fpr in (0.1, 0.01, 0.001)] == [20, 200, 2000]
    assert sample_size.models_for_fpr(0.1, sample_size.ADVISED) == 100
