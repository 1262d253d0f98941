"""The dose-response has a line for each signal, the smallest AUC that can be seen, and chance, on every axis."""

import pytest
from matplotlib.colors import to_hex

from memaudit.common import tidy
from memaudit.plotting.iclmem_dose_figure import AXES, SIGNALS, doses

EPOCHS = (1, 10, 100)
PANELS = {
    "wine\ncanaries": ({"arm": "canaries", "axis": "epochs"}, EPOCHS),
    "wine\nplacebo": ({"arm": "placebo", "axis": "epochs"}, EPOCHS),
    "wine\ncanaries, learning rate": ({"axis": "learning_rate", "epoch": 10}, (1e-4, 1e-3, 1e-2)),
    "wine\ncanaries, copies": ({"axis": "copies", "epoch": 10}, (1, 4, 16)),
}


def value(place, dose):
    return 0.9 - 0.1 * place + dose / 1000


def table(panels=PANELS):
    rows = []
    for about, values in panels.values():
        for dose in values:
            keys = {"dataset": "wine", "labels": "canaries", **about, "dose": dose, "records": "query"}
            for place, signal in enumerate(SIGNALS):
                auc = value(place, dose)
                facts = {"low": auc - 0.05, "high": auc + 0.1, "null": 0.5}
                rows.append(tidy.row("iclmem", {**keys, "signal": signal}, "dose auc", auc, **facts))
            rows.append(tidy.row("iclmem", {**keys, "signal": "loss"}, "smallest detectable dose auc", 0.6, null=0.5))
    return tidy.expand(tidy.frame(rows))


def test_every_signal_has_a_line_over_the_doses_beside_the_smallest_auc_that_the_probe_shows():
    figure = doses(table())
    assert [axes.get_title() for axes in figure.axes] == list(PANELS)
    for axes, (about, values) in zip(figure.axes, PANELS.values(), strict=True):
        assert axes.get_xlabel() == AXES[about["axis"]]
        lines = axes.get_lines()
        for place, (_, colour, _) in enumerate(SIGNALS.values()):
            (drawn,) = (one for one in lines if to_hex(one.get_color()) == to_hex(colour))
            assert list(drawn.get_ydata()) == pytest.approx([value(place, dose) for dose in values])
        (limit,) = (one for one in lines if one.get_linestyle() == ":")
        assert list(limit.get_ydata()) == [0.6] * len(values)
        (chance,) = (one for one in lines if one.get_linestyle() == "--")
        assert list(chance.get_ydata()) == [0.5, 0.5]


def test_a_study_without_doses_of_epochs_has_the_other_axes():
    only = {name: about for name, about in PANELS.items() if about[0]["axis"] == "copies"}
    assert [axes.get_title() for axes in doses(table(only)).axes] == list(only)
