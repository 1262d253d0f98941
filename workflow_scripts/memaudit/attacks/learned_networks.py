"""Networks from the features of a text's tokens to a logit of membership (LT-MIA, Section 3.3 and Table 11).

Each takes standardised features (text, T, channel), zero where there is no token, and the mask (text, T), and returns
one logit per text.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

Kind = Literal["transformer", "flat_mlp", "mean_mlp", "logistic"]


@dataclass(frozen=True)
class Architecture:
    """A network's shape. The default is the paper's transformer, 310,018 weights for 154 channels.

    width, heads, feedforward, layers: of the transformer; hidden: layers of the MLPs, of which `flat_mlp` reads all
    positions concatenated and `mean_mlp` their mean; `logistic` is linear in all positions. clamp: largest absolute
    standardised feature.
    """

    kind: Kind = "transformer"
    width: int = 128
    heads: int = 4
    feedforward: int = 256
    layers: int = 2
    hidden: tuple[int, ...] = (256, 128)
    dropout: float = 0.1
    clamp: float = 6.0


def network(architecture: Architecture, positions: int, channels: int) -> nn.Module:
    """A network with fresh weights. positions: T; the transformer and the mean take texts of any T."""
    match architecture.kind:
        case "transformer":
            return Transformer(architecture, channels)
        case "flat_mlp":
            return Flat(_mlp((positions * channels, *architecture.hidden), architecture.dropout))
        case "mean_mlp":
            return Mean(_mlp((channels, *architecture.hidden), architecture.dropout))
        case "logistic":
            return Flat(nn.Linear(positions * channels, 1))


class Transformer(nn.Module):
    """An encoder over positions, attention pooling of its outputs, and two layers."""

    def __init__(self, architecture: Architecture, channels: int) -> None:
        super().__init__()
        width, dropout = architecture.width, architecture.dropout
        self.enter = nn.Sequential(nn.Linear(channels, width), nn.LayerNorm(width), nn.Dropout(dropout))
        # torch.relu, since PyTorch's fused inference, which it takes for functional.relu alone, is much slower on CPUs.
        layer = nn.TransformerEncoderLayer(
            width, architecture.heads, architecture.feedforward, dropout, activation=torch.relu, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, architecture.layers, enable_nested_tensor=False)
        self.query = nn.Sequential(nn.Linear(width, width // 2), nn.Tanh(), nn.Linear(width // 2, 1))
        self.leave = _mlp((width, width), dropout)

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        entered = self.enter(values)
        encoded = self.encoder(entered + sinusoids(*entered.shape[1:]).to(entered), src_key_padding_mask=~mask)
        weights = self.query(encoded).masked_fill(~mask[..., None], -torch.inf).softmax(1)
        return self.leave((weights * encoded).sum(1))[:, 0]


class Flat(nn.Module):
    """A head on all positions, concatenated."""

    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        self.head = head

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        return self.head(values.flatten(1))[:, 0]


class Mean(nn.Module):
    """A head on the mean over tokens."""

    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        self.head = head

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        return self.head(values.sum(1) / mask.sum(1, keepdim=True))[:, 0]


def sinusoids(positions: int, width: int) -> Tensor:
    """Positional encodings (T, width), sines and cosines interleaved (Vaswani et al. 2017)."""
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angles = torch.arange(positions)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def _mlp(widths: tuple[int, ...], dropout: float) -> nn.Sequential:
    """Layers of the given widths, then one output."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*layers, nn.Linear(widths[-1], 1))
