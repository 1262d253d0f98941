"""Classifiers that also return their hidden states: target and shadow models that are trained from scratch.

Each is a module whose forward pass takes records (B, ...) and returns `Outputs`: logits (B, class), and the hidden
state of each layer (B, width), the last one being the input of the head. No answer depends on the other records of a
batch.
"""

from itertools import pairwise

from torch import Tensor, nn

from memaudit.common.errors import AuditError

Outputs = tuple[Tensor, list[Tensor]]

CHANNELS = 4  # in a group of the group normalisation


class Mlp(nn.Module):
    """Layers of one width with ReLU. Takes numbers (B, feature)."""

    def __init__(self, features: int, classes: int, width: int, depth: int):
        super().__init__()
        sizes = [features] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(sizes))
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Outputs:
        hidden = []
        for layer in self.layers:
            x = layer(x).relu()
            hidden.append(x)
        return self.head(x), hidden


class WideResNet(nn.Module):
    """Wide residual network (Zagoruyko and Komodakis 2016). Takes images (B, channel, height, width).

    depth: 6 n + 4 for n blocks in each of three groups; widen: factor on `base`, 2 `base` and 4 `base` channels;
    WRN16-4 is depth 16, widen 4, base 16. Groups of channels are normalised instead of batches, so that no record of a
    batch changes another's output and models can be trained in one stack. Hidden states are means over all pixels.
    """

    def __init__(self, channels: int, classes: int, depth: int, widen: int, base: int):
        super().__init__()
        if depth % 6 != 4:
            raise AuditError(f"wide residual network: depth {depth} is not 6 n + 4; give 10, 16, 22 or 28")
        widths = [base, *(base * widen * factor for factor in (1, 2, 4) for _ in range(depth // 6))]
        strides = [2 if place and place % (depth // 6) == 0 else 1 for place in range(len(widths) - 1)]
        self.stem = nn.Conv2d(channels, base, 3, padding=1, bias=False)
        sizes = zip(pairwise(widths), strides, strict=True)
        self.blocks = nn.ModuleList(Residual(*pair, stride) for pair, stride in sizes)
        self.norm = _norm(widths[-1])
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, x: Tensor) -> Outputs:
        x, hidden = self.stem(x), []
        for block in self.blocks:
            x = block(x)
            hidden.append(x)
        hidden[-1] = self.norm(x).relu()
        hidden = [state.mean((-2, -1)) for state in hidden]
        return self.head(hidden[-1]), hidden


class Residual(nn.Module):
    """Two convolutions, each after normalisation and ReLU, beside a short cut."""

    def __init__(self, before: int, after: int, stride: int):
        super().__init__()
        self.norms = nn.ModuleList([_norm(before), _norm(after)])
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        same = before == after and stride == 1
        self.short = nn.Identity() if same else nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        start = self.norms[0](x).relu()
        # A short cut that changes the shape starts behind the normalisation (Zagoruyko's own code).
        short = x if isinstance(self.short, nn.Identity) else self.short(start)
        return self.second(self.norms[1](self.first(start)).relu()) + short


def _norm(channels: int) -> nn.GroupNorm:
    return nn.GroupNorm(max(1, channels // CHANNELS), channels)
