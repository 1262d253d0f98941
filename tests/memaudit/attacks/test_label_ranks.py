"""Ranks of labels against sorting by hand, for classes and for numbers, with ties."""

import numpy as np
import torch

from memaudit.attacks.label_ranks import label_ranks
from memaudit.models.predictive_distributions import Binned


def test_ranks_of_classes_are_by_probability_and_ties_share_theirs():
    logits = torch.tensor([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, -torch.inf, 1.0]])
    ranks = label_ranks(logits, np.array([0, 2, 1, 1, 1]), np.arange(3))
    assert ranks.tolist() == [1.0, 3.0, 1.5, 2.0, 3.0]
    assert np.isnan(label_ranks(torch.tensor([[torch.nan, 1.0]]), np.array([1]), np.arange(2))).all()


def test_ranks_of_numbers_are_by_density():
    predicted = Binned.from_bars(torch.tensor([[0.0, 3.0, 1.0, 0.0]] * 4), torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0]))
    choices = np.array([0.5, 1.5, 1.7, 2.5, 9.0], np.float32)
    ranks = label_ranks(predicted, choices[[1, 2, 3, 4]], choices)
    assert ranks.tolist() == [1.5, 1.5, 3.0, 5.0]
