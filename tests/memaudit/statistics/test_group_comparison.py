"""A vulnerable group of records is detected and a group without a leak is not."""

import numpy as np

from memaudit.data import membership_matrices
from memaudit.statistics.group_comparison import judge_groups
from memaudit.statistics.threat_models import ratio


def test_the_group_that_leaks_is_found_and_the_other_is_not():
    rng = np.random.default_rng(2)
    design = membership_matrices.balanced(32, 120, rng)
    exposed = np.arange(120) < 40
    attack = ratio(rng.normal(size=design.shape) + 2.0 * design * exposed)
    members = {"exposed": exposed, "quiet": (np.arange(120) >= 40) & (np.arange(120) < 80), "few": np.arange(120) > 115}
    options = {"fprs": [0.1], "replicates": 100, "permutations": 99}
    found = judge_groups(attack, design, members, np.arange(120), rng=rng, **options)
    assert found.keys() == {"exposed", "quiet"}
    assert found["exposed"].q_value <= 0.05
    assert found["exposed"].excess.low > 0.1
    assert found["quiet"].q_value > 0.05
    assert found["quiet"].excess.high < 0
