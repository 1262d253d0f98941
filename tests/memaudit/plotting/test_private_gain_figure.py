"""Every method has a line and a band in each panel, under the demand."""

import numpy as np

from memaudit.plotting.private_gain_figure import Line, kept_shares

SIZES = [250, 1000, 5000]


def test_lines_bands_and_demands():
    lines = [
        Line(name, SIZES, [[share, share - 0.1, share + 0.1]] * 3) for name, share in (("ours", 0.8), ("dp_sgd", 0.4))
    ]
    panels = {epsilon: {"town": lines, "city": lines} for epsilon in ("1", "10")}
    demands = {epsilon: {table: [0.75, 0.75, 0.9] for table in ("town", "city")} for epsilon in panels}
    figure = kept_shares(panels, demands)
    assert len(figure.axes) == 4
    for axes in figure.axes:
        ours, baseline, wanted = axes.lines
        np.testing.assert_allclose(ours.get_ydata(), 0.8)
        assert (ours.get_linestyle(), baseline.get_linestyle()) == ("-", "--")
        np.testing.assert_allclose(wanted.get_ydata(), [0.75, 0.75, 0.9])
        assert len(axes.collections) == 2
    assert [text.get_text() for text in figure.legends[0].texts] == ["ours", "dp_sgd"]
