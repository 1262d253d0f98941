"""Three ways to compute LiRA's leave-one-out scores agree."""

import numpy as np
import pytest

from memaudit.attacks.lira import log_likelihood_ratio
from memaudit.attacks.naive_ratios import plain_ratios, ratios_by_record


@pytest.mark.parametrize("way", [plain_ratios, ratios_by_record])
def test_a_naive_way_gives_the_scores_of_lira(way):
    rng = np.random.default_rng(0)
    member = rng.random((16, 12)).argsort(0) < 8
    signals = (rng.normal(size=member.shape) + member + rng.normal(size=12)).astype(np.float32)
    np.testing.assert_allclose(way(signals, member), log_likelihood_ratio(signals, member, leave="self"), rtol=1e-4)
