"""The report in a real Chromium, on a desktop and on a phone: it stands alone, fits, and can be used by keyboard.

`make test-browser` runs these; a plain pytest does not. SCREENSHOTS=folder keeps the pictures.
"""

import os
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

SIZES = {"desktop": (1280, 900), "phone": (390, 844), "small": (360, 740), "wide": (1600, 1000)}
NAMES = ("chromium", "chromium-browser", "google-chrome")
# WCAG 2.2 contrast of every text with the first opaque background behind it; large text may have less.
CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const luminance = colour => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const part = rgba(colour)[i] / 255;
    return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (rgba(colour)[3] === 255) return colour;
    }
    return 'white';
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest('svg')) continue;
    const style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const [light, dark] = [luminance(style.color), luminance(behind(element))].sort((a, b) => b - a);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    if ((light + 0.05) / (dark + 0.05) < least) found.push(walker.currentNode.data.trim().slice(0, 40));
  }
  return found;
}"""
UNNAMED = """() => [...document.querySelectorAll('img, svg:not([aria-hidden]), figure, [role=region], nav, table')]
  .filter(one => !['aria-label', 'aria-labelledby', 'aria-describedby', 'alt'].some(name => one.getAttribute(name)))
  .filter(one => !one.querySelector('figcaption, caption')).map(one => one.outerHTML.slice(0, 80))"""
REPEATED = """() => [...document.querySelectorAll('[id]')].map(one => one.id)
  .filter((id, index, all) => all.indexOf(id) !== index)"""
DANGLING = """() => [...document.querySelectorAll('a[href^="#"], [aria-describedby], [aria-labelledby]')]
  .flatMap(one => ['aria-describedby', 'aria-labelledby', 'href'].map(name => one.getAttribute(name)))
  .filter(id => id && !id.includes('/') && !document.getElementById(id.replace('#', '')))"""


@pytest.fixture(scope="module")
def page_file(request) -> Path:
    """The page that is looked at: a given one, or that of a fresh smoke run."""
    given = request.config.getoption("--page")
    return Path(given).resolve() if given else request.getfixturevalue("smoke").results / "report/index.html"


@pytest.fixture(scope="module")
def browser():
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    assert chromium, f"no browser: install one of {', '.join(NAMES)}"
    with sync_playwright() as playwright:
        # Chromium's sandbox refuses to run as root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(params=[*((size, "light") for size in SIZES), ("desktop", "dark"), ("phone", "dark")], ids="-".join)
def page(request, browser, page_file):
    """The report, opened from disk; what the console says and the page asks for is kept, and a picture if wanted."""
    (size, scheme), keep = request.param, request.config.getoption("--screenshots")
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda asked: page.asked.append(asked.url))
    page.goto(page_file.as_uri())
    yield page
    if keep:
        Path(keep).mkdir(parents=True, exist_ok=True)
        # A page with everything unfolded is long: a minute on a busy machine.
        page.screenshot(path=Path(keep) / f"{size}-{scheme}.png", full_page=True, timeout=300_000)
    page.close()


def opened(page: Page) -> Page:
    """The page with everything unfolded."""
    page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")
    return page


def test_the_page_stands_alone_fits_and_is_readable(page, page_file):
    opened(page)
    assert page.said == []
    assert {url for url in page.asked if not url.startswith("data:")} == {page_file.as_uri()}
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("page", [("phone", "light")], indirect=True, ids=["phone"])
def test_the_keyboard_reaches_the_results_and_what_scrolls(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    opened(page)
    scrolling = "[...document.querySelectorAll('main *')].filter(one => one.scrollWidth > one.clientWidth + 1"
    scrolling += " && getComputedStyle(one).overflowX === 'auto')"
    assert page.evaluate(f"{scrolling}.length") > 3
    assert page.evaluate(f"{scrolling}.every(one => one.tabIndex === 0)")


@pytest.mark.parametrize("page", [("desktop", "light")], indirect=True, ids=["desktop"])
def test_everything_has_a_name_and_ids_are_its_own(page):
    assert page.evaluate(UNNAMED) == []
    assert page.evaluate(REPEATED) == []
    assert page.evaluate(DANGLING) == []
    assert page.evaluate("document.querySelectorAll('figure svg[role=img], figure img').length") > 3
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("page", [("desktop", "light")], indirect=True, ids=["desktop"])
def test_headings_go_down_one_level_at_a_time(page):
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map(one => Number(one.tagName[1]))")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(level <= before + 1 for before, level in pairwise(levels))


@pytest.mark.parametrize("page", [("desktop", "light")], indirect=True, ids=["desktop"])
def test_what_is_folded_is_printed(page):
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelectorAll('details:not([open])').length") > 3
    hidden = "[...document.querySelectorAll('details:not([open]) dl, details:not([open]) table')]"
    assert page.evaluate(f"{hidden}.every(one => one.checkVisibility())")
