"""Scaling of features and targets by their context: that of our pre-trained models, and the tabicl package's."""

import torch
from torch import Tensor

EPSILON = 1e-6  # least deviation, as in the package
FARTHEST = 100.0  # deviations at which the package clips
OUTLIER = 4.0  # deviations beyond which the package counts a cell as an outlier


def standardize(context_x: Tensor, query_x: Tensor, clip: float = 6.0) -> tuple[Tensor, Tensor]:
    """Scale every column by the mean and standard deviation of its observed context rows.

    context_x (B, n, d) and query_x (B, m, d), NaN = missing, are returned in the same shapes, finite. A missing cell
    becomes 0, the context's mean; so does a column that is constant (or missing) in the context. z is clipped smoothly:
    clip * tanh(z / clip), which keeps the order of outliers.
    """
    seen = context_x.isfinite()
    count = seen.sum(1, keepdim=True).clamp(min=1)
    mean = torch.where(seen, context_x, 0).sum(1, keepdim=True) / count
    centred = torch.where(seen, context_x - mean, 0)
    variance = centred.square().sum(1, keepdim=True) / count
    constant = variance.sqrt() <= 1e-6 * mean.abs() + 1e-12
    # Unused cells are replaced before the root and the ratio, whose derivatives there are infinite.
    deviation = torch.where(constant, 1, variance).sqrt()

    def scale(x: Tensor) -> Tensor:
        z = torch.where(x.isfinite() & ~constant, x - mean, 0) / deviation
        return clip * torch.tanh(z / clip)

    return scale(context_x), scale(query_x)


def package_view(context_x: Tensor, query_x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Preprocess like tabicl 2.2.0 with one view and without a power transform (its module `_sklearn`).

    context_x (B, n, d) and query_x (B, m, d), NaN = missing. Returns both in the same shapes, float32, and kept (B, d),
    the columns that the package passes to its module. A missing cell becomes the context's mean (0 in a column without
    any value); a column that is constant in the context is dropped, except the first where all are constant; a column
    is scaled by mean and deviation and clipped at FARTHEST; beyond OUTLIER deviations of the other cells it grows as a
    logarithm. Statistics are float64.
    """
    context, query = context_x.double(), query_x.double()
    seen = ~context.isnan()
    mean = torch.where(seen, context, 0).sum(1, keepdim=True) / seen.sum(1, keepdim=True).clamp(min=1)
    context, query = torch.where(seen, context, mean), torch.where(query.isnan(), mean, query)
    kept = (context != context[:, :1]).any(1) | (context.shape[1] == 1)
    kept[:, 0] |= ~kept.any(1)
    centre, scale = context.mean(1, keepdim=True), context.std(1, correction=0, keepdim=True) + EPSILON
    context, query = (((x - centre) / scale).clamp(-FARTHEST, FARTHEST) for x in (context, query))
    low, high = _bounds(context, *_bounds(context))

    def soft_cut(x: Tensor) -> Tensor:
        x = torch.maximum(low - x.abs().log1p(), x)
        return torch.minimum(high + x.abs().log1p(), x).float()

    return soft_cut(context), soft_cut(query), kept


def _bounds(x: Tensor, low: Tensor | float = -torch.inf, high: Tensor | float = torch.inf) -> tuple[Tensor, Tensor]:
    """OUTLIER deviations (B, 1, d) on either side of the mean of the cells of x (B, n, d) within bounds."""
    within = (x >= low) & (x <= high)
    count = within.sum(1, keepdim=True)
    mean = torch.where(within, x, 0).sum(1, keepdim=True) / count
    freedom = (count - 1).clamp(min=1)
    variance = torch.where(within, x - mean, 0).square().sum(1, keepdim=True) / freedom
    # Clamped before the root, which has no derivative at 0.
    deviation = variance.clamp(min=EPSILON**2).sqrt()
    return mean - OUTLIER * deviation, mean + OUTLIER * deviation


def target_scale(context_y: Tensor, counts: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation (B, 1) of numbers (B, n), float32; deviation 1 where all are equal.

    As scikit-learn's StandardScaler, with which tabicl scales targets: float64, and equal means equal up to rounding.
    counts: (B, n), how often each number stands; None: once.
    """
    y = context_y.double()
    weights = torch.ones_like(y) if counts is None else counts.double()
    number = weights.sum(1, keepdim=True)
    mean = (weights * y).sum(1, keepdim=True) / number
    variance = (weights * (y - mean).square()).sum(1, keepdim=True) / number
    rounding = number * torch.finfo(y.dtype).eps
    constant = variance <= rounding * variance + (rounding * mean).square()
    return mean.float(), torch.where(constant, 1, variance.sqrt()).float()
