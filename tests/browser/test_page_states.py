"""Pages of audits in all their states, in a real Chromium: nothing overflows on phone, tablet, desktop and paper."""

import pytest
from page_states import STATES

from browser.test_report import CONTRAST, DANGLING, REPEATED, UNNAMED, browser, opened  # noqa: F401  (a fixture)

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

WIDTHS = (360, 600, 768, 900, 1060, 1100, 1280)
PAPER = 700  # px: A4 without the margins of a browser
# What is wider than its box, or stands outside the page; notes of terms and heads of stacked tables are hidden.
OVERFLOWING = """() => [...document.querySelectorAll('body *')]
  .filter(one => !one.closest('.skip, .tip, thead, svg') && one.checkVisibility() && one.clientWidth)
  .filter(one => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => one.tagName + ': ' + one.textContent.trim().slice(0, 60))"""
# Labels of drawings that leave the drawing, meet another label, or are small.
LABELS = """() => [...document.querySelectorAll('svg.drawing')].flatMap(drawing => {
  const box = drawing.getBoundingClientRect(), found = [];
  const labels = [...drawing.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
  labels.forEach(([text, one], place) => {
    if (one.left < box.left - 1 || one.right > box.right + 1 || one.top < box.top - 1 || one.bottom > box.bottom + 1)
      found.push('outside: ' + text);
    if (one.height < 12) found.push('small: ' + text);
    labels.slice(place + 1).filter(([, two]) =>
      Math.min(one.right, two.right) - Math.max(one.left, two.left) > 1 &&
      Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 2
    ).forEach(([other]) => found.push('meet: ' + text + ' | ' + other));
  });
  return found;
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the page of each state."""
    folder = tmp_path_factory.mktemp("states")
    for name, made in STATES.items():
        (folder / f"{name}.html").write_text(made(), encoding="utf-8")
    return folder


@pytest.fixture(params=STATES)
def page(request, browser, folder):  # noqa: F811
    """The page of a state, unfolded; what its console says is kept."""
    page = browser.new_page(viewport={"width": WIDTHS[0], "height": 800})
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.goto((folder / f"{request.param}.html").as_uri())
    yield opened(page)
    page.close()


def faults(page):
    """What is too wide, and which labels of drawings are not legible."""
    return page.evaluate(OVERFLOWING) + page.evaluate(LABELS)


def test_nothing_overflows_at_any_width_or_on_paper(page):
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        found[width] = faults(page)
    page.set_viewport_size({"width": PAPER, "height": 800})
    page.emulate_media(media="print")
    found["paper"] = faults(page)
    assert {width: one for width, one in found.items() if one} == {}
    assert page.said == []


def test_it_is_legible_light_and_dark_and_links_lead_somewhere(page):
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CONTRAST) == []
    assert [page.evaluate(one) for one in (UNNAMED, REPEATED, DANGLING)] == [[], [], []]
