"""AdamW without torch's class `Optimizer`, whose first instance imports the compiler, two CPU-seconds of every job."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw


class AdamW:
    """`torch.optim.AdamW` (Loshchilov and Hutter 2019), fused, of one group of weights, to the bit.

    param_groups: that group's learning rate, which may be set before a step.
    """

    def __init__(
        self,
        weights: Iterable[nn.Parameter],
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        *,
        weight_decay: float,
    ):
        self.weights = list(weights)
        self.param_groups: list[dict[str, float]] = [{"lr": lr}]
        self._fixed = {"beta1": betas[0], "beta2": betas[1], "weight_decay": weight_decay, "eps": 1e-8}
        # By place of a weight, from its first gradient on: step, and means of its gradients and of their squares.
        self._state: dict[int, tuple[Tensor, Tensor, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for weight in self.weights:
            weight.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the weights that have a gradient."""
        used = [place for place, weight in enumerate(self.weights) if weight.grad is not None]
        for place in used:
            if place not in self._state:
                weight = self.weights[place]
                step = torch.zeros((), device=weight.device)
                self._state[place] = step, torch.zeros_like(weight), torch.zeros_like(weight)
        steps, means, squares = ([self._state[place][part] for place in used] for part in range(3))
        weights = [self.weights[place] for place in used]
        gradients = [weight.grad for weight in weights]
        plain = {"amsgrad": False, "maximize": False, "fused": True}
        adamw(weights, gradients, means, squares, [], steps, **self._fixed, **plain, **self.param_groups[0])

    def state_dict(self) -> dict[str, Any]:
        """All that later steps depend on beside the weights."""
        return {"state": dict(self._state), "groups": self.param_groups}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state_dict`."""
        self.param_groups = [dict(group) for group in state["groups"]]
        for place, parts in state["state"].items():
            self._state[place] = tuple(part.to(self.weights[place].device) for part in parts)
