"""Score matrices of planted models that look records up, for attacks of many queries and attacks on attention.

The answers about members are those of such a model; all other answers, and the members, are the run's. So no query is
added.
"""

import numpy as np
import xarray as xr

from memaudit.attacks import boundary_distance
from memaudit.attacks.attention_statistics import ENTROPY, GAP, LARGEST
from memaudit.attacks.score_matrices import labels
from memaudit.common.arrays import Array, Codes, Mask
from memaudit.studies.audit.planted_effects import CERTAIN


def near_records(grid: xr.Dataset) -> xr.Dataset:
    """Labels near the targets by a model that gives the true class to its records and to all that is near them.

    grid: of noisy copies and lines. No copy of a member has another class, and no line from it meets the boundary.
    """
    member = grid.design.values
    farthest = boundary_distance.farthest(grid.attrs["steps"])
    answers = {"distance": farthest, "correct": True, "right": 1.0, "stable": 1.0}
    return grid.assign({name: _of_members(grid[name], member, looked_up) for name, looked_up in answers.items()})


def poisoned(grid: xr.Dataset) -> xr.Dataset:
    """Answers with poisons in the context by a model that gives its own records the true class with probability 1.

    grid: of poisons, with a wrong and with a chosen label. No number of copies makes the answer about a member wrong.
    """
    own, chosen = grid.design.values, grid.chosen_design.values
    certain = _certain(labels(grid), grid.sizes["class"])[:, :, None]
    of_chosen = _certain(grid.target_label.values, grid.sizes["class"])[:, None, None]
    return grid.assign(
        logits=_of_members(grid.logits, own, certain),
        copies=_of_members(grid.copies, own, grid.copies.max().item() + 1),
        chosen_logits=_of_members(grid.chosen_logits, chosen, of_chosen),
    )


def attended(grid: xr.Dataset) -> xr.Dataset:
    """Attention by a model whose queries about its own records read these records alone.

    grid: of `white_box_scores.joined`.
    """
    looked_up = {LARGEST: 0.0, GAP: CERTAIN, ENTROPY: 0.0}
    values = np.array([looked_up[name] for name in grid.statistic.values])
    return grid.assign(attention=_of_members(grid.attention, grid.design.values, values))


def _certain(truth: Codes, classes: int) -> Array:
    """Logits (..., class) that give the true class probability 1."""
    return np.where(np.arange(classes) == truth[..., None], CERTAIN, 0.0)


def _of_members(answers: xr.DataArray, member: Mask, looked_up: np.ndarray | float | bool) -> tuple:
    """Dimensions and values of the answers (model, record, ...) where those about members are looked up."""
    wide = member.reshape(*member.shape, *[1] * (answers.ndim - 2))
    return answers.dims, np.where(wide, looked_up, answers.values)
