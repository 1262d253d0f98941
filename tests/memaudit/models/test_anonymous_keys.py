"""K-anonymous keys: weights are those of groups, k = 1 changes nothing, and attention no longer finds members."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_wine
from small_tabicl import tabicl

from memaudit.attacks.calibrate import calibrate
from memaudit.common.errors import AuditError
from memaudit.data.membership_matrices import balanced
from memaudit.models.anonymous_keys import K, anonymous, answering, hiding_rows
from memaudit.models.batched_queries import Question, answer
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.models.tabpfn import TabPFNBranch
from memaudit.rehearsal import small_tabpfn
from memaudit.statistics import roc
from memaudit.studies.attacks.attention_reader import reader


def tables(kind="classification"):
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(2, 14, 4)).astype(np.float32))
    codes = torch.from_numpy(rng.permuted(np.arange(18).reshape(2, 9) % 3, axis=1))
    return x[:, :9], codes if kind == "classification" else codes.float(), x[:, 9:]


@pytest.fixture(scope="module", params=["tabicl", *small_tabpfn.VERSIONS])
def network(request, tmp_path_factory):
    if request.param == "tabicl":
        return tabicl("classification")
    folder = small_tabpfn.write(tmp_path_factory.mktemp("model"), request.param, "classification").parent
    return TabPFNBranch.load(folder, {"version": request.param, "options": {}, "task": "classification"}, "cpu")


def test_logits_are_those_of_the_means_of_keys_of_the_nearest_rows():
    q, k = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 8, 4)
    logits = q @ k.transpose(-1, -2)
    found = anonymous(logits, 3, 0.0)
    nearest = logits.mean(1).argsort(-1, descending=True)[1, 2]
    for group in (nearest[:3], nearest[3:]):  # the last group takes the rest
        expected = q[1, :, 2] * k[1][:, group].mean(1)
        torch.testing.assert_close(found[1, :, 2, group], expected.sum(-1, keepdim=True).expand(-1, len(group)))


def test_only_rows_of_the_context_and_queries_above_the_threshold_are_changed():
    logits = torch.tensor([[9.0, 0, 1, 5, 2, 3], [9.0, 0, 1, 3.5, 2, 3]])[None, None]
    found = anonymous(logits, 2, 1.0, rows=5)
    assert found[0, 0].tolist() == [[9, 1, 1, 4, 1, 4], [9, 0, 1, 3.5, 2, 3]]


@torch.no_grad()
def test_groups_of_one_row_change_no_answer_and_no_weight(network):
    same = network.with_anonymous_keys(1)
    torch.testing.assert_close(same.logits(*tables()), network.logits(*tables()), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(same.in_context_attention(*tables()), network.in_context_attention(*tables()))


@torch.no_grad()
def test_weights_of_the_first_block_are_those_of_groups_and_answers_change(network):
    usual, defended = network.logits(*tables()).softmax(-1), network.with_anonymous_keys(4)
    weights = defended.in_context_attention(*tables(), [0], lambda weights, _: weights.transpose(1, 2))[:, :, 0]
    counts = (weights[..., None] - weights[..., None, :]).abs().lt(1e-6).sum(-1)
    assert (counts >= 4).all()
    assert (defended.logits(*tables()).softmax(-1) - usual).abs().max() > 1e-4
    torch.testing.assert_close(network.logits(*tables()).softmax(-1), usual)  # it shares the weights, not the change


def test_the_shipped_model_hides_members_and_stays_accurate():
    """Where attention finds members without the defence, it does not with it; accuracy on other records stays."""
    x, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(x))
    x, y = torch.from_numpy(x[order].astype(np.float32)), torch.from_numpy(y[order])
    membership, shipped = (
        balanced(16, len(x), np.random.default_rng(1)),
        TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu"),
    )
    areas, right = {}, {}
    for name, model in {"usual": shipped, "defended": hiding_rows(shipped, K, "model.json")}.items():
        questions = [Question(x[row], y[row], x) for row in membership]
        found = torch.stack(answer(reader(model, "model.json"), questions)).double().numpy()
        areas[name] = [roc.auc(found[..., 1], membership)]
        areas[name] += [roc.auc(calibrate(found[..., at], membership, "lira_shrunk"), membership) for at in (0, 1)]
        answers = torch.stack(answer(model, questions)).argmax(-1).numpy() == y.numpy()
        right[name] = answers[~membership].mean()
    assert min(areas["usual"]) > 0.75
    assert max(areas["defended"]) < 0.65
    assert right["defended"] > right["usual"] - 0.02


@torch.no_grad()
def test_regressors_have_it_too():
    network = tabicl("regression")
    usual, same, defended = (
        one.distribution(*tables("regression")).mean()
        for one in (network, network.with_anonymous_keys(1), network.with_anonymous_keys(4))
    )
    torch.testing.assert_close(same, usual)
    assert (defended - usual).abs().max() > 1e-4


def test_a_layer_answers_as_usual_afterwards():
    layer = torch.nn.Linear(2, 2)
    with answering(layer, lambda _layer, _inputs, output: 0 * output):
        assert not layer(torch.ones(2)).any()
    assert layer(torch.ones(2)).any()


def test_another_model_is_refused_by_its_card():
    with pytest.raises(AuditError, match=r"forest/model.json: keys .* TabICL and TabPFN in mode raw"):
        hiding_rows(SimpleNamespace(), 16, "forest/model.json")
