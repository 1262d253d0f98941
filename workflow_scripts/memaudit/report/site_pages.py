"""Links between the project's Markdown pages, and the hook of mkdocs.yml that keeps them whole in the site.

Pages of docs/ link pages and files elsewhere in the project (config/README.md, a catalogue, a published number). The
site takes these at their paths, and those of docs/ at theirs below docs/. Standard library only, but for mkdocs itself:
mkdocs runs this file as `hooks`, in an environment without memaudit.
"""

import re
from collections import Counter
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[3]
DOCS = PROJECT / "docs"
RESULTS = DOCS / "results"  # pages of published runs
FENCED = r"^(?:```|~~~).*?^(?:```|~~~)[ ]*$"
# A link's text may have code in backticks, but what is in them is no link.
LINK = re.compile(
    FENCED + r"|`[^`\n]+`|\]\((?![a-z]+:)(?P<path>[^()\s#]*)(?P<anchor>#[^()\s]*)?\)", re.MULTILINE | re.DOTALL
)
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.MULTILINE)


def links(text: str) -> list[tuple[str, str]]:
    """(path, anchor) of the relative links and pictures of a page, outside code; either may be empty."""
    found = (one.group("path", "anchor") for one in LINK.finditer(text))
    return [(path, (anchor or "").removeprefix("#")) for path, anchor in found if path is not None]


def anchors(text: str) -> set[str]:
    """Anchors of a page's headings that GitHub and mkdocs make alike: not those of headings that stand twice."""
    found: Counter[str] = Counter()
    for heading in HEADING.findall(re.sub(FENCED, "", text, flags=re.MULTILINE | re.DOTALL)):
        words = re.sub(r"\]\([^)]*\)", "", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
        found[slug] += 1
    return {slug for slug, times in found.items() if times == 1}


def dead_links(page: Path) -> list[str]:
    """Links of a page to a file or a heading that is not there, as they stand in it."""
    dead = []
    for path, anchor in links(page.read_text(encoding="utf-8")):
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            dead.append(f"{path}#{anchor}" if anchor else path)
    return dead


def outside() -> list[Path]:
    """Files out of docs/ that its pages link, and those that these link, directly or not."""
    found: set[Path] = set()
    todo = [*DOCS.glob("*.md"), *RESULTS.glob("*.md")]
    while todo:
        page = todo.pop()
        for target in _targets(page):
            if target not in found and not target.is_relative_to(DOCS):
                found.add(target)
                todo += [target] if target.suffix == ".md" else []
    return sorted(found)


def for_site(text: str, page: Path) -> str:
    """Text of a page with its relative links as they are in the site, where docs/ is the root."""

    def moved(found: re.Match[str]) -> str:
        target = (page.parent / (found["path"] or "")).resolve()
        if not found["path"] or not target.is_file():
            return found[0]
        return f"]({relpath(_place(target), _place(page).parent)}{found['anchor'] or ''})"

    return LINK.sub(moved, text)


def on_files(files: Any, config: Any) -> Any:
    """The site's files, with those out of docs/ that its pages link (called by mkdocs)."""
    from mkdocs.structure.files import File

    for path in outside():
        files.append(File.generated(config, str(_place(path)), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page's Markdown with its links as they are in the site (called by mkdocs)."""
    return for_site(markdown, Path(page.file.abs_src_path))


def _targets(page: Path) -> Iterator[Path]:
    """Files that a page links."""
    for path, _ in links(page.read_text(encoding="utf-8")):
        target = (page.parent / path).resolve()
        if path and target.is_file():
            yield target


def _place(path: Path) -> Path:
    """Path in the site of a file of the project."""
    return path.relative_to(DOCS if path.is_relative_to(DOCS) else PROJECT)
