"""Generated pages say what their JSON says."""

import copy
import re

from memaudit.common.io import read_json
from memaudit.plotting.result_tables import MARKDOWN
from memaudit.report import docs_pages


def test_generated_pages_are_in_step_with_their_json():
    for path, text in docs_pages.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run `make docs`"


def test_a_result_shows_its_numbers_interval_and_verdict(project):
    published = read_json(project / "docs/results/demo.json")
    page = docs_pages.results(published, "results/demo.json")
    rows = {kind: [] for kind in ("headlines", "claims")}
    for study in published["studies"].values():
        for kind, table in study.items():
            rows[kind] += table["rows"]
    assert rows["headlines"]
    assert rows["claims"]
    assert all(row["sentence"] in page for row in rows["headlines"])
    told = [f"{row['verdict']}: {row['reason']}".translate(MARKDOWN) for row in rows["claims"]]
    assert all(f"| {one} |" in page for one in told)


def test_another_number_gives_another_page(project):
    published = read_json(project / "docs/results/demo.json")
    other = copy.deepcopy(published)
    other["studies"]["lira"]["claims"]["rows"][0]["verdict"] = "never"
    assert docs_pages.results(other, "x") != docs_pages.results(published, "x")


def test_a_run_of_former_code_says_so_and_has_no_verdicts(project):
    demo, other = (read_json(project / f"docs/results/{name}.json") for name in ("demo", "attacks"))
    former = docs_pages.results(demo, "demo.json", {"attacks.json": other}).split("## attacks of the run")[1]
    assert "**Made by other code than the run `demo`**, on 2026-11-21: 22 of its 22 rules" in former
    assert "| relation |" in former
    assert not re.search(r"\| (reproduced|not reproduced|direction only|not testable at this scale):", former)
    same = docs_pages.results(other, "attacks.json", {"again.json": other}).split("## attacks of the run")[1]
    assert "other code" not in same
    assert "| reproduced: holds in 4 of 4 comparisons |" in same


def test_hand_written_pages_quote_no_measured_number(project):
    """What a run measures is in generated pages and tables: three decimals elsewhere are a setting or a paper's."""
    generated = {path.name for path in docs_pages.pages()}
    known = "".join(path.read_text(encoding="utf-8") for path in (project / "config").glob("*.yaml"))
    pages = [project / "README.md", *(path for path in (project / "docs").glob("*.md") if path.name not in generated)]
    for page in pages:
        quoted = re.findall(r"(?<![\d.\w])0?(\.\d{3,})(?![\d.]*\w)", page.read_text(encoding="utf-8"))
        assert [number for number in quoted if number not in known] == [], page
