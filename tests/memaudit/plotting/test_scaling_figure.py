"""The figure of scaling shows measured points and the slopes fitted to them."""

import numpy as np

from memaudit.plotting.scaling_figure import scaling


def test_a_fitted_slope_is_drawn_through_the_upper_half():
    sizes = [10, 20, 40, 80, 160]
    one = {"part": "engine", "axis": "rows", "sizes": sizes, "slopes": {"seconds": 2.0, "peak_mib": 1.0}}
    one |= {"seconds": [1, 1, *np.square(sizes[2:]).tolist()], "peak_mib": [3 * size for size in sizes]}
    panels = scaling({"axes": [one]}).axes
    assert [panel.texts[0].get_text() for panel in panels] == ["slope 2.00", "slope 1.00"]
    for panel, values in zip(panels, (one["seconds"], one["peak_mib"]), strict=True):
        np.testing.assert_array_equal(panel.lines[1].get_xdata(), sizes[2:])
        np.testing.assert_allclose(panel.lines[1].get_ydata(), values[2:])
