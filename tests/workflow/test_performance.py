"""The page of benchmarks and its figure follow their JSON."""

import copy

import numpy as np
import pytest

from memaudit.common.checksums import sha256
from memaudit.common.io import read_json
from memaudit.report import docs_pages


@pytest.fixture
def benches(project):
    return {path.stem: read_json(path) for path in (project / "results/bench").glob("*.json")}


@pytest.mark.parametrize("name", docs_pages.FIGURES)
def test_a_figure_shows_the_present_numbers(project, name):
    """Files may differ between computers in their last digit: the digest of the numbers stands in the figure."""
    expected = sha256(project / "results/bench" / docs_pages.FIGURES[name][0])
    assert expected in (project / "docs" / name).read_text(encoding="utf-8"), "run `make docs`"


@pytest.mark.long
def test_figures_are_the_same_when_they_are_drawn_again(tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
        docs_pages.draw(folder)
    for name in docs_pages.FIGURES:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_slopes_are_those_of_the_points(benches):
    for one in benches["scale_engine"]["axes"]:
        upper = slice(-(len(one["sizes"]) // 2 + 1), None)
        for name, slope in one["slopes"].items():
            fitted = np.polyfit(np.log(one["sizes"][upper]), np.log(one[name][upper]), 1)[0]
            assert slope == pytest.approx(fitted)
        assert one["sizes"][-1] >= 99 * one["sizes"][0]


def test_another_ratio_gives_another_page(benches):
    other = copy.deepcopy(benches)
    other["probe_contexts"]["ratio"]["package_over_ours_distinct"] = 98.7
    assert "| at least 15 | 98.7 |" in docs_pages.performance(other)
