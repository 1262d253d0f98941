"""Networks among the parameters of an estimator: shared by its copies, unless a fit trains them."""

import copy

import numpy as np
import pandas as pd
import pytest
import small_packages
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from memaudit.models.network_sharing import UnfittedCopies, networks

pytestmark = pytest.mark.usefixtures("one_thread")


class Queried(ClassifierMixin, BaseEstimator):
    """Queries a network, and trains it where told so."""

    def __init__(self, network=None, train=False):
        self.network, self.train = network, train

    def fit(self, X, y):
        self.before_ = self.network.weight.detach().clone()
        if self.train:
            steps = torch.optim.SGD(self.network.parameters(), 1.0)
            self.network(torch.ones(1, 3)).sum().backward()
            steps.step()
        return self


def copies(estimator):
    return UnfittedCopies(copy.deepcopy(estimator), lambda: copy.deepcopy(estimator))


@pytest.mark.parametrize("wrap", [lambda one: one, make_pipeline])
def test_copies_share_a_network_that_is_only_queried(wrap):
    made = copies(wrap(Queried(torch.nn.Linear(3, 2))))
    first, second = (made.fresh().fit(np.eye(3), [0, 1, 0]) for _ in range(2))
    assert first is not second
    assert networks(first)[0] is networks(second)[0]


def test_a_network_that_is_trained_starts_anew_in_every_copy():
    estimator = Queried(torch.nn.Linear(3, 2), train=True)
    made = copies(estimator)
    fitted = [made.fresh().fit(np.eye(3), [0, 1, 0]) for _ in range(3)]
    assert all(torch.equal(one.before_, estimator.network.weight) for one in fitted)
    assert len({id(one.network) for one in fitted}) == 3
    assert not torch.equal(fitted[0].network.weight, estimator.network.weight)


@pytest.mark.parametrize(
    "change", [lambda one: one.half(), lambda one: one.load_state_dict(torch.nn.Linear(3, 2).state_dict())]
)
def test_another_type_or_other_weights_are_changes(change):
    made = copies(Queried(torch.nn.Linear(3, 2)))
    first = made.fresh()
    change(first.network)
    assert made.fresh().network is not first.network
    assert made.fresh().network.weight.dtype == torch.float32


class Remembering(Queried):
    """Leaves what it has seen in a module of its network, outside all tensors."""

    def fit(self, X, y):
        self.seen_ = list(self.network[0].memory)
        self.network[0].memory.append(X)
        return self


def test_what_a_fit_leaves_in_a_module_is_not_there_for_the_next_one():
    """Else non-members would be in the model, too, and a leak would not be seen."""
    network = torch.nn.Sequential(torch.nn.Linear(3, 2))
    network[0].memory = []
    made = copies(Remembering(network))
    assert [made.fresh().fit(np.eye(3), [0, 1, 0]).seen_ for _ in range(3)] == [[], [], []]


def test_a_network_whose_mode_of_training_changes_is_shared_on():
    made = copies(Queried(torch.nn.Linear(3, 2)))
    first = made.fresh()
    first.network.eval()
    assert made.fresh().network is first.network


def test_tensors_of_inference_mode_are_not_shared():
    """PyTorch does not count their changes."""
    network = torch.nn.Linear(3, 2)
    with torch.inference_mode():
        network.register_buffer("angles", torch.arange(4.0))
    made = UnfittedCopies(Queried(network), lambda: None)
    first, second = made.fresh(), made.fresh()
    assert first.network is not second.network
    assert torch.equal(second.network.angles, torch.arange(4.0))


def test_an_estimator_without_networks_is_cloned():
    made = copies(LogisticRegression(C=3.0))
    first = made.fresh().fit(np.eye(3), [0, 1, 0])
    assert networks(first) == []
    assert made.fresh().C == 3.0
    assert not hasattr(made.fresh(), "coef_")


@small_packages.needs("tabfm")
def test_tabfm_reads_each_context_with_the_one_network():
    from tabfm import TabFMClassifier, tabfm_v1_0_0_pytorch

    torch.manual_seed(0)
    network = tabfm_v1_0_0_pytorch.TabFM_HF(max_classes=2, is_classifier=True)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    estimator = TabFMClassifier(model=network, n_estimators=2, random_state=0)
    made = UnfittedCopies(estimator, lambda: pytest.fail("it is opened anew"))
    X, y = pd.DataFrame({"a": np.arange(20.0), "b": ["x", "y"] * 10}), np.array(["no", "yes"] * 10)
    for part in (slice(0, 10), slice(10, 20)):
        copied = made.fresh().fit(X[part], y[part])
        assert copied.model is network
        by_hand = clone(estimator).fit(X[part], y[part])
        np.testing.assert_allclose(copied.predict_proba(X), by_hand.predict_proba(X), atol=1e-6)
