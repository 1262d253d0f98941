"""Mitigations without training: bags of a context, coarser records."""

import numpy as np
import pytest
import torch

from memaudit.attacks.mitigations import bagged, coarsened, mixture


def test_bags_average_probabilities():
    probabilities = {0: [0.9, 0.1], 1: [0.2, 0.8], 2: [0.5, 0.5]}

    def answer(part):
        return torch.log(torch.tensor([probabilities[int(part[0])]]))

    found = bagged(answer, np.arange(3), 3, order=[2, 0, 1]).exp()
    assert found[0].tolist() == pytest.approx([1.6 / 3, 1.4 / 3])


def test_bags_of_numbers_are_a_mixture():
    answers = torch.tensor([[[0.2, 3.0]], [[0.6, 5.0]]], dtype=torch.float64)
    answers[..., 0].log_()
    found = bagged(lambda part: answers[int(part[0])], np.arange(2), 2, [0, 1], mixture)
    assert found[0, 0].exp().item() == pytest.approx(0.4)
    assert found[0, 1].item() == pytest.approx(4.0)


def test_a_coarse_number_is_the_middle_of_its_quarter_and_a_coarse_category_is_missing():
    reference = torch.arange(8.0)[:, None].repeat(1, 2)
    x = torch.tensor([[0.0, 1.0], [3.0, 1.0], [torch.nan, 1.0], [99.0, 1.0]])
    coarse = coarsened(x, reference, np.array([True, False]))
    assert coarse[:, 0].nan_to_num(-1).tolist() == [1.0, 3.0, -1.0, 7.0]
    assert coarse[:, 1].isnan().all()
