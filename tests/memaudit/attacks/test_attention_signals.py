"""Concentration of attention: geometric mean over heads, and its statistics."""

import numpy as np
import torch

from memaudit.attacks.attention_signals import concentration, geometric_mean
from memaudit.attacks.attention_statistics import STATISTICS

WEIGHTS = torch.tensor([[[0.5, 0.3, 0.2]], [[0.1, 0.8, 0.1]]])[None]  # (table, head, query, row)


def test_statistics_are_those_of_the_geometric_mean_over_heads():
    logs = np.log(WEIGHTS.numpy()).mean(1)[0, 0]
    shares = np.exp(logs) / np.exp(logs).sum()
    largest, gap, entropy = concentration(WEIGHTS)[0, 0].tolist()
    second, first = np.sort(logs)[1:]
    np.testing.assert_allclose([largest, gap], [first, first - second], rtol=1e-6)
    np.testing.assert_allclose(entropy, (shares * np.log(shares)).sum(), rtol=1e-6)
    assert len(STATISTICS) == 3


def test_the_largest_weight_is_larger_where_all_heads_meet_a_row_than_where_one_does():
    every = torch.tensor([[[0.6, 0.2, 0.2]], [[0.6, 0.2, 0.2]]])[None]
    single = torch.tensor([[[0.98, 0.01, 0.01]], [[0.22, 0.39, 0.39]]])[None]
    assert (every.mean(1).amax() - single.mean(1).amax()).abs() < 1e-6
    assert concentration(every)[..., 0] > concentration(single)[..., 0]


def test_a_weight_of_zero_is_finite():
    assert concentration(torch.tensor([1.0, 0.0, 0.0]).expand(1, 2, 4, 3)).isfinite().all()
    assert geometric_mean(torch.zeros(1, 2, 1, 3)).isfinite().all()
