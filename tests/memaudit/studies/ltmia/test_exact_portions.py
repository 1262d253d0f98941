"""Numbers of texts that a config can be checked against."""

import numpy as np
import pytest
from conftest import load

from memaudit.common.errors import AuditError
from memaudit.studies.ltmia.exact_portions import balanced_draw, exact_portions

IDS = [f"{number:04x}" for number in range(300)]


def test_portions_have_exact_sizes_and_follow_the_order_of_ids():
    assert exact_portions(IDS, 0.1, 0.05) == {
        "validation": slice(0, 30),
        "test": slice(30, 45),
        "training": slice(45, 300),
    }
    with pytest.raises(AuditError, match="not in the order of their ids"):
        exact_portions(IDS[::-1], 0.1, 0.1)


@pytest.mark.parametrize(("members", "drawn"), [(100, 60), (30, 30), (180, 100), (0, 0), (200, 120)])
def test_a_draw_is_as_balanced_as_its_texts_allow(members, drawn):
    rng = np.random.default_rng(3)
    member = rng.permutation(np.arange(200) < members)
    places = balanced_draw(member, 120, rng)
    assert len(set(places)) == places.size == 120
    assert np.array_equal(places, np.sort(places))
    assert member[places].sum() == drawn


def test_all_texts_are_drawn_where_all_are_needed():
    rng = np.random.default_rng(0)
    member = rng.random(180) < 0.5
    assert np.array_equal(balanced_draw(member, 180, rng), np.arange(180))
    with pytest.raises(AuditError, match="180 texts to train on, 181 are needed"):
        balanced_draw(member, 181, rng)


def test_the_papers_config_has_the_texts_that_its_table_12_trains_on():
    study = load("paper")["ltmia"]
    parts = study["texts"]["parts"]
    ids = [f"{number:08x}" for number in range(parts["member"] + parts["nonmember"])]
    training = exact_portions(ids, study["validation"], study["test"])["training"]
    assert training.stop - training.start == study["diversity"]["samples"] == 18000
