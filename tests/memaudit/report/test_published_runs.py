"""Pages of published runs say what their JSON says, and which code has made and judged it."""

import copy
import re

import yaml

from memaudit.common.io import read_json
from memaudit.plotting.result_tables import MARKDOWN
from memaudit.report import docs_pages
from memaudit.report.published_runs import DRAWING


def test_a_result_shows_its_numbers_interval_and_verdict(project):
    published = read_json(project / "docs/results/demo.json")
    page = docs_pages.results(published)
    rows = {kind: [] for kind in ("headlines", "claims")}
    for study in published["studies"].values():
        for kind in rows.keys() & study.keys():
            rows[kind] += study[kind]["rows"]
    assert rows["headlines"]
    assert rows["claims"]
    assert all(row["sentence"] in page for row in rows["headlines"])
    told = [f"{row['verdict']}: {row['reason']}".translate(MARKDOWN) for row in rows["claims"]]
    assert all(f"| {one} |" in page for one in told)


def test_another_number_gives_another_page(project):
    published = read_json(project / "docs/results/demo.json")
    other = copy.deepcopy(published)
    other["studies"]["lira"]["claims"]["rows"][0]["verdict"] = "never"
    assert docs_pages.results(other) != docs_pages.results(published)


def of_other_code(published):
    """The run as if all of its code had changed since."""
    return {**published, "code": {rule: f"former {digest}" for rule, digest in published["code"].items()}}


def test_a_run_of_former_code_says_so_and_has_no_verdicts(project):
    demo, other = (read_json(project / f"docs/results/{name}.json") for name in ("demo", "attacks"))
    former, rules, date = of_other_code(other), len(other["code"].keys() - {DRAWING}), other["made"]["date"]
    page = docs_pages.results_of(former, demo)
    assert f"**Made by other code than the run `demo`**, on {date}: {rules} of its {rules} rules" in page
    assert "| relation |" in page
    assert not re.search(r"\| (reproduced|not reproduced|direction only|not testable at this scale):", page)
    same = docs_pages.results_of(other, other)
    assert "other code" not in same
    rows = [row for study in other["studies"].values() for row in study["claims"]["rows"]]
    told = [f"{row['verdict']}: {row['reason']}".translate(MARKDOWN) for row in rows]
    assert rows
    assert all(f"| {one} |" in same for one in told)


def test_the_default_run_lists_the_other_runs(project):
    demo, other = (read_json(project / f"docs/results/{name}.json") for name in ("demo", "attacks"))
    page = docs_pages.results(demo, {"results/attacks.md": of_other_code(other), "again.md": demo})
    rules, date = len(other["code"].keys() - {DRAWING}), other["made"]["date"]
    assert f"| [attacks](results/attacks.md) | attacks | {date} |" in page
    assert f"{rules} of {rules} rules differ | judged by former predicates |" in page
    again = next(line for line in page.splitlines() if "(again.md)" in line)
    assert "that of the default run" in again
    assert "not testable at this scale" in again


def test_a_rule_of_several_views_differs_only_where_a_view_of_the_run_has_changed(project):
    demo, other = (read_json(project / f"docs/results/{name}.json") for name in ("demo", "attacks"))
    code = {**demo["code"], "data_split_records": "one two three"}
    for split, differ in (("two", False), ("one three", False), ("two four", True)):
        run = {**other, "code": {"data_split_records": split, "views_tabulate_results": code["views_tabulate_results"]}}
        page = docs_pages.results_of(run, {**demo, "code": code})
        assert ("1 of its 2 rules" in page) is differ
        assert ("other code" in page) is differ


def test_settings_that_the_config_of_a_command_has_changed_since_are_named(project):
    demo, lira = (read_json(project / f"docs/results/{name}.json") for name in ("demo", "lira"))
    lira["config"]["lira"] |= yaml.safe_load((project / "config/lira.yaml").read_text())["lira"]
    assert "has changed since" not in docs_pages.results_of(lira, demo)
    lira["config"]["lira"]["models"] = 7
    assert "has changed since**: lira/models." in docs_pages.results_of(lira, demo)
