"""A shadow model is its context: the signal of a record depends on the records in it alone."""

import numpy as np
import torch

from memaudit.attacks.shadow_queries import logit_signals
from memaudit.attacks.signals import CLIP


class Neighbour:
    """Probability .8 of the nearest context row's class; two classes."""

    task, alone, module, device = "classification", True, None, "cpu"

    def logits(self, context_x, context_y, query_x):
        nearest = torch.cdist(query_x, context_x).argmin(-1)
        label = torch.gather(context_y, 1, nearest)
        return torch.where(torch.nn.functional.one_hot(label, 2).bool(), 0.8, 0.2).log()


def test_a_record_whose_neighbours_disagree_shows_its_membership():
    x = torch.tensor([[0.0], [0.1], [10.0], [10.1]])
    y = torch.tensor([0, 1, 0, 1])
    contexts = np.array([[True, True, True, True], [False, True, True, True], [True, False, True, False]])
    signals = logit_signals(Neighbour(), x, y, contexts, torch.tensor([True, False, True, False]), 2)
    assert signals.shape == (3, 2)
    np.testing.assert_allclose(signals[:, 0], np.log(4) * np.array([1, -1, 1]), rtol=1e-5)
    np.testing.assert_allclose(signals[:, 1], np.log(4), rtol=1e-5)


def test_probabilities_are_clipped_before_their_logarithm():
    class Certain(Neighbour):
        def logits(self, *tensors):
            return super().logits(*tensors) * 1000

    signals = logit_signals(
        Certain(), torch.zeros(2, 1), torch.tensor([0, 1]), np.ones((1, 2), bool), torch.ones(2).bool(), 2
    )
    assert np.abs(signals).max() <= -np.log(CLIP) + 1e-3
