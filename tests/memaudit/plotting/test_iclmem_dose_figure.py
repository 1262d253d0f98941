"""The dose-response has a line for each signal, the smallest AUC that can be seen, and chance."""

import pytest
from matplotlib.colors import to_hex

from memaudit.common import tidy
from memaudit.plotting.iclmem_dose_figure import SIGNALS, doses

EPOCHS = (1, 10, 100)


def table():
    rows = []
    for arm in ("canaries", "placebo"):
        for epoch in EPOCHS:
            keys = {"dataset": "wine", "arm": arm, "epoch": epoch, "records": "query"}
            for place, signal in enumerate(SIGNALS):
                value = 0.9 - 0.1 * place + epoch / 1000
                facts = {"low": value - 0.05, "high": value + 0.1, "null": 0.5}
                rows.append(tidy.row("iclmem", {**keys, "signal": signal}, "dose auc", value, **facts))
            rows.append(tidy.row("iclmem", {**keys, "signal": "loss"}, "smallest detectable auc", 0.6, null=0.5))
    return tidy.expand(tidy.frame(rows))


def test_every_signal_has_a_line_over_the_doses_beside_the_smallest_auc_that_the_probe_shows():
    figure = doses(table())
    assert [axes.get_title() for axes in figure.axes] == ["wine\ncanaries", "wine\nplacebo"]
    for axes in figure.axes:
        lines = axes.get_lines()
        for place, (_, colour, _) in enumerate(SIGNALS.values()):
            (drawn,) = (one for one in lines if to_hex(one.get_color()) == to_hex(colour))
            assert list(drawn.get_ydata()) == pytest.approx([0.9 - 0.1 * place + epoch / 1000 for epoch in EPOCHS])
        (limit,) = (one for one in lines if one.get_linestyle() == ":")
        assert list(limit.get_ydata()) == [0.6] * len(EPOCHS)
        (chance,) = (one for one in lines if one.get_linestyle() == "--")
        assert list(chance.get_ydata()) == [0.5, 0.5]
