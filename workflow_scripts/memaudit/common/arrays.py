"""Type aliases of NumPy arrays that the whole library shares. Docstrings name the dimensions."""

import numpy as np
from numpy.typing import NDArray

# Floats: Array in double precision, Array32 in single, Floats in any.
Array = NDArray[np.float64]
Array32 = NDArray[np.float32]
Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]
# Integers: Codes are class or category codes, Indices are positions or counts.
Codes = NDArray[np.integer]
Indices = NDArray[np.integer]
