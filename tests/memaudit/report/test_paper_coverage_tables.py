"""The page of the papers' tables and figures lists all of them, and names views that the paper's config has."""

import re

import pytest
import yaml
from conftest import PROJECT, load
from snakemake.utils import update_config

from memaudit.common.errors import AuditError
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


FETCHED = {"models_fetch_checkpoint": "models", "ltmia_fetch_model": "language_models"}  # rule -> catalogue


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The run at the paper's config."""
    return at(load("paper"), tmp_path_factory)


@pytest.fixture(scope="module")
def with_overlay(tmp_path_factory):
    """The run with the overlay beside it, and the line in it that a user uncomments."""
    text = (PROJECT / "config/paper_gated.yaml").read_text(encoding="utf-8")
    overlay = yaml.safe_load(text.replace("# accept_licences", "accept_licences"))
    config = load("paper")
    update_config(config, overlay)
    return at(config, tmp_path_factory)


def at(config, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("run"))
        return prepare(config, PROJECT)


@pytest.fixture(scope="module")
def views(prepared):
    return prepared[2]


def loaded(prepared, study):
    """Catalogue entries of the models that the jobs of a study load, by name."""
    run, studies, *_ = prepared
    jobs = studies[study].sizes()
    return {name: run.config[catalogue][name] for rule, catalogue in FETCHED.items() for name in jobs.get(rule, {})}


def words(entries):
    return {word for name, entry in entries.items() for word in _words(name, entry)}


@pytest.mark.parametrize("study", ENTRIES)
def test_gated_weights_are_those_that_the_papers_config_loads(study, prepared, with_overlay):
    """All views of a study are made from all its results: each needs each gated model that its jobs load."""
    here, beside = loaded(prepared, study), loaded(with_overlay, study)
    gated = {name for name, entry in here.items() if entry["terms"]}
    more = {name: entry for name, entry in beside.items() if name not in here and entry["terms"]}
    for entry in ENTRIES[study]:
        if entry["made_by"]:
            place = f"{study}, {entry['item']}"
            assert set(entry.get("gated", [])) == gated, place
            assert set(entry.get("overlay", [])) <= words(more), place
            assert bool(entry.get("overlay")) <= bool(more), place
            assert not words(beside) & set(entry.get("without", [])), place


def test_what_a_config_without_gated_weights_leaves_out_is_named_alike(prepared):
    """A name that is misspelt would never be found among the loaded models."""
    named = {name for of_study in ENTRIES.values() for entry in of_study for name in entry.get("without", [])}
    assert named == {"contexttab"}  # of the user's own path, in no catalogue
    assert not named & words(prepared[0].config["models"])


def test_the_overlay_is_refused_until_its_line_is_uncommented(tmp_path_factory):
    config = load("paper")
    update_config(config, yaml.safe_load((PROJECT / "config/paper_gated.yaml").read_text(encoding="utf-8")))
    with pytest.raises(AuditError, match=r"add tabpfn-v2\.5-deployed to accept_licences if you accept them"):
        at(config, tmp_path_factory)


def _words(name, entry):
    return {name, entry["family"], f"{entry['family']} {entry.get('version')}"}


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
            {"item": "Figure 4", "shows": "d", "made_by": ["figures/d"], "gated": ["llama", "gemma"]},
            {"item": "Figure 5", "shows": "e", "made_by": ["figures/e"], "gated": ["llama"], "without": ["gemma"]},
            {"item": "Figure 6", "shows": "f", "made_by": ["figures/f"], "overlay": ["gemma"]},
            {"item": "Figure 7", "shows": "g", "made_by": ["figures/g"], "overlay": ["gemma"], "missing": "half of it"},
        ]
    }
    states = ["complete", "partial", "diagram", "complete", "partial", "overlay", "partial"]
    assert [state(entry) for entry in entries["lira"]] == states
    values = context(entries, {"lira": "On LiRA"})
    counts = {"complete": 2, "overlay": 1, "partial": 3, "diagram": 1, "total": 7, "made": 6, "gated": 1}
    assert values["counts"] == counts
    line = "| figures/f | complete with config/paper_gated.yaml, which needs gated weights (gemma) |"
    assert line in values["papers"][0]["table"]
    line = "| figures/g | partial: half of it; with gated weights (gemma) at config/paper_gated.yaml |"
    assert line in values["papers"][0]["table"]
    assert values["papers"][0]["title"] == "On LiRA"
    assert "| Figure 2 | b | tables/b, figures/b | partial: half of it |" in values["papers"][0]["table"]
    assert "| Figure 3 | c | - | diagram |" in values["papers"][0]["table"]
    assert "| Figure 1 | a | figures/a, tables/a | complete |" in values["papers"][0]["table"]
    assert "| figures/d | complete; needs gated weights (llama, gemma) |" in values["papers"][0]["table"]
    line = "| figures/e | partial: without gated weights (gemma); needs gated weights (llama) |"
    assert line in values["papers"][0]["table"]


def test_the_readme_has_the_counts_of_the_page():
    counts = context(ENTRIES, dict.fromkeys(ENTRIES, ""))["counts"]
    readme = " ".join((PROJECT / "README.md").read_text(encoding="utf-8").split())
    told = "[{complete} of their {made} tables and figures completely, {overlay} more with gated weights that a line of"
    told += " yours accepts, and {partial} in part](docs/coverage-of-papers"
    assert told.format(**counts) in readme
