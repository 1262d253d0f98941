"""Links between pages lead to a file and a heading, and the site has every page once, with links that lead there."""

import re
from os.path import normpath
from pathlib import Path

import pytest
import yaml
from conftest import PROJECT

from memaudit.report import site_pages

DOCS = PROJECT / "docs"
SITE = yaml.safe_load((PROJECT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES = [
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "docs/*.md",
    "docs/results/*.md",
    "config/README.md",
]
TEXT = """# A `name`, [linked](x.md#y)
See [b](b.md#there), ![c](c.png), [`d`](../rules/d.smk), [web](https://example.org/a.md) and [here](#a-name-linked).
`[code](code.md)`
```sh
# no heading
[block](block.md)
```
## Again
## Again
"""


def in_nav(entry: object) -> list[str]:
    """Pages of an entry of `nav`, in its order."""
    if isinstance(entry, str):
        return [entry]
    children = entry.values() if isinstance(entry, dict) else entry
    return [page for child in children for page in in_nav(child)]


def test_links_are_those_of_prose():
    found = site_pages.links(TEXT)
    assert found[1:] == [("b.md", "there"), ("c.png", ""), ("../rules/d.smk", ""), ("", "a-name-linked")]


def test_anchors_are_those_of_headings():
    assert site_pages.anchors(TEXT) == {"a-name-linked"}, "two headings alike have other numbers in the site"


def test_a_link_to_no_file_or_no_heading_is_dead(tmp_path):
    (tmp_path / "b.md").write_text("# There\n")
    (tmp_path / "a.md").write_text("# Top\n[1](b.md#there) [2](b.md#gone) [3](c.md) [4](#top) [5](#bottom)\n")
    assert site_pages.dead_links(tmp_path / "a.md") == ["b.md#gone", "c.md", "#bottom"]


@pytest.mark.parametrize("pattern", PAGES)
def test_links_within_the_project_lead_to_files_and_headings(pattern):
    dead = {page: site_pages.dead_links(page) for page in PROJECT.glob(pattern)}
    assert dead
    assert not {page: found for page, found in dead.items() if found}


def test_every_page_stands_in_the_sites_nav_once():
    pages = [str(path.relative_to(DOCS)) for path in [*DOCS.glob("*.md"), *site_pages.RESULTS.glob("*.md")]]
    outside = [str(path.relative_to(PROJECT)) for path in site_pages.outside() if path.suffix == ".md"]
    assert sorted(in_nav(SITE["nav"])) == sorted(pages + outside)


def test_the_site_is_built_by_the_hook_and_fails_on_a_dead_link():
    assert [PROJECT / hook for hook in SITE["hooks"]] == [Path(site_pages.__file__)]
    levels = {level for checks in SITE["validation"].values() for level in checks.values()}
    assert levels == {"warn"}, "with --strict a warning fails"
    recipe = re.search(r"^site:.*\n((?:\t.*\n)+)", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert "mkdocs build --strict" in recipe


def test_links_of_every_page_lead_to_files_of_the_site():
    """`--strict` checks the same where the site is built, which no test does."""
    linked = {path.relative_to(PROJECT) for path in site_pages.outside()}
    site = linked | {path.relative_to(DOCS) for path in DOCS.rglob("*") if path.is_file()}
    for page in [
        *DOCS.glob("*.md"),
        *site_pages.RESULTS.glob("*.md"),
        *(path for path in site_pages.outside() if path.suffix == ".md"),
    ]:
        place = page.relative_to(DOCS if page.is_relative_to(DOCS) else PROJECT)
        for path, _ in site_pages.links(site_pages.for_site(page.read_text(encoding="utf-8"), page)):
            assert not path or Path(normpath(place.parent / path)) in site, (page, path)


def test_a_page_links_files_where_the_site_has_them():
    moved = site_pages.for_site(
        "[a](../config/README.md#data) [b](audit.md) [c](#x) `[d](../README.md)`", DOCS / "x.md"
    )
    assert moved == "[a](config/README.md#data) [b](audit.md) [c](#x) `[d](../README.md)`"
    assert site_pages.for_site("[a](docs/audit.md)", PROJECT / "CONTRIBUTING.md") == "[a](audit.md)"
    assert site_pages.for_site("[a](../docs/audit.md)", PROJECT / "config/README.md") == "[a](../audit.md)"


def test_the_sites_packages_are_pinned():
    lines = (DOCS / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    asked = [one for one in (DOCS / "requirements.in").read_text().splitlines() if not one.startswith("#")]
    assert {one.partition("=")[0] for one in asked} <= {line.partition("=")[0] for line in lines}
