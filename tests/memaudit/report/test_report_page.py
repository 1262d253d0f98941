"""The report: what is drawn and said comes from results and sidecars, and names from data stay text."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import escape

from memaudit import tidy
from memaudit.report import inline_figures, page_tables
from memaudit.report.claim_verdicts import verdicts
from memaudit.report.headline_answers import answers
from memaudit.report.report_page import TEMPLATES, Run, duration, render
from memaudit.report.result_lineage import Lineage, Step
from memaudit.report.workflow_graph import MOST, draw
from memaudit.statistics.claims import Claim
from memaudit.statistics.headlines import Headline, state
from memaudit.workflow.digest import closure, templates

EVIL = "<script>alert(1)</script>"
SVG = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" width="9pt">
 <metadata><date/></metadata><defs><style>*{stroke: red}</style><clipPath id="c"/><path id="m"/></defs>
 <!-- a name from data --><g id="axes_1" clip-path="url(#c)"><use xlink:href="#m" style="fill: url(#c)"/></g></svg>"""


def record(rule, inputs, outputs, **facts):
    common = {"git": {"commit": "a" * 40, "dirty": False}, "python": "3.11", "platform": "Linux", "packages": {}}
    costs = {"cpu_seconds": 2.0, "wall_seconds": 1.0, "peak_memory_mib": 10}
    hashes = {"inputs": dict.fromkeys(inputs, "0" * 64), "outputs": dict.fromkeys(outputs, "1" * 64)}
    return {"rule": rule, **hashes, **common, **costs, **facts}


SIDECARS = [
    record("data_fetch", ["raw.csv"], ["table"], packages={"numpy": {"version": "1"}}),
    record("demo_query", ["table"], ["0.nc"], packages={"numpy": {"version": "2"}}, peak_memory_mib=30),
    record("demo_query", ["table"], ["1.nc"], git={"commit": "a" * 40, "dirty": True}),
    record("demo_judge", ["0.nc", "1.nc", "table"], ["scores"]),
    record("views_draw", ["scores"], ["results/r/figures/demo_roc.svg"]),
    record("views_draw", ["older"], ["left over"], python="2.7"),
]


@pytest.fixture
def lineage():
    return Lineage(SIDECARS, ["results/r/figures/demo_roc.svg"])


def headline(**changes):
    entry = {
        "answers": "memorized",
        "per": ["dataset"],
        "where": {"models": "largest"},
        "values": {"auc": {"metric": "auc"}},
        "sentence": "{dataset}: AUC {auc}; by chance {auc.null:.3g}",
    }
    return Headline.model_validate(entry | changes)


def results():
    return tidy.frame(
        [
            tidy.row("demo", {"dataset": name, "models": m}, "auc", 0.6, low=low, high=0.7, null=0.5)
            for name, low in (("wine", 0.55), ("iris", 0.45))
            for m in (8, 16)
        ]
    )


def test_an_answer_whose_interval_includes_chance_says_so():
    first, second = answers(state("demo", [headline()], results()))["What has the model memorized?"]
    assert not first.by_chance
    assert second.by_chance


def test_marks_stand_in_the_order_of_their_numbers_and_share_an_axis():
    found = answers(state("demo", [headline(scale="log")], results()))["What has the model memorized?"]
    wine, iris = (one.marks[0] for one in found)
    assert wine.null < wine.low < wine.estimate < wine.high
    # From 0.45 to 0.7 on a logarithmic axis with margins of 4.
    assert wine.estimate == pytest.approx(4 + 92 * np.log(0.6 / 0.45) / np.log(0.7 / 0.45), abs=0.01)
    assert iris.low < iris.null == wine.null
    assert iris.high == wine.high


def drawn(scale, *numbers):
    """Marks and page of one sentence on one axis; numbers: estimate, low, high, null of each value."""
    columns = ["estimate", "low", "high", "null"]
    facts = {"study": "demo", "answers": "memorized", "headline": 0, "sentence": "s", "scale": scale}
    table = pd.DataFrame(numbers, columns=columns, dtype=float).assign(value="v", **facts)
    (answer,) = answers(table)["What has the model memorized?"]
    macros = Environment(loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined)
    macros.filters |= {"spoken": page_tables.spoken, "marked": page_tables.marked, "short": str}
    markup = str(macros.get_template("parts.html").module.answer(answer))
    assert not re.search("nan|inf\\b|None", markup)
    return [(mark.estimate, mark.low, mark.high, mark.null) for mark in answer.marks], markup


def test_an_estimate_that_is_not_finite_is_not_drawn():
    for estimate in (np.nan, np.inf):
        ((place, *others),), markup = drawn("log", (estimate, 0.1, 1, 0.5))
        assert place is None
        assert None not in others
        assert "<circle" not in markup
    assert drawn("linear", (np.nan, np.nan, np.nan, np.inf))[0] == [(None,) * 4]


def test_an_axis_of_one_number_puts_it_in_the_middle():
    for scale, number in (("log", 0), ("linear", 0), ("log", 1e300), ("linear", 1e300), ("linear", -2)):
        assert drawn(scale, [number] * 4)[0] == [(50,) * 4]


def test_zeros_on_a_logarithmic_axis_stand_at_its_start():
    assert drawn("log", (0.1, 0, 1, 0.01))[0] == [(50, 4, 96, 4)]
    assert drawn("log", (0, 0, 0.5, 0))[0] == [(4, 4, 96, 4)]


def test_a_value_without_interval_and_null_is_said_but_not_drawn():
    marks, _ = drawn("linear", (0.5, 0.4, 0.6, np.nan), (0.3, np.nan, np.nan, 0.5), (0.995, np.nan, np.nan, np.nan))
    assert marks == [
        (pytest.approx(65 + 1 / 3, abs=0.01), pytest.approx(34 + 2 / 3, abs=0.01), 96, None),
        (4, None, None, pytest.approx(65 + 1 / 3, abs=0.01)),
    ]


def test_a_figure_of_a_page_has_its_own_ids_a_name_and_no_style_sheet():
    markup = inline_figures.inline(SVG, "demo_roc", f"curves {EVIL}", "demo_roc-caption")
    assert re.findall(r' id="([^"]+)"', markup) == ["demo_roc-c", "demo_roc-m", "demo_roc-axes_1"]
    assert markup.count("url(#demo_roc-c)") == 2
    assert 'href="#demo_roc-m"' in markup
    assert not re.search(r"<style|<metadata|<!--|<script", markup)
    root = ElementTree.fromstring(markup)
    assert root.get("role") == "img"
    assert root.get("aria-label") == f"curves {EVIL}"


def test_a_very_large_drawing_is_shown_as_pixels(tmp_path, monkeypatch):
    (tmp_path / "big.svg").write_text(SVG)
    (tmp_path / "big.png").write_bytes(b"png")
    assert inline_figures.embed(tmp_path / "big", "big", "label", "caption").startswith("<svg")
    monkeypatch.setattr(inline_figures, "LARGEST", 10)
    assert inline_figures.embed(tmp_path / "big", "big", EVIL, "caption").startswith(
        '<img src="data:image/png;base64,cG5n"'
    )
    assert EVIL not in inline_figures.embed(tmp_path / "big", "big", EVIL, "caption")


def test_a_figure_is_followed_back_to_what_was_given(lineage):
    steps = lineage.behind("results/r/figures/demo_roc.svg")
    assert [step.rule for step in steps] == ["demo_judge", "demo_query", "data_fetch", None]
    assert list(steps[1].files) == ["0.nc", "1.nc"]
    assert steps[-1].files == {"raw.csv": "0" * 64}


def test_neither_the_place_of_a_users_file_nor_the_key_is_shown():
    given = ["../../home/alice/clinic/patients.csv", "/srv/alice.csv", "results/r/data/id.key", "config/claims.yaml"]
    steps = Lineage([record("data_fetch", given, ["table"])], ["table"]).behind("table")
    assert steps == [Step(None, {"a file of yours (00000000)": "0" * 64, "config/claims.yaml": "0" * 64})]


def test_what_no_result_rests_on_is_left_out(lineage):
    assert len(lineage.records) == 5
    assert lineage.circumstances()["Python"] == ["3.11"]


def test_jobs_that_differ_in_packages_and_commits_are_not_hidden(lineage):
    assert lineage.packages() == {"numpy": ["1", "2"]}
    assert lineage.circumstances()["commit"] == ["a" * 12, "a" * 12 + " with changes that are not committed"]


def test_costs_are_summed_over_jobs_and_memory_is_the_largest(lineage):
    cost = lineage.costs()["demo_query"]
    assert (cost.jobs, cost.cpu, cost.memory) == (2, 4.0, 30)


def test_every_rule_stands_above_its_readers_and_implied_arrows_are_left_out(lineage):
    drawing = draw(lineage.costs(), lineage.edges())
    height = {rule: y for rule, (_, y) in drawing.boxes.items()}
    assert all(height[source] < height[reader] for source, reader in lineage.edges())
    assert ("data_fetch", "demo_judge") in lineage.edges()
    assert len(drawing.arrows) == 3


def test_boxes_do_not_overlap_and_no_layer_is_wider_than_allowed():
    readers = [f"a_reader{number}" for number in range(MOST + 3)]
    drawing = draw(["a_source", *readers], [("a_source", reader) for reader in readers])
    width, height = drawing.box
    boxes = sorted(drawing.boxes.values(), key=lambda box: (box[1], box[0]))
    for (x, y), (other_x, other_y) in pairwise(boxes):
        assert other_x >= x + width or other_y >= y + height
    assert np.unique([y for _, y in boxes], return_counts=True)[1].max() == MOST


def test_a_long_table_is_cut_and_knows_its_length():
    entry = {"title": "t", "caption": "c"}
    view = page_tables.of_rows("t", entry, ["name", "x"], [["a", float(number)] for number in range(500)])
    assert (len(view.rows), view.total, view.kinds) == (page_tables.ROWS, 500, ["", "number"])


def test_a_table_without_layout_shows_every_result_with_interval_and_null():
    entry = {"title": "t", "caption": "c", "layout": None}
    view = page_tables.view("t", entry, tidy.expand(results()))
    assert view.rows[0] == ["wine", "8", "auc", "0.6 [0.55, 0.7] (0.5)"]


def test_nulls_are_listed_by_metric():
    assert page_tables.nulls({"demo_auc": tidy.expand(results())}) == [["demo_auc", "auc", "0.5", ""]]


@pytest.mark.parametrize("mark", [page_tables.marked, page_tables.spoken])
def test_markup_in_a_cell_or_a_sentence_is_escaped(mark):
    for text in (f"0.6 [{EVIL}]", f"{EVIL} 0.6 [0.5, 0.7] {EVIL}"):
        assert "<script>" not in escape(mark(text))
    assert "<" in mark("0.6 [0.5, 0.7]")


def test_a_name_with_brackets_is_no_number():
    assert page_tables.marked("offline (cdf)") == "offline (cdf)"
    assert page_tables.marked("0.6 [0.5, -] (0.5)") == "0.6 <small>[0.5, -]</small><small>chance 0.5</small>"


def test_a_sentence_keeps_its_words_around_its_values():
    said = page_tables.spoken("AUC 0.6 [0.5, 0.7], TPR -1e-05 [-0.1, 0.1].")
    assert re.sub("<[^>]+>", "", said) == "AUC 0.6 [0.5, 0.7], TPR -1e-05 [-0.1, 0.1]."
    assert re.findall("<strong>(.+?)</strong>", said) == ["0.6", "-1e-05"]


def test_seconds_are_said_in_two_units_at_most():
    assert [duration(s) for s in (0.04, 9.94, 12.4, 59.9, 7380)] == ["0.0 s", "9.9 s", "12 s", "1 min 0 s", "2 h 3 min"]


CLAIM = Claim.model_validate(
    {
        "id": "one",
        "paper": "p",
        "place": "Figure 1",
        "text": "A is larger.",
        "value": 0.7,
        "study": "demo",
        "relation": "close",
        "left": {"metric": "auc", "where": {"models": [8, 16]}},
        "right": {"value": 0.5},
        "tolerance": 0.1,
        "where": {"fpr": {"at_most": 0.1}},
    }
)
JUDGED = pd.DataFrame(
    [
        ["one", "p", "Figure 1", EVIL, 0.7, "dataset=wine: 0.6", "reproduced", "holds in 1 of 1"],
        ["two", "p", "Figure 2", EVIL, 0.8, None, "not testable at this scale", "no results"],
    ],
    columns=["id", "paper", "place", "claim", "paper_value", "ours", "verdict", "reason"],
)


def test_a_verdict_says_its_test_with_tolerance_and_conditions():
    one, two = verdicts(JUDGED, {"one": CLAIM, "two": CLAIM})
    assert (one.theirs, one.ours, two.ours) == ("0.7", ["dataset=wine: 0.6"], [])
    assert one.test.startswith("auc (models 8 or 16) is close to 0.5, tolerance 0.1, where fpr at most 0.1; in 80%")


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
        "facts": [{"title": "facts", "caption": EVIL, "columns": [EVIL], "rows": [[EVIL]]}],
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
    )
    return render(run)


def test_names_from_data_never_become_markup(page):
    assert "<script" not in page
    assert page.count("&lt;script&gt;") > 10


def test_the_page_asks_no_other_place_for_anything(page):
    assert not re.search(r'(src|href)="(?!#|data:|\.\./|https://example\.org)', page)
    assert "default-src 'none'" in page
    assert "@import" not in page


def test_the_page_says_how_to_make_a_figure_again_and_what_it_rests_on(page):
    assert "snakemake --cores all results/r/figures/demo_roc.svg" in page
    assert '<code>raw.csv</code> <code class="sha"' in page


def test_the_papers_number_stands_beside_ours_and_is_called_theirs(page):
    assert re.search(r"<dt>Theirs</dt><dd>0.7 \(printed in the paper\)", page)
    assert re.search(r"it prints <strong>0.7</strong>, here 0.6<", page)
    assert re.search(r"it prints <strong>0.8</strong><", page)


def test_a_question_that_no_study_answers_is_left_open(page):
    assert page.count("No study of this run answers this question.") == 2


def test_templates_name_no_study(project):
    for path in templates(closure("report_write_page")):
        assert not re.search(r"lira|tabpate|iclmem|ltmia", path.read_text(encoding="utf-8")), path


def test_the_digest_of_the_page_covers_its_templates():
    assert {path.name for path in templates(closure("report_write_page"))} >= {"page.html", "style.css"}
    assert not templates(closure("views_draw_figures"))


def test_a_rule_whose_jobs_feed_one_another_is_drawn_once_without_the_arrow_back():
    rules = ["a_ask", "b_rank", "c_judge"]
    edges = [("b_rank", "a_ask"), ("a_ask", "b_rank"), ("b_rank", "c_judge")]
    drawn = draw(rules, edges)
    heights = [drawn.boxes[rule][1] for rule in rules]
    assert heights == sorted(heights)
    assert len(set(heights)) == len(drawn.arrows) + 1 == 3
