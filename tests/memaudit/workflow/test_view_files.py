"""Files of config/views/: names are filled in, and what is wrong is one line with file, key path and what is known."""

import re

import pytest
import yaml
from conftest import EVIDENCE, PROJECT, load

from memaudit.claims.headlines import Headline
from memaudit.common.errors import AuditError
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.study import Study
from memaudit.workflow.study_catalogue import prepare
from memaudit.workflow.view_files import read_file, read_views
from memaudit.workflow.view_schema import OwnTable, SharedFile

SHARED = SharedFile(
    texts={"chance": "Guessing has 0.5."},
    claims=OwnTable(title="Claims", caption="All of them."),
    headlines=OwnTable(title="Main results", caption="In sentences."),
)
FILE = """
title: A study
question: Is it read?
paper: null
thresholds: [lira/fpr]
columns: [dataset, models, epsilon]
texts: {again: "{$chance} Again."}
facts:
  mine_facts: {title: Facts, caption: Those of the config., columns: [name, count], rows: $rows}
tables:
  mine_auc:
    title: AUC of {$count} models
    caption: "{$share:.0%} of them. {$again}"
    results: [auc, roc]
    layout: {rows: [dataset], columns: [metric], where: {models: [0, $many], dataset: $one}, with_null: true}
  mine_left_out: {title: None, caption: None., results: [auc], if: $nothing}
figures:
  mine_auc: {title: AUC, caption: "A curve.", results: [auc], where: {models: $many}}
  mine_again: {title: AUC again, caption: "A curve.", results: [auc]}
  mine_roc: {title: ROC, caption: "A curve.", results: [auc, roc]}
headlines:
  results: [auc]
  sentences:
    - each: {epsilon: $epsilons}
      answers: memorized
      per: [dataset]
      values: {auc: {metric: auc, where: {epsilon: $epsilon}}}
      sentence: "{dataset}: AUC {auc} at epsilon {$epsilon:g}; by chance {auc.null:.3g}."
claims: [roc]
"""


class Mine(Study):
    """A study of two kinds of results."""

    name = "mine"

    @property
    def results(self):
        return {"auc": ["a/auc.parquet", "b/auc.parquet"], "roc": ["roc.parquet"]}

    @property
    def names(self):
        values = {"rows": [["x", 1]], "count": 3, "share": 0.25, "many": [8, 16], "one": "wine"}
        return values | {"epsilons": [1.0, 4.0], "nothing": []}


@pytest.fixture(scope="module")
def run():
    return RunConfig(load("smoke"), PROJECT)


@pytest.fixture
def read(tmp_path, run):
    """Read FILE after an edit."""

    def of(old="", new=""):
        assert old in FILE
        path = tmp_path / "mine.yaml"
        path.write_text(FILE.replace(old, new) if old else FILE)
        return read_file(path, Mine(run), SHARED)

    return of


def test_named_values_keep_their_type_and_lists_are_added_to_lists(read):
    table = read().tables["mine_auc"]
    where = {"models": [0, 8, 16], "dataset": "wine"}
    assert table["layout"] == {"rows": ["dataset"], "columns": ["metric"], "where": where, "null": True}
    assert read().figures["mine_auc"]["where"] == {"models": [8, 16]}
    assert read().facts["mine_facts"]["rows"] == [["x", 1]]


def test_texts_hold_values_in_their_format_and_other_texts(read):
    table = read().tables["mine_auc"]
    assert table["title"] == "AUC of 3 models"
    assert table["caption"] == "25% of them. Guessing has 0.5. Again."


def test_results_are_files_in_the_order_of_their_kinds(read):
    views = read()
    assert views.tables["mine_auc"]["files"] == ["a/auc.parquet", "b/auc.parquet", "roc.parquet"]
    assert views.claims == ["roc.parquet"]


def test_claims_of_a_paper_are_not_judged_on_private_tables_alone(run):
    """Of a user's table no paper has printed a number."""
    config = load("smoke")
    config["datasets"]["wine"]["licence"] = "private"
    views = {study: views for study, views in prepare(config, PROJECT)[2].items() if study in ("lira", "attacks")}
    assert config["lira"]["datasets"] == ["wine"]
    assert (views["lira"].claims, "lira_claims" in views["lira"].tables) == ([], False)
    assert views["lira"].headlines
    config["datasets"]["wine"]["licence"] = "CC BY 4.0"
    assert "lira_claims" in prepare(config, PROJECT)[2]["lira"].tables


def test_what_has_an_empty_condition_is_left_out(read):
    assert "mine_left_out" not in read().tables
    assert "mine_left_out" in read("if: $nothing", "if: $many").tables


def test_a_sentence_is_repeated_for_each_value_and_keeps_its_own_placeholders(read):
    sentences = read().headlines["sentences"]
    assert [entry["values"]["auc"]["where"]["epsilon"] for entry in sentences] == [1.0, 4.0]
    assert sentences[1]["sentence"] == "{dataset}: AUC {auc} at epsilon 4; by chance {auc.null:.3g}."


def test_every_study_has_tables_of_its_claims_and_main_results(read):
    views = read()
    assert list(views.tables) == ["mine_auc", "mine_claims", "mine_headlines"]
    assert views.tables["mine_claims"]["files"] == ["<results>/scores/mine/claims.parquet"]
    assert "<results>/tables/mine_headlines.tex" in views.files
    assert list(read("claims: [roc]", "").tables) == ["mine_auc", "mine_headlines"]


def test_the_job_of_the_tables_makes_what_two_of_them_show(read):
    views = read()
    made = {kind: f"<results>/scores/mine/{kind}.parquet" for kind in ("claims", "headlines")}
    assert views.concluded == made
    assert views.tabulated["judged"] == views.claims
    assert views.tabulated["stated"] == views.headlines["files"]
    assert views.tabulated.keys() == {"mine_auc", "judged", "stated"}
    without = read("claims: [roc]", "")
    assert (list(without.concluded), list(without.tabulated)) == (["headlines"], ["mine_auc", "stated"])


def test_figures_of_the_same_results_are_one_drawing_that_is_called_by_them(read):
    assert read().drawings == {"mine_auc": ["mine_auc", "mine_again"], "mine_auc_roc": ["mine_roc"]}


def test_figures_of_results_that_one_job_makes_are_one_drawing(read, monkeypatch):
    monkeypatch.setattr(Mine, "made_together", (frozenset({"auc", "roc"}),))
    assert read().drawings == {"mine_auc_roc": ["mine_auc", "mine_again", "mine_roc"]}


def test_a_threshold_has_its_values_and_its_meaning(read, run):
    [[key, values, meaning]] = read().study["thresholds"]
    assert (key, values) == ("lira/fpr", [str(run.config["lira"]["fpr"])])
    assert meaning


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("rows: [dataset]", "rows: [datset]", "layout/rows: unknown column 'datset'; did you mean `dataset`?"),
        ("where: {models: $many}", "where: {modles: 8}", "mine_auc/where: unknown column 'modles'; did you mean"),
        ("per: [dataset]", "per: [models]", "sentences/0/sentence: unknown placeholder 'dataset'; known:"),
        ("{auc.null:.3g}", "{acu.null:.3g}", "sentence: unknown placeholder 'acu'; did you mean `auc`?"),
        ("results: [auc, roc]\n    lay", "results: [auk]\n    lay", "mine_auc/results: unknown result 'auk'; did"),
        ("claims: [roc]", "claims: [rock]", "claims: unknown result 'rock'; did you mean `roc`?"),
        ("models: $many}", "models: $mani}", "mine_auc/where/models: unknown name $mani; did you mean"),
        ("{$count}", "{$cuont}", "tables/mine_auc/title: unknown name $cuont; did you mean `count`?"),
        ("{$count}", "{count}", "tables/mine_auc/title: a named value is written {$count}, not {count}"),
        ("{$share:.0%}", "{$one:.0%}", "tables/mine_auc/caption: {$one:.0%} does not fit 'wine'"),
        ("if: $nothing", "iff: $nothing", "tables/mine_left_out/iff: unknown key; did you mean `if`?"),
        ("with_null", "null", "tables/mine_auc/layout/None: Keys should be strings"),
        ("question: Is it read?", "", "question: missing"),
        ("title: A study", "title: [A study]", "title: must be a valid string, got ['A study']"),
        ("[lira/fpr]", "[lira/fprs]", "thresholds: unknown config key 'lira/fprs'; did you"),
        ("mine_roc:", "roc:", "figures/roc: the name must begin with mine_"),
        ("answers: memorized", "answers: belief", "sentences/0/answers: must be 'memorized', 'trust' or"),
        ("each: {epsilon: $epsilons}", "each: $epsilons", "sentences/0/each: must be one name with a list"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_with_its_file_its_key_path_and_what_is_known(read, old, new, fault):
    with pytest.raises(AuditError) as caught:
        read(old, new)
    assert re.match(r"\S+/mine.yaml: ", str(caught.value))
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_of_no_study_is_named(tmp_path, run):
    (tmp_path / "config/views").mkdir(parents=True)
    for name in ("shared", "lyra"):
        text = (PROJECT / "config/views/shared.yaml").read_text()
        (tmp_path / f"config/views/{name}.yaml").write_text(text)
    other = RunConfig(run.config, tmp_path)
    with pytest.raises(AuditError, match=r"views/lyra.yaml: no study has this name; did you mean `lira`"):
        read_views(other, {"lira": None})


@pytest.mark.parametrize("config", ["config", "smoke", "paper", *EVIDENCE])
def test_shipped_files_are_free_of_faults_and_their_sentences_are_headlines(config):
    _, _, views, _ = prepare(load(config), PROJECT)
    assert {"data", "lira"} <= views.keys()
    for view in views.values():
        for entry in (view.headlines or {"sentences": []})["sentences"]:
            Headline.model_validate(entry)


WITHOUT = [  # parts of studies that a config may leave out
    {"lira": {"population_check": {"datasets": []}}},
    {"attacks": {"families": {"datasets": []}, "attention": {"datasets": []}}},
    {"tabpate": {"ablations": {"datasets": []}, "shadows": {"datasets": []}, "synthesizers": {"arms": []}}},
    {"iclmem": {"ground_truth": None}},
]


@pytest.mark.parametrize("overlay", WITHOUT, ids=lambda one: next(iter(one)))
def test_a_table_or_figure_without_results_is_left_out(overlay):
    config = load()
    for study, parts in overlay.items():
        for part, keys in parts.items():
            config[study][part] = keys if keys is None else config[study][part] | keys
    _, _, views, _ = prepare(config, PROJECT)
    empty = [name for view in views.values() for name, one in (view.tables | view.figures).items() if not one["files"]]
    assert empty == []


def test_every_named_value_of_a_study_is_used_by_its_file():
    _, studies, views, _ = prepare(load("config"), PROJECT)
    for name in views:
        text = (PROJECT / f"config/views/{name}.yaml").read_text(encoding="utf-8")
        used = set(re.findall(r"\$(\w+)", text))
        assert set(studies[name].names) - used == set(), name
        assert set(yaml.safe_load(text).get("texts", {})) - used == set(), name


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("mine_facts", "facts", "facts/facts: the name must begin with mine_"),
        ("mine_facts", "mine_auc", "facts/mine_auc: a table of results has this name, too"),
        ("columns: [name, count]", "columns: [name]", r"facts/mine_facts/rows: 2 values in a row of 1 columns"),
    ],
)
def test_facts_are_tables_with_names_of_their_own(read, old, new, fault):
    with pytest.raises(AuditError, match=fault):
        read(old, new)
