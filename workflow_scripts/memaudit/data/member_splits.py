"""Split into members and non-members: disjoint, stratified by the target, drawn by privacy unit (group or record)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError

MEMBERS, NONMEMBERS = "members", "nonmembers"


def split_records(records: pd.DataFrame, settings: Mapping[str, Any], rng: np.random.Generator) -> pd.DataFrame:
    """Draw a split: table (id, side) of the records that are used, in the records' order.

    records: id, target, and optionally group. settings: members and nonmembers, fractions of the
    units (float) or counts (int); max_records, units to draw first; balance, equally many units of each class.
    Raises AuditError where the settings need more units than there are.
    """
    unit, targets, classes = _units(records)
    pool = _pool(targets, classes, settings, rng)
    members, nonmembers = _counts(settings["members"], settings["nonmembers"], len(pool))
    used = pool[draw(strata(targets[pool], classes, min(members, nonmembers), rng), members + nonmembers, rng)]
    inside = used[draw(strata(targets[used], classes, min(members, nonmembers), rng), members, rng)]
    side = np.full(len(targets), -1, dtype=np.int8)
    side[used], side[inside] = 0, 1
    side = side[unit]
    taken = side >= 0
    names = pd.Categorical.from_codes(side[taken], [NONMEMBERS, MEMBERS])
    return pd.DataFrame({"id": records["id"].array[taken], "side": names})


def strata(targets: Array, classes: bool, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the stratum of each unit: its class, or which of `count` quantiles its number is in, ties at random."""
    if classes:
        return targets.astype(np.int64)
    ranks = np.empty(len(targets), dtype=np.int64)
    ranks[np.lexsort((rng.random(len(targets)), targets))] = np.arange(len(targets))
    return ranks * count // len(targets)


def draw(stratum: NDArray[np.int64], size: int, rng: np.random.Generator) -> Mask:
    """Draw `size` units as a mask; shares are rounded so that no run of strata is off by more than one unit."""
    counts = np.bincount(stratum)
    ends = np.floor(np.cumsum(counts) * (size / len(stratum)) + 0.5).astype(np.int64)
    share = np.diff(ends, prepend=0)
    order = np.lexsort((rng.random(len(stratum)), stratum))
    place = np.arange(len(stratum)) - np.repeat(np.cumsum(counts) - counts, counts)
    mask = np.zeros(len(stratum), dtype=bool)
    mask[order] = place < share[stratum[order]]
    return mask


def _units(records: pd.DataFrame) -> tuple[NDArray[np.int64], Array, bool]:
    """Unit of each record; target of each unit (majority class code, or mean); whether targets are classes."""
    classes = not pd.api.types.is_numeric_dtype(records["target"])
    target = pd.factorize(records["target"], sort=True)[0] if classes else records["target"].to_numpy(dtype=np.float64)
    if "group" not in records:
        return np.arange(len(records)), target.astype(np.float64), classes
    unit = pd.factorize(records["group"])[0]
    if classes:
        width = target.max() + 1
        votes = np.bincount(unit * width + target, minlength=(unit.max() + 1) * width).reshape(-1, width)
        return unit, votes.argmax(1).astype(np.float64), True
    return unit, np.bincount(unit, target) / np.bincount(unit), False


def _pool(targets: Array, classes: bool, settings: Mapping[str, Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """The units that the split may use."""
    most = min(settings.get("max_records") or len(targets), len(targets))
    if not settings.get("balance"):
        return np.flatnonzero(draw(strata(targets, classes, min(most, 100), rng), most, rng))
    if not classes:
        raise AuditError("`balance` needs classes; this target is a number")
    codes = targets.astype(np.int64)
    each = min(np.bincount(codes).min(), most // (codes.max() + 1))
    picked = [rng.choice(np.flatnonzero(codes == code), each, replace=False) for code in range(codes.max() + 1)]
    return np.sort(np.concatenate(picked))


def _counts(members: float, nonmembers: float, units: int) -> tuple[int, int]:
    inside = round(members * units) if isinstance(members, float) else members
    if isinstance(members, float) and isinstance(nonmembers, float):
        outside = round((members + nonmembers) * units) - inside
    else:
        outside = round(nonmembers * units) if isinstance(nonmembers, float) else nonmembers
    if inside < 1 or outside < 1 or inside + outside > units:
        raise AuditError(f"{inside} members and {outside} non-members cannot be drawn from {units} units; see `splits`")
    return inside, outside
