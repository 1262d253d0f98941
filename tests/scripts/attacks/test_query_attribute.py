"""Answers of shadow contexts for the values of a sensitive column."""

import numpy as np
import pytest
from context_files import run

from memaudit.attacks.score_matrices import gather
from memaudit.common.io import read_grid

pytestmark = pytest.mark.usefixtures("one_thread")
LEVELS, SETS = 4, 16


def queried(project, folder, shard, name):
    files = ["records=records.parquet", "schema=schema.json", "design=main.nc", "model=model.json"]
    inference = {"sensitive": {"wine": "alcohol"}, "levels": LEVELS, "sets": SETS}
    params = {"seed": 1, "shard": shard, "code": "by hand", "inference": inference}
    paths = [f"{name}-{number}.nc" for number in range(SETS // shard)]
    for number, path in enumerate(paths):
        wildcards = {"dataset": "wine", "shard": str(number)}
        run(project, folder, "attacks_query_attribute", files, [path], params, wildcards)
    return gather([str(folder / path) for path in paths])


def test_every_member_is_queried_at_every_level_and_shards_do_not_matter(contexts, project):
    whole = queried(project, contexts, SETS, "attribute")
    drawn = read_grid(contexts / "main.nc")
    drawn = drawn.isel(record=drawn.member.values, model=slice(SETS))
    assert list(whole.record.values) == list(drawn.record.values)
    assert whole.logits.shape == (SETS, drawn.sizes["record"], LEVELS, 2)
    assert (whole.design.values == (drawn.counts.values > 0)).all()
    assert set(np.unique(whole.truth)) == {0, 1}
    assert whole["prior"].values.sum() == pytest.approx(1)
    assert whole.drop_attrs().identical(queried(project, contexts, SETS // 2, "halves").drop_attrs())
