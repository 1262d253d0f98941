"""Answers of shadow contexts for the values of a sensitive column."""

import numpy as np
import pytest

from memaudit.common.io import read_grid

pytestmark = pytest.mark.usefixtures("one_thread")
LEVELS, SETS = 4, 16


def test_every_member_is_queried_at_every_level_and_shards_do_not_matter(contexts, queried):
    inference = {"sensitive": {"wine": "alcohol"}, "levels": LEVELS, "sets": SETS}

    def of_shards(shard, name):
        return queried("attacks_query_attribute", name, SETS, shard, {"shard": shard, "inference": inference})

    whole = of_shards(SETS, "attribute")
    drawn = read_grid(contexts / "main.nc")
    drawn = drawn.isel(record=drawn.member.values, model=slice(SETS))
    assert list(whole.record.values) == list(drawn.record.values)
    assert whole.logits.shape == (SETS, drawn.sizes["record"], LEVELS, 2)
    assert (whole.design.values == (drawn.counts.values > 0)).all()
    assert set(np.unique(whole.truth)) == {0, 1}
    assert whole["prior"].values.sum() == pytest.approx(1)
    assert whole.drop_attrs().identical(of_shards(SETS // 2, "halves").drop_attrs())
