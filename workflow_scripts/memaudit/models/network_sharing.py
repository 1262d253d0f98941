"""Copies of an estimator whose parameters hold networks (torch modules): the copies share those that no fit changes."""

import copy
from collections.abc import Callable
from typing import Any

import cloudpickle
from sklearn.base import clone

OF_MODULES = ("_parameters", "_buffers", "_modules", "training")
NETWORK = ("torch.nn.modules.module", "Module")  # by its name: programs without networks need not import torch


class UnfittedCopies:
    """Unfitted copies of an estimator, one for each context.

    A network among its parameters is not copied for each context, since most estimators only query it. One that trains
    it, or leaves something of a context in its modules, is noticed (`_state`): from then on every copy has a network of
    its own, as it was before any fit. Writing into `tensor.data` alone is not counted by PyTorch, and not noticed.
    """

    def __init__(self, opened: Any, reopen: Callable[[], Any]):
        """opened: the estimator; reopen: gives it anew, with networks as before any fit."""
        self._estimator, self._reopen = opened, reopen
        self._shared = [network for network in networks(opened) if _is_counted(network)]
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


def _is_counted(network: Any) -> bool:
    """Whether PyTorch counts the changes of all tensors; it does not for those that were made in inference mode."""
    return not any(tensor.is_inference() for tensor in _tensors(network))


def _state(network: Any) -> tuple[list[tuple[int, int]], bytes]:
    """Place and number of changes of each tensor, and all else that the modules hold but their mode of training."""
    rest = [{name: held for name, held in vars(one).items() if name not in OF_MODULES} for one in network.modules()]
    return [(tensor.data_ptr(), tensor._version) for tensor in _tensors(network)], cloudpickle.dumps(rest)


def _tensors(network: Any) -> list[Any]:
    return [*network.parameters(), *network.buffers()]
