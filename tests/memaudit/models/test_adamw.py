"""AdamW is torch's to the bit, also when it goes on from its state, and does not import the compiler."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from memaudit.models.adamw import AdamW

SETTINGS = {"lr": 1e-2, "betas": (0.8, 0.95), "weight_decay": 0.1}


def weights():
    torch.manual_seed(0)
    return [nn.Parameter(torch.randn(shape)) for shape in ((3, 4), (5,), (2, 2))]


def steps(optimizer, parameters, numbers):
    """Steps with other gradients and rates each; the last weight has a gradient in every second step only."""
    for number in numbers:
        torch.manual_seed(number)
        optimizer.zero_grad()
        used = parameters[: 2 + number % 2]
        sum((weight * torch.randn_like(weight)).sum() for weight in used).backward()
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 / (1 + number)
        optimizer.step()


@pytest.fixture
def expected():
    parameters = weights()
    steps(torch.optim.AdamW(parameters, **SETTINGS, fused=True), parameters, range(6))
    return parameters


def test_steps_are_those_of_torch(expected):
    parameters = weights()
    steps(AdamW(parameters, **SETTINGS), parameters, range(6))
    assert all(map(torch.equal, parameters, expected))


def test_it_goes_on_from_its_state(expected, tmp_path):
    parameters = weights()
    first, second = AdamW(parameters, **SETTINGS), AdamW(parameters, **SETTINGS | {"lr": 1.0})
    steps(first, parameters, range(3))
    torch.save(first.state_dict(), tmp_path / "state.pt")
    second.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert second.param_groups == first.param_groups
    steps(second, parameters, range(3, 6))
    assert all(map(torch.equal, parameters, expected))


def test_the_compiler_is_not_imported():
    lines = ["import sys, torch", "from memaudit.models.adamw import AdamW"]
    lines += ["weight = torch.nn.Parameter(torch.ones(2))", "optimizer = AdamW([weight], 0.1, weight_decay=0.0)"]
    lines += ["weight.sum().backward()", "optimizer.step()", "assert weight[0] < 1"]
    lines += ["assert 'torch._dynamo' not in sys.modules"]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
