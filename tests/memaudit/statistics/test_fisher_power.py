"""The smallest share is found as often as stated, by the test itself."""

import numpy as np
import pytest
from scipy.stats import fisher_exact

from memaudit.statistics.fisher_power import smallest_share


@pytest.mark.parametrize(("first", "second"), [(300, 200), (120, 600)])
def test_the_smallest_share_is_found_with_the_stated_probability(first, second):
    rng, share = np.random.default_rng(0), smallest_share(first, second, 0.02)
    found = []
    for inside, outside in zip(rng.binomial(first, share, 1500), rng.binomial(second, 0.02, 1500), strict=True):
        table = [[inside, first - inside], [outside, second - outside]]
        found.append(fisher_exact(table, alternative="greater").pvalue <= 0.05)
    assert np.mean(found) == pytest.approx(0.8, abs=0.04)


def test_more_records_find_less_and_too_few_nothing():
    assert smallest_share(1000, 1000, 0.01) < smallest_share(200, 200, 0.01)
    assert smallest_share(2, 2, 0.5) is None
