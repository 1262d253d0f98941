"""Generated pages say what their JSON says."""

import re

from memaudit.report import docs_pages


def test_generated_pages_are_in_step_with_their_json():
    for path, text in docs_pages.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run `make docs`"


def test_hand_written_pages_quote_no_measured_number(project):
    """What a run measures is in generated pages and tables: three decimals elsewhere are a setting or a paper's."""
    generated = set(docs_pages.pages())
    known = "".join(path.read_text(encoding="utf-8") for path in (project / "config").glob("*.yaml"))
    pages = [project / "README.md", *(path for path in (project / "docs").glob("*.md") if path not in generated)]
    for page in pages:
        quoted = re.findall(r"(?<![\d.\w])0?(\.\d{3,})(?![\d.]*\w)", page.read_text(encoding="utf-8"))
        assert [number for number in quoted if number not in known] == [], page
