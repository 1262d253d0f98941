"""TPRs above quantiles of OUT scores against plain resampling."""

import numpy as np
import pytest
from plain_resampling import CELLS, WEIGHTS

from memaudit.statistics.quantile_replicates import per_record_tpr, pooled_tpr


@pytest.mark.parametrize("decimals", [7, 0])
@pytest.mark.parametrize("fpr", [0.3, 0.1, 0.004])
def test_strict_quantile_rates_equal_plain_resampling_with_ties_too(fpr, decimals):
    scores, member = np.round(CELLS[0], decimals).T.astype(np.float32), CELLS[1].T
    pooled, averaged = pooled_tpr(scores, member, fpr, WEIGHTS), per_record_tpr(scores, member, fpr, WEIGHTS)
    for i, (of_model, of_record) in enumerate(zip(WEIGHTS.models, WEIGHTS.records, strict=True)):
        drawn = [x.repeat(of_model.astype(int), 1).repeat(of_record.astype(int), 0) for x in (scores, member)]
        values, inside = drawn[0].astype(float), drawn[1]
        assert pooled[i] == pytest.approx((values[inside] > np.quantile(values[~inside], 1 - fpr)).mean(), abs=1e-12)
        each = [(v[m] > np.quantile(v[~m], 1 - fpr)).mean() for v, m in zip(values, inside, strict=True)]
        assert averaged[i] == pytest.approx(np.mean(each), abs=1e-12)
