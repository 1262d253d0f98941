"""Random tensors for synthetic tables, all from one seeded generator."""

import torch
from torch import Generator, Tensor


class Draw:
    """Draws the random tensors of one batch from one generator."""

    def __init__(self, seed: int) -> None:
        self.generator = Generator().manual_seed(seed)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        return torch.rand(*shape, generator=self.generator) * (high - low) + low

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.generator)

    def log_uniform(self, *shape: int, low: float, high: float) -> Tensor:
        return (torch.tensor(low).log() + self.uniform(*shape) * torch.tensor(high / low).log()).exp()

    def coin(self, *shape: int, chance: float = 0.5) -> Tensor:
        return self.uniform(*shape) < chance

    def integer(self, low: int, high: int, *shape: int) -> Tensor:
        """Integers in [low, high]."""
        return torch.randint(low, high + 1, shape, generator=self.generator)

    def order(self, *shape: int) -> Tensor:
        """Random permutations along the last axis."""
        return self.uniform(*shape).argsort(-1)

    def weighted(self, weights: Tensor, count: int) -> Tensor:
        """`count` indices along the last axis, with replacement, in proportion to the weights."""
        return torch.multinomial(weights, count, replacement=True, generator=self.generator)
