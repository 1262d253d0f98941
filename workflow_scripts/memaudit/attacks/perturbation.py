"""Label-only attack by noise: how many noisy copies of a record get the same predicted label as the record.

TabPATE, Appendix A.1 and Tables 5, 8, 9; after Choquette-Choo et al. 2021. The paper adds Gaussian noise "scaled by
feature standard deviation" and is silent about categories and about whose deviation is meant. Here it is that of
records which the adversary owns, and a category is drawn again from theirs with probability min(scale, 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array, Array32, Floats, Mask

Setting = tuple[float, int]  # scale and number N of copies


@dataclass(frozen=True)
class Reference:
    """What the adversary's own records tell about each column.

    deviations: (feature,) standard deviation (ddof 0) of the values that are there, 0 for a column of categories;
    categories: by place of such a column, the codes that are there, each as often as it occurs.
    """

    deviations: Array
    categories: dict[int, Floats]

    @classmethod
    def of(cls, x: Floats, redrawn: Mask) -> "Reference":
        """x: (record, feature), NaN where missing; redrawn: (feature,) True for categories and codes of texts."""
        known = [column[~np.isnan(column)].astype(np.float64) for column in x.T]
        deviations = [0.0 if redrawn[j] or not len(values) else values.std() for j, values in enumerate(known)]
        return cls(np.array(deviations), {j: np.sort(known[j]) for j in np.flatnonzero(redrawn) if len(known[j])})


def settings(counts: Sequence[int], scales: Sequence[float], count: int, scale: float) -> list[Setting]:
    """Every number of copies at `scale`, and every scale with `count` copies, none twice (Tables 8 and 9)."""
    return list(dict.fromkeys([(scale, number) for number in counts] + [(other, count) for other in scales]))


def queries(record: Floats, reference: Reference, asked: Sequence[Setting], rng: np.random.Generator) -> Array32:
    """A record (feature,) and below it its noisy copies, scale by scale as in `most`: (1 + copy, feature).

    All scales have the same noise, and a smaller number of copies is the beginning of a larger one: settings are
    compared in pairs. Missing cells stay missing.
    """
    needed = most(asked)
    gaussian, uniform = rng.spawn(2)
    shape = max(needed.values()), record.size
    noise, chances = gaussian.standard_normal(shape), uniform.random((shape[0], 2, shape[1]))
    copies = [_copies(record, reference, scale, noise[:n], chances[:n]) for scale, n in needed.items()]
    return np.vstack([record[None], *copies]).astype(np.float32)


def _copies(record: Floats, reference: Reference, scale: float, noise: Floats, chances: Floats) -> Floats:
    """(copy, feature) of noise (copy, feature) and uniforms (copy, 2, feature): whether to draw again, and what."""
    copies = record + scale * reference.deviations * noise
    for column, values in reference.categories.items():
        if not np.isnan(record[column]):
            drawn = values[(chances[:, 1, column] * len(values)).astype(np.intp)]
            copies[:, column] = np.where(chances[:, 0, column] < scale, drawn, record[column])
    return copies


def most(asked: Sequence[Setting]) -> dict[float, int]:
    """Copies that are needed at each scale: the largest N there."""
    return {scale: max(count for other, count in asked if other == scale) for scale, _ in asked}


def stability(predicted: NDArray[np.integer], asked: Sequence[Setting]) -> Array32:
    """s(x) of each setting: share of the copies whose predicted class is the one predicted for the record itself.

    predicted: (..., 1 + copy) class codes in the order of `queries`. Returns (..., setting).
    """
    return _shares(predicted[..., 1:] == predicted[..., :1], asked)


def correct_copies(predicted: NDArray[np.integer], labels: NDArray[np.integer], asked: Sequence[Setting]) -> Array32:
    """Share of the copies whose predicted class is the true one, of each setting (Choquette-Choo et al. 2021).

    predicted: (..., 1 + copy) as for `stability`; labels: (...), true classes. Returns (..., setting).
    """
    return _shares(predicted[..., 1:] == labels[..., None], asked)


def _shares(hits: Mask, asked: Sequence[Setting]) -> Array32:
    """Share of the copies (..., copy) that are hits, of each setting: (..., setting)."""
    starts, start = {}, 0
    for scale, count in most(asked).items():
        starts[scale], start = start, start + count
    shares = [hits[..., starts[scale] : starts[scale] + count].mean(-1) for scale, count in asked]
    return np.stack(shares, -1).astype(np.float32)
