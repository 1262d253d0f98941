"""No leak, no signal: what leave-one-out does to scores of designs that carry no information."""

import numpy as np
import pytest
from scipy.stats import rankdata

from memaudit.attacks.calibrate import calibrate

MODELS, RECORDS, SEEDS = 16, 100, 150


def mean_auc(method, design_of, **options):
    aucs = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        signals = (rng.normal(size=(MODELS, RECORDS)) + rng.normal(size=(MODELS, 1))) * np.exp(rng.normal(size=RECORDS))
        design = design_of(rng)
        ranks = rankdata(calibrate(signals, design, method, **options)).reshape(design.shape)
        members = design.sum()
        above = ranks[design].sum() - members * (members + 1) / 2
        aucs.append(above / (members * (design.size - members)))
    return np.mean(aucs)


def balanced(rng):
    return rng.random((MODELS, RECORDS)).argsort(0) < MODELS // 2


def bernoulli(rng):
    return rng.random((MODELS, RECORDS)).argsort(0) < np.clip(rng.binomial(MODELS, 0.5, RECORDS), 3, MODELS - 3)


@pytest.mark.parametrize("design_of", [balanced, bernoulli])
@pytest.mark.parametrize("method", ["lira", "lira_offline", "postprocessed"])
def test_scores_without_a_leak_have_auc_one_half(method, design_of):
    # The deviation of the mean over 150 seeds is 0.0016: 0.006 is almost 4 of them.
    assert mean_auc(method, design_of) == pytest.approx(0.5, abs=0.006)


def test_leaving_out_the_target_alone_pushes_members_below_non_members():
    assert mean_auc("lira", balanced, leave="self") == pytest.approx(0.487, abs=0.006)
