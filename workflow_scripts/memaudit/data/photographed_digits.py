"""Handwritten digits on photographs: small images of which some are hard to read, from what scikit-learn ships.

The digits are those of the UCI repository (Alpaydin and Kaynak 1998), 8 x 8; the photographs are scikit-learn's two
sample images. Digits alone are too easy for a study of memorization: next to none is ambiguous. In front of a busy
patch some cannot be read; study `predict` measures how many (`label ambiguity`).
"""

import numpy as np
from numpy.typing import NDArray

from memaudit.common.arrays import Array32

SIDE, COARSE = 8, 4  # pixels of a side; pixels of the photograph that make one


def photographed_digits(contrast: float, rng: np.random.Generator) -> tuple[Array32, NDArray[np.int64]]:
    """Return grey images (1797, 64) in [0, 1], each digit on a random patch of a photograph, and the digits (1797,).

    contrast: weight of the digit, 0 to 1; the patch has the rest.
    """
    from sklearn.datasets import load_digits, load_sample_images  # takes seconds

    digits = load_digits()
    photographs = [image.mean(2) / 255 for image in load_sample_images().images]
    size = SIDE * COARSE
    patches = []
    for _ in digits.target:
        photograph = photographs[rng.integers(len(photographs))]
        row, column = (rng.integers(length - size + 1) for length in photograph.shape)
        cut = photograph[row : row + size, column : column + size]
        patches.append(cut.reshape(SIDE, COARSE, SIDE, COARSE).mean((1, 3)).ravel())
    images = contrast * digits.data / 16 + (1 - contrast) * np.array(patches)
    return images.astype(np.float32), digits.target.astype(np.int64)
