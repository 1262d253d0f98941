"""Figures share one style, and a file holds nothing that differs between runs."""

import matplotlib as mpl
import numpy as np

from memaudit.plotting import figure_style


@figure_style.applied
def figure(title="a"):
    figure, [[left, right]] = figure_style.panels(1, 2)
    left.plot([0, 1], [0, 1], color=figure_style.BLUE, label=title)
    left.set_title(title)
    right.scatter(np.linspace(0, 1, 50), np.linspace(1, 0, 50), rasterized=True)
    figure_style.reference(right, 0.5, "guessing")
    figure.legend()
    return figure


def test_saving_twice_gives_equal_bytes_in_all_three_formats(tmp_path):
    for name in ("a", "b"):
        figure_style.save(figure(), tmp_path / f"{name}.fpr0.01")
        figure_style.save(figure("\\$x"), tmp_path / f"{name}_sigma")
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) == 12
    for path in tmp_path.glob("a*"):
        assert path.read_bytes() == (tmp_path / path.name.replace("a", "b", 1)).read_bytes(), path.name


def test_files_carry_no_date_and_no_version(tmp_path):
    figure_style.save(figure(), tmp_path / "figure")
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        for mark in (b"<dc:date>", b"CreationDate", b"Matplotlib v", b"Software"):
            assert mark not in content, path.name


def test_drawing_leaves_matplotlibs_settings_alone():
    before = {key: mpl.rcParams[key] for key in figure_style.RC}
    figure()
    assert {key: mpl.rcParams[key] for key in figure_style.RC} == before
    assert before != figure_style.RC


def test_a_reference_line_has_its_label_in_grey():
    (text,) = figure().axes[1].texts
    assert (text.get_text(), text.get_color()) == ("guessing", figure_style.GREY)


def test_a_name_from_data_is_no_formula(tmp_path):
    figure_style.save(figure(figure_style.plain(r"a$\frac$b")), tmp_path / "figure")
    assert figure_style.plain(r"a$\frac$b").replace(r"\$", "$") == r"a$\frac$b"
    assert (tmp_path / "figure.png").stat().st_size > 0
