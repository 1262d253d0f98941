"""The share that is memorized by chance is that of LiRA itself on signals which do not depend on membership."""

import numpy as np
import pytest

from memaudit.config.chance_memorized import MOST_BY_CHANCE, chance_share
from memaudit.studies.predict.ground_truth import log_lira
from memaudit.studies.predict.prediction_metrics import CHANCE_SHARE


@pytest.mark.parametrize(("models", "least"), [(8, 0.5), (8, 4.0), (16, 1.0), (64, 4.0)])
def test_the_share_is_that_of_lira_without_a_leak(models, least):
    rng = np.random.default_rng(1)
    signals = rng.normal(3.0, 7.0, (models, 20_000))
    membership = rng.permuted(np.arange(models)[:, None] % 2 == np.zeros(20_000), axis=0)
    scores = log_lira(signals, membership)[0]
    assert chance_share(models, least) == pytest.approx((scores[~membership[0]] >= least).mean(), abs=0.015)


def test_the_limit_is_that_of_the_gate_after_training():
    assert MOST_BY_CHANCE == CHANCE_SHARE
