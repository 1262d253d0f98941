"""The style of all figures: fonts, sizes, colours, and files that are equal byte for byte if drawn again."""

from pathlib import Path
from typing import Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memaudit.common.io import replacing

# Inches: widths of one and two columns of a paper, height of a row of panels.
ONE_COLUMN, TWO_COLUMNS, PANEL_HEIGHT = 3.4, 7.0, 1.9

GREY, LIGHT = "0.45", "0.88"
# Okabe and Ito 2008: distinguishable with any colour vision.
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip

RC = {
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": LIGHT,
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 3,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "legend.handlelength": 2.2,
    "pdf.fonttype": 42,
    "svg.hashsalt": "memaudit",
    "image.cmap": "cividis",
}
# With a date or a version the files of every run would differ.
METADATA = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
}

# Decorator of every drawing function: matplotlib reads most settings when an artist is created.
applied = mpl.rc_context(RC)


def panels(rows: int, columns: int, *, width: float = TWO_COLUMNS, height: float = PANEL_HEIGHT) -> tuple[Figure, list]:
    """A figure with rows x columns axes, as a list of rows; height: inches of a row, 0.4 are added for labels."""
    figure = Figure(figsize=(width, height * rows + 0.4))
    return figure, figure.subplots(rows, columns, squeeze=False).tolist()


def reference(
    axes: Axes, x: float, label: str, dash: str = "--", side: Literal["left", "center", "right"] = "center"
) -> None:
    """Draw a thin grey vertical line at x, with a grey label above the panel, where it covers no data.

    side: edge of the label that is at x; "right" places the label left of the line.
    """
    axes.axvline(x, color=GREY, linewidth=0.7, linestyle=dash, zorder=1)
    place = {"xy": (x, 1), "xycoords": ("data", "axes fraction"), "xytext": (0, 1), "textcoords": "offset points"}
    axes.annotate(label, **place, ha=side, va="bottom", color=GREY, fontsize=6)


def plain(name: str) -> str:
    """A name from data, escaped so that matplotlib does not read it as a formula."""
    return name.replace("$", r"\$")


@applied
def save(figure: Figure, stem: str | Path) -> None:
    """Write stem.svg, stem.png and stem.pdf; equal figures give equal bytes."""
    # Text has one size in all formats: the layout, a third of the time, is found once.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for form, metadata in METADATA.items():
        with replacing(f"{stem}.{form}") as temporary:
            figure.savefig(temporary, format=form, metadata=metadata)
