"""The report of an invented study: whole in itself, with every name from data escaped."""

import re

import pytest
from report_examples import CLAIM, EVIL, JUDGED, SIDECARS, SVG, headline, results

from memaudit.claims.headlines import state
from memaudit.common import tidy
from memaudit.report.report_page import Run, duration, render
from memaudit.report.result_lineage import Lineage
from memaudit.workflow.digest import closure, templates


def test_durations_have_two_units_at_most():
    assert [duration(s) for s in (0.04, 9.94, 12.4, 59.9, 7380)] == ["0.0 s", "9.9 s", "12 s", "1 min 0 s", "2 h 3 min"]


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page on a study that no template can know, with markup in every text that comes from data."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results/r"
    (folder / "figures").mkdir(parents=True)
    (folder / "figures/demo_roc.svg").write_text(SVG)
    (folder / "figures/demo_roc.png").write_bytes(b"")
    stated = state("demo", [headline(sentence=EVIL + "{dataset} {auc}")], results())
    named = tidy.expand(results()).assign(dataset=EVIL, models=range(4))
    entry = {"title": EVIL, "caption": EVIL, "layout": None}
    study = {
        "title": EVIL,
        "question": EVIL,
        "paper": {"title": EVIL, "address": "https://example.org"},
        "thresholds": [["demo/fpr", [EVIL], EVIL]],
        "facts": [{"name": "demo_facts", "title": "facts", "caption": EVIL, "columns": [EVIL], "rows": [[EVIL]]}],
    }
    names = ("demo_auc", "demo_claims", "demo_headlines")
    run = Run(
        folder.relative_to(tmp_path),
        "snakemake --cores all",
        {"demo": study},
        dict.fromkeys(names, entry),
        {"demo_roc": entry},
        {"one": CLAIM, "two": CLAIM},
        dict(zip(names, (named, JUDGED, stated), strict=True)),
        Lineage(SIDECARS, ["results/r/figures/demo_roc.svg"]),
        1234,
    )
    return render(run)


def test_names_from_data_never_become_markup(page):
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 10


def test_the_page_says_that_the_files_behind_it_were_verified(page):
    assert "before this page was written: 1,234 files" in page


def test_the_page_loads_nothing_from_elsewhere(page):
    assert not re.search(r'(src|href)="(?!#|data:|\.\./|https://example\.org)', page)
    assert "default-src 'none'" in page
    assert "@import" not in page


def test_the_page_shows_the_command_and_the_files_behind_a_figure(page):
    assert "snakemake --cores all --force results/r/figures/demo_roc.svg" in page
    assert '<code>raw.csv</code> <code class="sha"' in page


def test_the_papers_number_stands_beside_the_result_of_the_run(page):
    assert re.search(r"<dt>Paper</dt><dd>0.7 \(as printed\)", page)
    assert re.search(r"it prints <strong>0.7</strong>, here 0.6<", page)
    assert re.search(r"it prints <strong>0.8</strong><", page)


def test_a_question_without_answers_is_marked_as_open(page):
    assert page.count("No study of this run answers this question.") == 2


def test_templates_name_no_study(project):
    for path in templates(closure("report_write_page")):
        assert not re.search(r"lira|tabpate|iclmem|ltmia", path.read_text(encoding="utf-8")), path


def test_the_digest_of_the_page_covers_its_templates():
    assert {path.name for path in templates(closure("report_write_page"))} >= {"page.html", "style.css"}
    assert not templates(closure("views_draw_figures"))
