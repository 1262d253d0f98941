"""A network trained with DP-SGD (Abadi et al. 2016): a small RealMLP (Holzmüller et al. 2024; TabPATE, Appendix C).

It keeps what reads no private row of RealMLP: periodic embeddings of numbers (PBLD), the scaling layer, layers in
neural-tangent parametrisation, SELU or Mish, label smoothing, AdamW with beta2 0.95 and the schedule coslog4. It omits
robust scaling by quantiles and data-driven initial weights, which would be additional releases, the choice of the best
epoch, and learning rates by layer. Inputs are scaled by public bounds, categories are one-hot; a missing number is the
middle of its range, a missing category is all zeros, without an indicator.

Adjacency is add/remove of one privacy unit in `units`: each unit is sampled into a step independently, and the
gradients of its records are summed before clipping. The sampling rate is the batch size over the nominal number of
the private records (for a sample of a table, that of the sample), so that the guarantee depends on public numbers
alone: that of the Poisson-sampled Gaussian mechanism over all steps (privacy loss distributions, dp_accounting). Noise
and sampling use a generator seeded by the operating system (models/dp_sgd.py); the seed determines the initial weights
alone.
"""

import math
from dataclasses import dataclass
from functools import cache

import dp_accounting
import numpy as np
import torch
from dp_accounting.pld import PLDAccountant
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from memaudit.common import seeds
from memaudit.common.arrays import Array, Array32
from memaudit.models import dp_sgd
from memaudit.privacy.accounting import Budget
from memaudit.privacy.public_facts import Public
from memaudit.privacy.teacher_shards import Private

# Privacy loss is rounded up to multiples of this, at a cost of 0.02 % of epsilon 1; a tenth takes 2 s to compose.
LOSS_STEP = 1e-3
SMALLEST_SIGMA = 0.2


@dataclass(frozen=True)
class Settings:
    """Architecture and training, all public: the best of 14 settings on four data sets, at epsilon 1 and 10."""

    steps: int = 100
    batch: int = 256  # expected number of units in a step
    clip: float = 1.0  # largest norm of a unit's gradient
    learning_rate: float = 0.1
    label_smoothing: float = 0.1
    width: int = 64
    layers: int = 2
    frequencies: int = 8  # of a number's embedding
    embedding: int = 3  # its width, beside the number itself


@dataclass(frozen=True)
class Network:
    """A trained network with its privacy settings: sigma in units of the clip norm, sampling rate of a unit, steps."""

    module: nn.Module
    public: Public
    sigma: float
    sampling_rate: float
    steps: int

    @torch.no_grad()
    def predict(self, x: Array32) -> Array32:
        """Logits (n, class), or values (n,) within the target's public range, of records x (n, d)."""
        outputs = self.module(inputs(x, self.public)).numpy()
        if self.public.task == "classification":
            return outputs
        lower, upper = self.public.target.bounds
        return np.clip((lower + upper) / 2 + outputs[:, 0] * (upper - lower) / 2, lower, upper)


def train(
    private: Private,
    budget: Budget,
    settings: Settings = Settings(),
    seed: int = 0,
    generator: torch.Generator | None = None,
) -> Network:
    """A network trained within the budget on private records.

    generator: of noise and sampling, for tests alone. Raises AuditError for an invalid budget.
    """
    public = private.public
    budget.checked(public.records)
    rate = min(1.0, settings.batch / public.records)
    sigma = sigma_for(budget.epsilon, budget.delta, rate, settings.steps)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.integer(seed, "privacy", "network"))
        module = RealMLP(public, settings)
    _, unit = np.unique(np.asarray(private.units, dtype=str), return_inverse=True)
    rows = inputs(private.x, public), targets(private.y, public), torch.from_numpy(unit)
    optimizer = optimizer_of(module, public, settings, rate, sigma, generator or dp_sgd.unseeded("cpu"))
    for step in range(settings.steps):
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * coslog4((step + 0.5) / settings.steps)
        chosen = torch.rand(int(unit.max(initial=-1)) + 1, generator=optimizer.generator) < rate
        drawn = chosen[rows[2]]
        add_gradients(module, *(part[drawn] for part in rows), settings.label_smoothing)
        optimizer.step()
        optimizer.zero_grad()
    return Network(module, public, sigma, rate, settings.steps)


@cache
def sigma_for(epsilon: float, delta: float, sampling_rate: float, steps: int) -> float:
    """Smallest noise within the budget, in units of the clip norm: at most 0.3 % too large, never too small."""
    logarithm = dp_accounting.calibrate_dp_mechanism(
        _accountant,
        lambda logarithm: _event(math.exp(logarithm), sampling_rate, steps),
        epsilon,
        delta,
        bracket_interval=dp_accounting.LowerEndpointAndGuess(math.log(SMALLEST_SIGMA), 0.5),
        tol=0.003,
    )
    return math.exp(logarithm)


def coslog4(share: float) -> float:
    """Factor of the learning rate after this share of the steps: four waves, each twice as long as the one before."""
    return (1 - math.cos(2 * math.pi * math.log2(1 + 15 * share))) / 2


class RealMLP(nn.Module):
    """From inputs (..., numbers and categories) to logits (..., class), or one value."""

    def __init__(self, public: Public, settings: Settings):
        super().__init__()
        numbers, classes = int(public.numeric.sum()), len(public.target.values)
        self.embed = Embedding(numbers, settings.frequencies, settings.embedding)
        widths = [numbers * (1 + settings.embedding) + sum(public.category_counts), *[settings.width] * settings.layers]
        self.scale = nn.Parameter(torch.ones(widths[0]))
        self.hidden = nn.ModuleList(map(Linear, widths[:-1], widths[1:]))
        self.activation = nn.SELU() if public.task == "classification" else nn.Mish()
        self.head = Linear(widths[-1], classes if public.task == "classification" else 1)
        nn.init.zeros_(self.head.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Logits, or one value, of inputs x."""
        numbers = self.embed.frequency.shape[0]
        x = torch.cat([self.embed(x[..., :numbers]), x[..., numbers:]], -1) * self.scale
        for layer in self.hidden:
            x = self.activation(layer(x))
        return self.head(x)


class Linear(nn.Module):
    """A linear layer in neural-tangent parametrisation: weights start at deviation 1, the product is scaled."""

    def __init__(self, before: int, after: int):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(before, after)), nn.Parameter(torch.zeros(after))

    def forward(self, x: Tensor) -> Tensor:
        """(..., before) to (..., after)"""
        return x @ self.weight / math.sqrt(len(self.weight)) + self.bias


class Embedding(nn.Module):
    """PBLD: each number, and a linear map of cosines with its own frequencies and phases."""

    def __init__(self, numbers: int, frequencies: int, width: int):
        super().__init__()
        self.frequency = nn.Parameter(torch.randn(numbers, frequencies))
        self.phase = nn.Parameter((2 * torch.rand(numbers, frequencies) - 1) * math.pi)
        self.weight = nn.Parameter((2 * torch.rand(numbers, frequencies, width) - 1) / math.sqrt(frequencies))
        self.bias = nn.Parameter(torch.zeros(numbers, width))

    def forward(self, x: Tensor) -> Tensor:
        """(..., numbers) to (..., numbers * (1 + width))"""
        waves = torch.cos(2 * math.pi * self.frequency * x[..., None] + self.phase)
        embedded = torch.einsum("...nf,nfw->...nw", waves, self.weight) + self.bias
        return torch.cat([x[..., None], embedded], -1).flatten(-2)


def inputs(x: Array32, public: Public) -> Tensor:
    """Inputs of the network for records (n, d): numbers in [-1, 1], then one-hot categories, (n, inputs) float32."""
    scaled, numeric = public.scaled(x), public.numeric
    places = np.flatnonzero(~numeric)
    hot = [scaled[:, place, None] == np.arange(len(public.columns[place].values)) for place in places]
    return torch.from_numpy(np.hstack([np.nan_to_num(scaled[:, numeric]), *hot]).astype(np.float32))


def targets(y: NDArray[np.int64] | Array, public: Public) -> Tensor:
    """Classes (n,) int64, or values (n,) float32 scaled to [-1, 1] by the public range."""
    if public.task == "classification":
        return torch.from_numpy(np.asarray(y, dtype=np.int64))
    lower, upper = public.target.bounds
    return torch.from_numpy(((y - (lower + upper) / 2) / ((upper - lower) / 2)).astype(np.float32))


def optimizer_of(
    module: nn.Module, public: Public, settings: Settings, rate: float, sigma: float, generator: torch.Generator
) -> "dp_sgd.DPOptimizer":
    """AdamW behind clipping and noise; its sums are divided by the expected number of units."""
    options = dp_sgd.Settings(
        seed=0,
        steps=settings.steps,
        learning_rate=settings.learning_rate,
        sigma=sigma,
        clip=settings.clip,
        sampling_rate=rate,
        delta=0,
        weight_decay=0.0,
        betas=(0.9, 0.95),
    )
    return dp_sgd.optimizer_of(module, options, public.records, generator)


def add_gradients(module: nn.Module, x: Tensor, y: Tensor, unit: Tensor, label_smoothing: float) -> None:
    """Set `grad_sample` of each weight, (unit, *weight): sums over the records of a unit, zero if not finite."""

    def loss(weights: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        outputs = functional_call(module, weights, (x[None],))
        if y.is_floating_point():
            return (outputs[0, 0] - y).square()
        return nn.functional.cross_entropy(outputs, y[None], label_smoothing=label_smoothing)

    weights = {name: weight.detach() for name, weight in module.named_parameters()}
    gradients = vmap(grad(loss), (None, 0, 0))(weights, x, y)
    drawn, place = unit.unique(return_inverse=True)
    if len(drawn) < len(unit):
        gradients = {
            name: part.new_zeros(len(drawn), *part.shape[1:]).index_add(0, place, part)
            for name, part in gradients.items()
        }
    # The norm is infinite, too, where squares overflow.
    finite = torch.stack([part.flatten(1).norm(dim=1) for part in gradients.values()]).isfinite().all(0)
    for name, weight in module.named_parameters():
        weight.grad_sample = gradients[name]
        weight.grad_sample[~finite] = 0


def _accountant() -> PLDAccountant:
    return PLDAccountant(value_discretization_interval=LOSS_STEP)


def _event(sigma: float, sampling_rate: float, steps: int) -> dp_accounting.DpEvent:
    gaussian = dp_accounting.GaussianDpEvent(sigma)
    return dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(sampling_rate, gaussian), steps)
