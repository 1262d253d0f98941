"""Copies of an estimator whose parameters hold networks (torch modules): the copies share those that no fit changes."""

import copy
from collections.abc import Callable
from typing import Any

from sklearn.base import clone

NETWORK = ("torch.nn.modules.module", "Module")  # by its name: programs without networks need not import torch


class UnfittedCopies:
    """Unfitted copies of an estimator, one for each context.

    A network among its parameters is not copied for each context, since most estimators only query it. One that trains
    it is noticed by PyTorch's count of the changes of each tensor: from then on every copy has a network of its own, as
    it was before any fit. Writing into `tensor.data` alone is not counted by PyTorch.
    """

    def __init__(self, opened: Any, reopen: Callable[[], Any]):
        """opened: the estimator; reopen: gives it anew, with networks as before any fit."""
        self._estimator, self._reopen = opened, reopen
        self._shared = networks(opened)
        self._state = list(map(_state, self._shared))

    def fresh(self) -> Any:
        """A copy without a fit."""
        if list(map(_state, self._shared)) != self._state:
            self._estimator, self._shared, self._state = self._reopen(), [], []
        if not self._shared:
            return clone(self._estimator)
        return copy.deepcopy(self._estimator, {id(network): network for network in self._shared})


def networks(estimator: Any) -> list[Any]:
    """The networks among the parameters of an estimator, at any depth."""
    return [value for value in estimator.get_params().values() if _is_network(value)]


def _is_network(value: Any) -> bool:
    return any((kind.__module__, kind.__qualname__) == NETWORK for kind in type(value).__mro__)


def _state(network: Any) -> list[tuple[int, int]]:
    """Place and number of changes of each tensor of a network."""
    tensors = [*network.parameters(), *network.buffers()]
    return [(tensor.data_ptr(), tensor._version) for tensor in tensors]
