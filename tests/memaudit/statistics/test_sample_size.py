"""What the plan promises about intervals, tried out with the intervals that the studies draw."""

import numpy as np
import pytest

from memaudit.statistics import bootstrap, sample_size

WIDTH = 0.2


def width(hits, inside=None):
    """Width of the two-way interval of the share of hits, (record, model), among the IN cells; without them, of all."""
    rng = np.random.default_rng(0)
    weights = bootstrap.two_way_weights(hits.shape[1], hits.shape[0], 2000, rng)
    low, high = bootstrap.interval(bootstrap.rate(hits, np.ones_like(hits) if inside is None else inside, weights))
    return high - low


def hits_of(records, models, decided_by):
    """Hits that the record or the model decides alone, half of them, and as many IN cells."""
    inside = (np.arange(records)[:, None] // 2 + np.arange(models) // 2) % 2 == 0
    by = np.arange(records)[:, None] if decided_by == "record" else np.arange(models)[None]
    return np.broadcast_to(by % 2 == 0, inside.shape) & inside, inside


@pytest.mark.parametrize(("share", "expected"), [(1, 1), (4, 2)])
def test_one_records_tpr_has_the_wanted_interval(share, expected):
    """M models, half of them IN; a quarter of the models makes it twice as wide."""
    inside = sample_size.models_for_width(WIDTH) // 2 // share
    assert width(np.arange(inside)[None] % 2 == 0) == pytest.approx(expected * WIDTH, rel=0.1)


@pytest.mark.parametrize("decided_by", ["record", "model"])
def test_the_mean_tpr_needs_all_records_and_models_that_are_asked_for(decided_by):
    each = sample_size.each_for_width(WIDTH)
    assert width(*hits_of(each, each, decided_by)) == pytest.approx(WIDTH, rel=0.1)


@pytest.mark.parametrize("decided_by", ["record", "model"])
def test_more_of_one_side_does_not_make_up_for_fewer_of_the_other(decided_by):
    """A quarter of the records makes the interval twice as wide, and so does a quarter of the models."""
    few, many = sample_size.each_for_width(WIDTH) // 4, sample_size.each_for_width(WIDTH) * 4
    shape = (few, many) if decided_by == "record" else (many, few)
    assert width(*hits_of(*shape, decided_by)) == pytest.approx(2 * WIDTH, rel=0.1)


def test_a_records_own_threshold_needs_the_papers_numbers_of_models():
    assert [sample_size.models_for_fpr(fpr) for fpr in (0.1, 0.01, 0.001)] == [20, 200, 2000]
    assert sample_size.models_for_fpr(0.1, sample_size.ADVISED) == 100


def test_requirements_say_what_falls_short():
    found = list(sample_size.requirements(100, {"wine": 200, "beer": 50}, [0.1, 0.001], WIDTH))
    assert [needed.count for needed in found] == [20, 2000, 194, 97]
    assert [needed.short for needed in found] == [[], ["models"], ["models"], ["beer"]]
    assert "models for a threshold of each record's own at FPR 0.1, 100 are advised" in found[0].purpose
