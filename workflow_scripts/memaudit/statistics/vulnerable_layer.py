"""Size of the layer of records that a mitigation protects. Without SciPy: jobs that query a model import it."""

from math import ceil


def layer_size(layer: float, members: int) -> int:
    """Number of records in the most vulnerable layer, a share of the members rounded up (Carlini et al. 2022b)."""
    return ceil(layer * members)
