"""DP-SGD on a small RealMLP: one unit moves a step by at most the clip norm, epsilon is the accountant's, it learns."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest
import torch

from memaudit.common.errors import AuditError
from memaudit.models import dp_sgd
from memaudit.privacy import dp_network
from memaudit.privacy.accounting import Budget, gaussian_delta
from memaudit.privacy.dp_network import RealMLP, Settings, add_gradients, coslog4, inputs, optimizer_of, targets, train
from memaudit.privacy.public_facts import Column, Public
from memaudit.privacy.teacher_shards import Private

pytestmark = pytest.mark.usefixtures("one_thread")

COLUMNS = (Column("a", (0.0, 10.0)), Column("kind", ("p", "q", "r")), Column("b", (-1.0, 1.0)))
PUBLIC = Public("towns", "made up", 400, "classification", COLUMNS, Column("target", ("no", "yes")))
RENTS = replace(PUBLIC, task="regression", target=Column("target", (100.0, 300.0)))
SMALL = Settings(width=8, frequencies=4, embedding=2, clip=0.5)
UNITS = [f"unit {number}" for number in range(400)]


def table(public=PUBLIC, size=400):
    """The target depends on the first column, or on its square."""
    rng = np.random.default_rng(2)
    a = rng.uniform(0, 10, size)
    x = np.column_stack([a, rng.integers(0, 3, size), rng.uniform(-1, 1, size)]).astype(np.float32)
    return x, (a > 5).astype(np.int64) if public.task == "classification" else 100 + 2 * a**2


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def module_of(public):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = RealMLP(public, SMALL)
        # At its first step only the head has a gradient.
        torch.nn.init.normal_(module.head.weight)
    return module


def clipped_sum(x, y, unit, public=PUBLIC):
    """The sum of a step's clipped gradients, before noise."""
    module = module_of(public)
    optimizer = optimizer_of(module, public, SMALL, 0.5, 1.0, seeded())
    add_gradients(module, inputs(x, public), targets(y, public), torch.as_tensor(unit), 0.1)
    optimizer.signal_skip_step(True)
    optimizer.step()
    return torch.cat([weight.summed_grad.flatten() for weight in optimizer.params])


@pytest.mark.parametrize("public", [PUBLIC, RENTS])
def test_removing_one_unit_moves_the_sum_by_at_most_the_clip_norm(public):
    x, y = table(public, 24)
    unit = np.arange(24)
    unit[:5] = 4
    whole, moved = clipped_sum(x, y, unit, public), []
    for one in set(unit):
        rest = unit != one
        moved.append((whole - clipped_sum(x[rest], y[rest], unit[rest], public)).norm().item())
    assert len(moved) == 20
    assert max(moved) == pytest.approx(SMALL.clip, rel=1e-4), "some gradients are clipped"
    assert min(moved) > 0


def test_a_unit_whose_gradient_is_not_finite_moves_nothing():
    x, y = table(RENTS, 12)
    y[7] = np.inf
    kept = np.arange(12) != 7
    unit = np.arange(12)
    torch.testing.assert_close(clipped_sum(x, y, unit, RENTS), clipped_sum(x[kept], y[kept], unit[kept], RENTS))


@pytest.mark.parametrize("public", [PUBLIC, RENTS])
def test_gradients_of_units_are_those_of_a_loop(public):
    x, y = table(public, 6)
    unit, module = torch.tensor([3, 0, 3, 1, 1, 3]), module_of(public)
    rows, truth = inputs(x, public), targets(y, public)
    add_gradients(module, rows, truth, unit, 0.1)
    for place, one in enumerate([0, 1, 3]):
        mine = unit == one
        outputs = module(rows[mine])
        if public.task == "classification":
            loss = torch.nn.functional.cross_entropy(outputs, truth[mine], label_smoothing=0.1, reduction="sum")
        else:
            loss = (outputs[:, 0] - truth[mine]).square().sum()
        for weight, expected in zip(
            module.parameters(), torch.autograd.grad(loss, list(module.parameters())), strict=True
        ):
            torch.testing.assert_close(weight.grad_sample[place], expected, atol=1e-4, rtol=1e-4)


def test_noise_has_the_stated_deviation_over_the_expected_number_of_units():
    module, gradients = RealMLP(PUBLIC, Settings(width=128)), []
    optimizer = optimizer_of(module, PUBLIC, Settings(clip=0.5), 0.25, 3.0, dp_sgd.unseeded("cpu"))
    optimizer.attach_step_hook(lambda o: gradients.append(torch.cat([weight.grad.flatten() for weight in o.params])))
    add_gradients(
        module, *(part[:0] for part in (inputs(table()[0], PUBLIC), torch.zeros(0).long(), torch.zeros(0))), 0.1
    )
    optimizer.step()
    assert gradients[0].std().item() * 0.25 * 400 == pytest.approx(3.0 * 0.5, rel=0.03)


def epsilon_of(sigma, rate, steps):
    """Epsilon of Poisson-sampled Gaussian steps at delta 1e-5, for adding or removing one unit."""
    return dp_network._accountant().compose(dp_network._event(sigma, rate, steps)).get_epsilon(1e-5)


@pytest.mark.parametrize(("epsilon", "rate", "steps"), [(1.0, 0.5, 100), (10.0, 0.05, 60)])
def test_noise_keeps_to_the_budget_and_the_stated_epsilon_is_other_accountants(epsilon, rate, steps):
    sigma = dp_network.sigma_for(epsilon, 1e-5, rate, steps)
    assert 0.98 * epsilon < epsilon_of(sigma, rate, steps) <= epsilon
    # Numerical composition gives nearly the same, Renyi orders a looser bound.
    assert dp_sgd.epsilon_of(sigma, rate, steps, 1e-5, "prv") == pytest.approx(epsilon, rel=0.03)
    assert dp_sgd.epsilon_of(sigma, rate, steps, 1e-5, "rdp") > epsilon


def test_without_sampling_epsilon_is_that_of_one_gaussian_in_closed_form():
    epsilon = epsilon_of(20.0, 1.0, 64)
    assert gaussian_delta(epsilon, 20.0 / 8) == pytest.approx(1e-5, rel=0.01)
    assert gaussian_delta(epsilon, 20.0 / 8) <= 1e-5


def drawn_units(monkeypatch, public, units, settings):
    counts = []

    def counted(module, x, y, unit, _):
        counts.append(len(unit.unique()))
        for weight in module.parameters():
            weight.grad_sample = weight.new_zeros(0, *weight.shape)

    monkeypatch.setattr(dp_network, "add_gradients", counted)
    monkeypatch.setattr(dp_network, "sigma_for", lambda *_: 1.0)
    train(Private(*table(), units, b"", public), Budget(1.0, 1e-5), settings, generator=seeded())
    return np.array(counts)


def test_every_unit_is_in_a_step_by_a_coin_of_its_own_whose_chance_is_public(monkeypatch):
    public, units = replace(PUBLIC, records=1000), [f"unit {number % 200}" for number in range(400)]
    drawn = drawn_units(monkeypatch, public, units, replace(SMALL, steps=300, batch=300))
    assert drawn.mean() == pytest.approx(200 * 0.3, abs=4 * (200 * 0.21 / 300) ** 0.5)
    assert drawn.var() == pytest.approx(200 * 0.21, rel=0.35)


def test_a_batch_of_more_than_all_records_takes_all(monkeypatch):
    assert (drawn_units(monkeypatch, PUBLIC, UNITS, replace(SMALL, steps=5, batch=500)) == 400).all()


def test_a_generous_budget_learns_classes_and_a_tiny_one_does_not():
    x, y = table()
    settings, learned = replace(SMALL, steps=60, width=32), Private(x[:300], y[:300], UNITS[:300], b"", PUBLIC)
    correct = {}
    for epsilon in (10.0, 0.01):
        trained = train(learned, Budget(epsilon, 1e-5), settings, generator=seeded())
        correct[epsilon] = (trained.predict(x[300:]).argmax(1) == y[300:]).mean()
    assert correct[10.0] > 0.85
    assert correct[0.01] < 0.7


def test_a_generous_budget_learns_numbers_within_their_public_range():
    x, y = table(RENTS)
    learned = Private(x[:300], y[:300], UNITS[:300], b"", RENTS)
    trained = train(learned, Budget(10.0, 1e-5), replace(SMALL, steps=60, width=32), generator=seeded())
    values = trained.predict(x[300:])
    assert np.sqrt(np.mean((values - y[300:]) ** 2)) < 0.5 * y[300:].std()
    assert ((values >= 100) & (values <= 300)).all()


def test_noise_has_no_seed_and_first_weights_have(monkeypatch):
    monkeypatch.setattr(dp_network, "sigma_for", lambda *_: 1.0)
    settings = replace(SMALL, steps=2)

    def weights(seed, generator=None):
        trained = train(Private(*table(), UNITS, b"", PUBLIC), Budget(1.0, 1e-5), settings, seed, generator)
        return torch.cat([weight.detach().flatten() for weight in trained.module.parameters()])

    assert (weights(1) != weights(1)).float().mean() > 0.99
    assert torch.equal(weights(1, seeded()), weights(1, seeded()))
    assert not torch.equal(weights(1, seeded()), weights(2, seeded()))


def test_inputs_of_a_record_depend_on_it_and_public_bounds_alone():
    x = np.array([[0, 0, 1], [10, 2, -1], [5, 1, 0.5], [np.nan, np.nan, np.nan]], dtype=np.float32)
    expected = [[-1, 1, 1, 0, 0], [1, -1, 0, 0, 1], [0, 0.5, 0, 1, 0], [0, 0, 0, 0, 0]]
    assert inputs(x, PUBLIC).tolist() == expected
    assert targets(np.array([100.0, 250.0, 300.0]), RENTS).tolist() == [-1, 0.5, 1]


def test_the_learning_rate_rises_and_falls_in_four_waves():
    ends = [(2**wave - 1) / 15 for wave in range(5)]
    assert [coslog4(share) for share in ends] == pytest.approx([0] * 5, abs=1e-12)
    tops = [(2 ** (wave + 0.5) - 1) / 15 for wave in range(4)]
    assert [coslog4(share) for share in tops] == pytest.approx([1] * 4)
    assert log2(1 + 15 * tops[0]) == pytest.approx(0.5)


@pytest.mark.parametrize("budget", [Budget(0.0, 1e-5), Budget(1.0, 0.5)])
def test_a_budget_without_a_guarantee_is_refused(budget):
    with pytest.raises(AuditError, match="budget"):
        train(Private(*table(), UNITS, b"", PUBLIC), budget)
