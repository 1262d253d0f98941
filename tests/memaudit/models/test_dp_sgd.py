"""DP-SGD: one record moves a step by at most the clip norm, noise has no seed, epsilon is the accountant's."""

from dataclasses import replace
from math import comb, exp, log

import numpy as np
import pytest
import torch
from tabicl._model.tabicl import TabICL
from torch import nn

from memaudit.common.errors import AuditError
from memaudit.models.context_query_pairs import Pair, Task
from memaudit.models.dp_sgd import Guarantee, Settings, add, epsilon_of, optimizer_of, sigma_for, step, train, unseeded
from memaudit.models.lora import Adapter
from memaudit.models.tabicl import TabICLBranch

pytestmark = pytest.mark.usefixtures("one_thread")

SETTINGS = Settings(
    seed=0, steps=4, learning_rate=0.01, sigma=1.0, clip=0.5, sampling_rate=0.5, delta=1e-5, weight_decay=0.0
)


class Tiny:
    """A regression network of the protocol: a head on a query's features and the context's mean."""

    task, mode, device = "regression", "raw", "cpu"

    def __init__(self):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.module = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 8), nn.Linear(8, 1))

    def forward(self, context_x, context_y, query_x):
        centre = context_x.mean(1, keepdim=True).expand_as(query_x)
        return self.module(torch.cat([query_x, centre], 2))

    def loss(self, outputs, context_y, query_y):
        return (outputs[..., 0] - query_y).square()


def table(rows=40):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(rows, 3, generator=generator)
    return Task(x, x.sum(1), np.arange(rows))


PAIR = Pair(context=np.arange(20), query=np.arange(20, 40))


def weights(model):
    return torch.cat([weight.detach().flatten() for weight in model.module.parameters()])


def clipped_sum(records, task, settings=SETTINGS):
    """The sum of a step's clipped gradients, before noise."""
    model = Tiny()
    optimizer = optimizer_of(model.module, settings, 20, torch.Generator())
    context_x, context_y = task.x[:20][None], task.y[:20][None]
    for record in records:
        outputs = model.forward(context_x, context_y, task.x[record][None, None])
        add(optimizer, model.loss(outputs, context_y, task.y[record][None, None]))
    return torch.cat([weight.summed_grad.flatten() for weight in optimizer.params])


@pytest.mark.parametrize("target", [1.0, 1e6, 1e30])
def test_one_record_moves_the_sum_by_at_most_the_clip_norm(target):
    task = table()
    task.y[25] = target
    moved = clipped_sum(range(20, 30), task) - clipped_sum([20, 21, 22, 23, 24, 26, 27, 28, 29], task)
    assert moved.norm() <= SETTINGS.clip * (1 + 1e-5)
    if target == 1e6:
        assert moved.norm() == pytest.approx(SETTINGS.clip, rel=1e-4)


@pytest.mark.parametrize("target", [float("nan"), float("inf")])
def test_a_record_whose_gradient_is_not_finite_moves_nothing(target):
    task = table()
    task.y[25] = target
    assert torch.equal(clipped_sum([20, 25, 21], task), clipped_sum([20, 21], task))


def test_small_gradients_are_summed_as_they_are():
    task, model = table(), Tiny()
    summed = clipped_sum(range(20, 30), task, replace(SETTINGS, clip=1e6))
    outputs = model.forward(task.x[:20][None], task.y[:20][None], task.x[20:30][None])
    model.loss(outputs, task.y[:20][None], task.y[20:30][None]).sum().backward()
    torch.testing.assert_close(summed, torch.cat([p.grad.flatten() for p in model.module.parameters()]))


def test_noise_has_the_stated_deviation_also_where_no_query_was_drawn():
    settings = replace(SETTINGS, sigma=3.0, clip=0.5)
    module = nn.Linear(200, 200)
    optimizer = optimizer_of(module, settings, 20, unseeded("cpu"))
    gradients = []
    optimizer.attach_step_hook(lambda o: gradients.extend(weight.grad.clone() for weight in o.params))
    step(optimizer)
    expected_batch = 0.5 * 20
    assert gradients[0].std().item() * expected_batch == pytest.approx(3.0 * 0.5, rel=0.03)


def test_noise_differs_between_runs_though_the_seed_is_the_same():
    torch.manual_seed(0)
    first, _ = train(Tiny(), table(), PAIR, SETTINGS)
    torch.manual_seed(0)
    second, _ = train(Tiny(), table(), PAIR, SETTINGS)
    assert (weights(first) != weights(second)).float().mean() > 0.99
    injected = [train(Tiny(), table(), PAIR, SETTINGS, torch.Generator().manual_seed(1))[0] for _ in range(2)]
    assert torch.equal(*map(weights, injected))


def test_base_stays_and_little_noise_learns():
    model = Tiny()
    before = weights(model)
    settings = replace(SETTINGS, steps=60, sigma=1e-3, clip=10.0, sampling_rate=1.0)
    tuned, _ = train(model, table(), PAIR, settings)
    assert torch.equal(before, weights(model))
    task = table()
    rows = task.x[:20][None], task.y[:20][None], task.x[20:][None]
    losses = [m.loss(m.forward(*rows), rows[1], task.y[20:][None]).mean().item() for m in (model, tuned)]
    assert losses[1] < 0.3 * losses[0]


def test_adapters_alone_are_trained_and_merged():
    tuned, _ = train(Tiny(), table(), PAIR, replace(SETTINGS, adapter=Adapter(rank=2)))
    before = Tiny().module.state_dict()
    after = tuned.module.state_dict()
    assert before.keys() == after.keys()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"0.weight", "2.weight"}


@pytest.mark.parametrize("adapter", [None, Adapter(rank=2)])
def test_tabicl_takes_private_steps(adapter):
    sizes = {"embed_dim": 8, "col_num_blocks": 1, "col_nhead": 2, "col_num_inds": 4, "row_num_blocks": 1}
    sizes |= {"row_nhead": 2, "row_num_cls": 2, "icl_num_blocks": 1, "icl_nhead": 2, "max_classes": 2}
    model, task = TabICLBranch(TabICL(**sizes), "cpu", clip=6.0), table()
    task = replace(task, y=(task.y > 0).long())
    tuned, _ = train(model, task, PAIR, replace(SETTINGS, steps=2, adapter=adapter))
    rows = task.x[:20][None], task.y[:20][None], task.x[20:][None]
    before, after = model.logits(*rows), tuned.logits(*rows)
    assert after.isfinite().all()
    assert not torch.equal(before, after)


def rdp_epsilon(sigma, rate, steps, delta):
    """By hand: Renyi divergence of the sampled Gaussian at whole orders (Mironov et al. 2019, equation 7)."""
    best = float("inf")
    for order in range(2, 33):
        terms = [
            comb(order, k) * (1 - rate) ** (order - k) * rate**k * exp((k * k - k) / (2 * sigma**2))
            for k in range(order + 1)
        ]
        rdp = steps * log(sum(terms)) / (order - 1)
        best = min(best, rdp + log((order - 1) / order) - (log(delta) + log(order)) / (order - 1))
    return best


@pytest.mark.parametrize(("sigma", "rate", "steps"), [(1.0, 0.1, 100), (2.0, 1.0, 10), (4.0, 0.5, 50)])
def test_epsilon_is_that_of_the_sampled_gaussian_by_hand(sigma, rate, steps):
    assert epsilon_of(sigma, rate, steps, 1e-5) == pytest.approx(rdp_epsilon(sigma, rate, steps, 1e-5), rel=0.01)


def test_guarantee_says_what_it_rests_on():
    _, promised = train(Tiny(), table(), PAIR, SETTINGS)
    epsilon = epsilon_of(1.0, 0.5, 4, 1e-5)
    assert promised == Guarantee(epsilon, 1e-5, 1.0, 0.5, 0.5, 4, "rdp", "add/remove")
    assert "context rows are not protected" in promised.unit


@pytest.mark.parametrize("accountant", ["rdp", "prv"])
def test_noise_for_a_budget_keeps_to_it(accountant):
    sigma = sigma_for(2.0, 0.1, 50, 1e-5, accountant)
    assert 1.97 < epsilon_of(sigma, 0.1, 50, 1e-5, accountant) <= 2.0


@pytest.mark.parametrize(
    "change",
    [
        {"sigma": 0.0},
        {"sigma": float("nan")},
        {"clip": float("inf")},
        {"sampling_rate": 0.0},
        {"sampling_rate": 1.5},
        {"delta": 0.0},
    ],
)
def test_settings_without_a_guarantee_are_refused(change):
    with pytest.raises(AuditError, match=next(iter(change))):
        train(Tiny(), table(), PAIR, replace(SETTINGS, **change))


def test_a_step_divides_the_sum_by_the_expected_number_of_queries():
    task, model, gradients = table(), Tiny(), []
    settings = replace(SETTINGS, sigma=1e-6, clip=1e3)
    optimizer = optimizer_of(model.module, settings, 20, unseeded("cpu"))
    optimizer.attach_step_hook(lambda o: gradients.append(torch.cat([weight.grad.flatten() for weight in o.params])))
    rows = task.x[:20][None], task.y[:20][None]
    for record in (20, 21, 22):
        add(optimizer, model.loss(model.forward(*rows, task.x[record][None, None]), rows[1], task.y[record]))
    step(optimizer)
    expected_batch = 0.5 * 20
    expected = clipped_sum((20, 21, 22), task, settings) / expected_batch
    torch.testing.assert_close(gradients[0], expected, atol=2e-3, rtol=0)
    assert expected.abs().max() > 0.1


def test_every_query_is_in_a_step_by_a_coin_of_its_own(monkeypatch):
    steps, rate, drawn = 300, 0.3, [0]
    monkeypatch.setattr("memaudit.models.dp_sgd.add", lambda *_: drawn.append(drawn.pop() + 1))
    monkeypatch.setattr("memaudit.models.dp_sgd.step", lambda *_: drawn.append(0))
    train(Tiny(), table(), PAIR, replace(SETTINGS, steps=steps, sampling_rate=rate), torch.Generator().manual_seed(0))
    sizes = np.array(drawn[:-1])
    assert sizes.mean() == pytest.approx(20 * rate, abs=4 * (20 * rate * (1 - rate) / steps) ** 0.5)
    assert sizes.var() == pytest.approx(20 * rate * (1 - rate), rel=0.35)


def test_a_record_that_is_a_query_twice_is_refused():
    with pytest.raises(AuditError, match="a query twice"):
        train(Tiny(), table(), Pair(context=np.arange(20), query=np.r_[20:40, 25]), SETTINGS)


def test_a_record_that_is_context_and_query_is_refused():
    with pytest.raises(AuditError, match="both context and query"):
        train(Tiny(), table(), Pair(context=np.arange(21), query=np.arange(20, 40)), SETTINGS)
