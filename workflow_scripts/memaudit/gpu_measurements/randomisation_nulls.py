"""Part `nulls`: LiRA's randomisation null of a whole grid, on the processor beside the GPU that made its signals."""

import time
from functools import partial
from typing import Any

import numpy as np

from memaudit.data.membership_matrices import Scheme, balanced
from memaudit.gpu_measurements.resumable_parts import Case, Part, Setup
from memaudit.gpu_measurements.shadow_grids import PUBLISHED, SMALLEST
from memaudit.statistics.randomisation_tests import randomisation_null

DRAWS = 19  # redraws; more take as much longer
FPRS = (0.1, 0.01, 0.001)
SCHEME = Scheme(block=16)
SMALLEST_MODELS = 32  # two blocks


def cases(smallest: bool) -> list[Case]:
    """One null, of as many models and records as the grid has."""
    sizes = SMALLEST | {"models": SMALLEST_MODELS} if smallest else PUBLISHED
    shape = {"models": sizes["models"], "records": sizes["rows"], "draws": DRAWS}
    return [Case("LiRA", {"dtype": "fp64", "sizes": shape}, partial(null, shape))]


def null(shape: dict[str, int], setup: Setup) -> dict[str, Any]:
    """Seconds of the null, and of a redraw. Raises ValueError where its mean AUC is not that of chance."""
    rng = np.random.default_rng(0)
    membership = balanced(shape["models"], shape["records"], rng, SCHEME.block)
    signals = rng.normal(size=membership.shape)
    began = time.perf_counter()
    found = randomisation_null(signals, membership, "lira", rng, shape["draws"], fprs=FPRS, scheme=SCHEME)
    seconds = time.perf_counter() - began
    if not abs(found.values[:, 0].mean() - 0.5) < 0.05:
        raise ValueError("the mean AUC of random signals is not 0.5")
    return {"seconds": seconds, "repetitions": 1, "seconds_per_redraw": seconds / shape["draws"]}


def headline(measured: list[dict[str, Any]]) -> str:
    """Seconds of a redraw."""
    return "; ".join(f"{one['name']} {one['seconds_per_redraw']:.3g} s a redraw" for one in measured)


PART = Part("nulls", 120, cases, headline)
