"""The one scaling of features, shared by pre-training and inference."""

import torch
from torch import Tensor


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
    deviation = (centred.square().sum(1, keepdim=True) / count).sqrt()
    constant = deviation <= 1e-6 * mean.abs() + 1e-12

    def scale(x: Tensor) -> Tensor:
        z = torch.where(x.isfinite() & ~constant, (x - mean) / deviation, 0)
        return clip * torch.tanh(z / clip)

    return scale(context_x), scale(query_x)
