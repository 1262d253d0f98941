"""Many classes by a model of few: by hand, classes that a context lacks, and the shipped TabICL."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from memaudit.models.class_hierarchy import for_classes
from memaudit.models.model_protocol import Limits
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch

pytestmark = pytest.mark.usefixtures("one_thread")


def shares(most):
    """A model of so many classes that answers every query with the shares of the context's classes."""

    def logits(context_x, context_y, query_x):
        assert context_y.max() < most
        counts = torch.stack([torch.bincount(y, minlength=most) for y in context_y]).double()
        return (counts / counts.sum(-1, keepdim=True)).log()[:, None].expand(-1, query_x.shape[1], -1)

    limits = Limits(rows=None, features=None, classes=most)
    return SimpleNamespace(
        logits=logits, limits=limits, task="classification", mode="raw", reads_text=False, alone=True
    )


@pytest.mark.parametrize(("most", "classes"), [(10, 30), (3, 7), (2, 9), (10, 101)])
def test_shares_of_classes_are_the_products_along_the_hierarchy(most, classes):
    y = torch.from_numpy(np.random.default_rng(0).permutation(np.repeat(np.arange(classes), np.arange(1, classes + 1))))
    model = for_classes(shares(most), classes)
    found = model.logits(torch.zeros(1, len(y), 2), y[None], torch.zeros(1, 4, 2))[0]
    assert found.shape == (4, classes)
    np.testing.assert_allclose(found[0].exp(), np.arange(1, classes + 1) / len(y), rtol=1e-6)
    model.limits.check("here", 1000, classes=classes)


def test_classes_that_a_context_lacks_are_impossible():
    y = torch.tensor([0, 5, 5, 6])
    found = for_classes(shares(3), 7).logits(torch.zeros(1, 4, 2), y[None], torch.zeros(1, 1, 2))[0, 0]
    np.testing.assert_allclose(found.exp(), [0.25, 0, 0, 0, 0, 0.5, 0.25], atol=1e-7)
    alone = for_classes(shares(3), 7).logits(torch.zeros(1, 2, 2), y[None, 1:3], torch.zeros(1, 1, 2))[0, 0]
    assert alone.exp().tolist() == [0, 0, 0, 0, 0, 1, 0]


def test_a_model_of_enough_classes_is_left_as_it_is():
    model = shares(10)
    assert for_classes(model, 10) is model
    unlimited = SimpleNamespace(limits=Limits(None, None, None))
    assert for_classes(unlimited, 50) is unlimited


def test_the_shipped_model_tells_thirty_classes_apart():
    rng = np.random.default_rng(0)
    centres, y = rng.normal(size=(30, 5)), np.repeat(np.arange(30), 6)
    x = torch.from_numpy((centres[y] + 0.1 * rng.normal(size=(180, 5))).astype(np.float32))
    queries = torch.from_numpy((centres + 0.1 * rng.normal(size=(30, 5))).astype(np.float32))
    model = for_classes(TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu"), 30)
    with torch.inference_mode():
        logits = model.logits(x[None], torch.from_numpy(y)[None], queries[None])[0]
    np.testing.assert_allclose(logits.exp().sum(-1), 1, atol=1e-5)
    assert (logits.argmax(-1).numpy() == np.arange(30)).mean() > 0.8
