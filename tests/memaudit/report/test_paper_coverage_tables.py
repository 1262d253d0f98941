"""The page of the papers' tables and figures lists all of them, and names views that the paper's config has."""

import re

import pytest
import yaml
from conftest import PROJECT, load

from memaudit.report.paper_coverage_tables import context, state
from memaudit.workflow.study_catalogue import prepare

ENTRIES = yaml.safe_load((PROJECT / "config/coverage_of_papers.yaml").read_text(encoding="utf-8"))
# Numbers of tables and figures in each paper, and letters of its appendix.
NUMBERED = {
    ("lira",): {"Figure": ["1", "2", "A1", "A2", "A3"]},
    ("attacks", "tabpate"): {"Figure": range(1, 3), "Table": range(1, 17)},
    ("iclmem",): {"Figure": range(1, 7), "Table": range(1, 13)},
    ("ltmia",): {"Figure": range(1, 5), "Table": range(1, 14)},
    ("predict",): {"Figure": range(1, 12), "Table": range(1, 3)},
}


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("run"))
        return prepare(load("paper"), PROJECT)[2]


@pytest.mark.parametrize("studies", NUMBERED, ids=" ".join)
def test_each_table_and_figure_of_a_paper_stands_once(studies):
    listed = [entry["item"] for study in studies for entry in ENTRIES[study]]
    wanted = {f"{kind} {number}" for kind, numbers in NUMBERED[studies].items() for number in numbers}
    assert len(listed) == len(set(listed))
    assert set(listed) == wanted


@pytest.mark.parametrize("study", ENTRIES)
def test_what_makes_them_is_made_at_the_papers_config(study, views):
    view = views[study]
    known = {f"tables/{name}" for name in view.tables | view.facts} | {f"figures/{name}" for name in view.figures}
    for entry in ENTRIES[study]:
        for name in entry["made_by"]:
            assert name in known, f"{study}, {entry['item']}: {name}"


CITED = re.compile(r"(?<!its )(Table|Figure)s? ((?:A?\d+(?:, | and )?)+)(?: of the paper)?\.$")


@pytest.mark.parametrize("study", ENTRIES)
def test_each_view_that_cites_a_table_or_figure_is_named_beside_it(study):
    """A caption that says which one it shows: "Tables 5, 6, 8, 9 and 13 of the paper", "The paper's Figure 2a"."""
    text = yaml.safe_load((PROJECT / f"config/views/{study}.yaml").read_text(encoding="utf-8"))
    made_by = {entry["item"]: entry["made_by"] for entry in ENTRIES[study]}
    for kind, shown in (("tables", text["facts"] | text["tables"]), ("figures", text["figures"])):
        for name, view in shown.items():
            for what, numbers in CITED.findall(" ".join(view["caption"].split())):
                for number in re.findall(r"A?\d+", numbers):
                    assert f"{kind}/{name}" in made_by[f"{what} {number}"], f"{name}: {what} {number}"


def test_states_are_counted():
    entries = {
        "lira": [
            {"item": "Figure 1", "shows": "a", "made_by": ["figures/a", "tables/a"]},
            {"item": "Figure 2", "shows": "b", "made_by": ["tables/b", "figures/b"], "missing": "half of it"},
            {"item": "Figure 3", "shows": "c", "made_by": []},
        ]
    }
    assert [state(entry) for entry in entries["lira"]] == ["complete", "partial", "diagram"]
    values = context(entries, {"lira": "On LiRA"})
    assert values["counts"] == {"complete": 1, "partial": 1, "diagram": 1, "total": 3, "made": 2}
    assert values["papers"][0]["title"] == "On LiRA"
    assert "| Figure 2 | b | tables/b, figures/b | partial: half of it |" in values["papers"][0]["table"]
    assert "| Figure 1 | a | figures/a, tables/a | complete |" in values["papers"][0]["table"]
