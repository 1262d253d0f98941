"""Shares of noisy copies that keep the predicted class."""

import numpy as np
import pytest

from memaudit.attacks.score_matrices import stable
from memaudit.common.io import read_grid

pytestmark = pytest.mark.usefixtures("one_thread")
SETS = 16
PERTURBATION = {
    "targets": 10, "sets": SETS, "counts": [5, 10], "scales": [0.01, 3.0], "count": 10, "scale": 0.01,
    "directions": 3, "steps": 4,
}  # fmt: skip


def test_a_member_keeps_its_label_under_little_noise_and_shards_do_not_matter(contexts, queried):
    def of_shards(shard, name):
        params = {"perturbation": PERTURBATION | {"shard": shard}}
        return queried("attacks_query_perturbed", name, SETS, shard, params)

    whole = of_shards(SETS, "perturbed")
    drawn = read_grid(contexts / "main.nc").isel(model=slice(SETS)).sel(record=whole.record.values)
    assert (whole.design.values == (drawn.counts.values > 0)).all()
    assert set(zip(whole.scale.values, whole["count"].values, strict=True)) == {(0.01, 5), (0.01, 10), (3.0, 10)}
    # The nearest neighbour of a member's copy is the member, unless the noise is large.
    little, large = stable(whole, 0.01, 10), stable(whole, 3.0, 10)
    assert np.mean(little[whole.design.values]) > 0.9 > np.mean(large[whole.design.values])
    assert whole.drop_attrs().identical(of_shards(SETS // 2, "halves").drop_attrs())
