"""Fine-tuning with differential privacy: DP-SGD (Abadi et al. 2016) through opacus.

Privacy unit: one *query record* of the table, added or removed. The context rows are **not** protected: they are part
of the forward pass of every query and so change every query's gradient, clipped or not. They must be public, or need no
privacy, and be disjoint from the queries. The number of queries is assumed to be public.

Each query has its own forward and backward pass. That is exact for every module, also where queries attend to each
other. Opacus's hooks and `vmap` over gradients fail here: a query is not an element of the batch, and TabICL's forward
pass branches on its data.

The noise, and the choice of the queries of a step, come from a generator that the operating system seeds, never from
the run's seed: knowing either would allow to remove the noise. It is a statistical generator, not a cryptographic one:
suitable for audits, not for a release. The guarantee covers the weights of every step. It does not cover losses on the
queries, so none is returned.
"""

import secrets
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from memaudit.common import seeds
from memaudit.common.errors import AuditError
from memaudit.models.context_query_pairs import Pair, Task
from memaudit.models.lora import Adapter, adapt, merge
from memaudit.models.model_protocol import Network

# opacus takes two seconds to import: functions that need it do so, since most jobs of fine-tuning are not private.
if TYPE_CHECKING:
    from opacus.optimizers import DPOptimizer

Accountant = Literal["rdp", "prv"]


@dataclass(frozen=True)
class Settings:
    """Settings of a private run."""

    seed: int  # of the adapter's initial weights; the noise has none
    steps: int
    learning_rate: float
    sigma: float  # deviation of the noise, in units of `clip`
    clip: float  # largest norm of a query's gradient
    sampling_rate: float  # probability that a query is in a step
    delta: float
    accountant: Accountant = "rdp"
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.999)
    adapter: Adapter | None = None  # None: all weights are trained


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta)-DP of the weights of all steps, with its assumptions."""

    epsilon: float
    delta: float
    sigma: float
    clip: float
    sampling_rate: float
    steps: int
    accountant: Accountant
    adjacency: str = "add/remove"
    unit: str = "one query record; context rows are not protected"


def epsilon_of(sigma: float, sampling_rate: float, steps: int, delta: float, accountant: Accountant = "rdp") -> float:
    """Return epsilon of Poisson-sampled Gaussian steps, add/remove adjacency."""
    from opacus.accountants import create_accountant

    ledger = create_accountant(accountant)
    ledger.history = [(sigma, sampling_rate, steps)]
    return float(ledger.get_epsilon(delta=delta))


def sigma_for(epsilon: float, sampling_rate: float, steps: int, delta: float, accountant: Accountant = "rdp") -> float:
    """Return the noise for which epsilon is within 0.01 of `epsilon` and never above."""
    from opacus.accountants.utils import get_noise_multiplier

    return get_noise_multiplier(
        target_epsilon=epsilon, target_delta=delta, sample_rate=sampling_rate, steps=steps, accountant=accountant
    )


def train(
    model: Network, task: Task, pair: Pair, settings: Settings, generator: torch.Generator | None = None
) -> tuple[Network, Guarantee]:
    """Return a privately fine-tuned copy of `model`, adapters merged, and its guarantee.

    generator: of noise and sampling, only for tests. Raises AuditError for settings without a guarantee, and for a
    record that is a query twice, or both context and query.
    """
    _check(pair, settings)
    model = deepcopy(model)
    if settings.adapter:
        adapt(model.module, settings.adapter, seeds.integer(settings.seed, "finetune", "adapter"))
    optimizer = optimizer_of(model.module, settings, len(pair.query), generator or unseeded(model.device))
    rows = [part.to(model.device) for part in (task.x[pair.context], task.y[pair.context])]
    for _ in range(settings.steps):
        chosen = torch.rand(len(pair.query), generator=optimizer.generator, device=model.device)
        for record in pair.query[(chosen < settings.sampling_rate).cpu().numpy()]:
            query = [part[record][None, None].to(model.device) for part in (task.x, task.y)]
            add(optimizer, model.loss(model.forward(rows[0][None], rows[1][None], query[0]), rows[1][None], query[1]))
        step(optimizer)
    if settings.adapter:
        merge(model.module)
    return model, guarantee(settings)


def optimizer_of(module: nn.Module, settings: Settings, queries: int, generator: torch.Generator) -> "DPOptimizer":
    """Return AdamW with clipping and noise for the module's trainable weights."""
    from opacus.optimizers import DPOptimizer

    weights = [weight for weight in module.parameters() if weight.requires_grad]
    optimizer = DPOptimizer(
        torch.optim.AdamW(weights, settings.learning_rate, settings.betas, weight_decay=settings.weight_decay),
        noise_multiplier=settings.sigma,
        max_grad_norm=settings.clip,
        expected_batch_size=settings.sampling_rate * queries,
        generator=generator,
        secure_mode=True,  # against attacks on the last bits of floating-point noise (Mironov 2012)
    )
    optimizer.zero_grad()
    return optimizer


def add(optimizer: "DPOptimizer", loss: Tensor) -> None:
    """Add one query's clipped gradient to the sum of the step; one that is not finite counts as zero."""
    gradients = torch.autograd.grad(loss.sum(), optimizer.params, allow_unused=True, materialize_grads=True)
    finite = all(gradient.isfinite().all() for gradient in gradients)
    for weight, gradient in zip(optimizer.params, gradients, strict=True):
        weight.grad_sample = (gradient if finite else torch.zeros_like(gradient))[None]
    optimizer.signal_skip_step(True)
    optimizer.step()
    optimizer.zero_grad()


def step(optimizer: "DPOptimizer") -> None:
    """Add noise to the sum, also to an empty one, and take an optimiser step."""
    for weight in optimizer.params:
        weight.grad_sample = weight.new_zeros(0, *weight.shape)
    optimizer.signal_skip_step(False)
    optimizer.step()
    optimizer.zero_grad()


def guarantee(settings: Settings) -> Guarantee:
    """Return the guarantee of a run with these settings."""
    kept = {name: value for name, value in asdict(settings).items() if name in Guarantee.__dataclass_fields__}
    epsilon = epsilon_of(settings.sigma, settings.sampling_rate, settings.steps, settings.delta, settings.accountant)
    return Guarantee(epsilon=epsilon, **kept)


def unseeded(device: str) -> torch.Generator:
    """Return a generator seeded by the operating system, so that no two runs share their noise."""
    return torch.Generator(device).manual_seed(secrets.randbits(63))


def _check(pair: Pair, settings: Settings) -> None:
    for name, value in {"sigma": settings.sigma, "clip": settings.clip}.items():
        if not 0 < value < float("inf"):
            raise AuditError(
                f"private fine-tuning: {name} is {value}, which guarantees nothing; give a positive number"
            )
    for name, value in {"sampling_rate": settings.sampling_rate, "delta": settings.delta}.items():
        if not 0 < value <= (1 if name == "sampling_rate" else 0.5):
            raise AuditError(f"private fine-tuning: {name} is {value}; give a share of at most 1 (delta: 0.5)")
    if len(set(pair.query)) < len(pair.query):
        raise AuditError(
            "private fine-tuning: a record is a query twice, and would move a step by twice the clip; name it once"
        )
    if set(pair.context) & set(pair.query):
        raise AuditError(
            "private fine-tuning: a record is both context and query; contexts are not protected, separate them"
        )
