"""The page of an audit in a real Chromium: it stands alone, fits a phone, can be read and printed."""

import pytest
from audit_examples import FACTS, HOSTILE, a_summary, annex

from browser.test_report import (  # noqa: F401  (fixtures)
    CONTRAST,
    DANGLING,
    REPEATED,
    UNNAMED,
    browser,
    opened,
    page,
)
from memaudit.auditing.page.audit_page import render

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """A page with hostile names on it."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(a_summary(cost=-0.1, memory=(0.7, 0.6, 0.8)), FACTS, annex(), HOSTILE), encoding="utf-8")
    return path


def test_the_page_stands_alone_fits_and_is_readable(page, page_file):  # noqa: F811
    assert page.said == []
    assert {url for url in page.asked if not url.startswith("data:")} == {page_file.as_uri()}
    opened(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("page", [("small", "light"), ("desktop", "light")], indirect=True, ids="-".join)
def test_nothing_scrolls_sideways(page):  # noqa: F811
    opened(page)
    scrolling = "[...document.querySelectorAll('main *')].filter(one => one.scrollWidth > one.clientWidth + 1"
    scrolling += " && getComputedStyle(one).overflowX === 'auto').map(one => one.getAttribute('aria-label'))"
    assert page.evaluate(scrolling) == []
    drawn = "[...document.querySelectorAll('.drawing')].map(one => one.getBoundingClientRect())"
    assert page.evaluate(f"{drawn}.every(box => box.width > 150 && box.left >= 0 && box.right <= innerWidth)")
    letters = "[...document.querySelectorAll('.drawing text')].map(one => one.getBoundingClientRect().height)"
    assert min(page.evaluate(letters)) >= 10


@pytest.mark.parametrize("page", [("small", "dark"), ("desktop", "light")], indirect=True, ids="-".join)
def test_a_term_shows_its_note_by_keyboard_within_the_page(page):  # noqa: F811
    terms = page.locator(".term")
    assert terms.count() > 8
    for place in range(terms.count()):
        terms.nth(place).focus()
        box = terms.nth(place).locator(".tip").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= page.viewport_size["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


@pytest.mark.parametrize("page", [("desktop", "light")], indirect=True, ids=["desktop"])
def test_what_is_drawn_has_a_name_and_links_lead_somewhere(page):  # noqa: F811
    assert page.evaluate(UNNAMED) == []
    assert page.evaluate(REPEATED) == []
    assert page.evaluate(DANGLING) == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


@pytest.mark.parametrize("page", [("desktop", "light")], indirect=True, ids=["desktop"])
def test_it_prints_without_what_a_printer_cannot_scroll(page, tmp_path):  # noqa: F811
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every(one => getComputedStyle(one).overflowX == 'visible')"
    )
    assert page.pdf(path=tmp_path / "page.pdf").startswith(b"%PDF")
