"""Figures of published runs are drawn from kept results and stand on their pages with the caption of the study."""

import re

import pytest
import yaml

from memaudit.common.checksums import sha256
from memaudit.report import docs_pages, run_figures


def test_every_figure_is_one_of_its_study(project):
    for shown in run_figures.FIGURES.values():
        views = yaml.safe_load((project / f"config/views/{shown.study}.yaml").read_text())
        assert f"{shown.study}_{shown.figure}" in views["figures"]


@pytest.mark.parametrize("run", run_figures.runs())
def test_a_page_shows_the_figure_of_its_results(run, project):
    text, title = (project / f"docs/results/{run}.md").read_text(), run_figures.of_page(run)["title"]
    assert f"## {title}\n![{title}]({run}.svg)" in text
    drawn = (project / f"docs/results/{run}.svg").read_text()
    assert sha256(run_figures.runs()[run]) in drawn, "run `make docs`"


def test_a_run_without_kept_results_has_none(monkeypatch, tmp_path):
    monkeypatch.setattr(run_figures, "PUBLISHED", tmp_path)
    assert run_figures.runs() == {}
    assert run_figures.of_page("lira") == {}
    assert run_figures.of_page("predict-mmlu") == {}


@pytest.mark.long
def test_drawing_twice_gives_the_same_marks(tmp_path):
    runs = run_figures.runs()
    for folder in ("first", "second"):
        (tmp_path / folder / "results").mkdir(parents=True)
        docs_pages.draw(tmp_path / folder)
    for run in runs:
        first, second = (tmp_path / folder / f"results/{run}.svg" for folder in ("first", "second"))
        assert _marks(first) == _marks(second)


def _marks(path):
    return re.findall(r' d="([^"]+)"', path.read_text())
