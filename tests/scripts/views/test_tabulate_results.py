"""Tables of results, of verdicts on the study's claims, and of its main results as sentences."""

from types import MappingProxyType, SimpleNamespace

import pandas as pd
import pytest
import yaml
from conftest import load_script
from report_examples import CLAIM, results

from memaudit.common import tidy
from memaudit.common.io import read_table, write_table
from memaudit.workflow.job import Paths

HEADLINE = {
    "answers": "memorized",
    "per": ["dataset"],
    "where": {"models": "largest"},
    "values": {"auc": {"metric": "auc"}},
    "sentence": "{dataset}: AUC {auc}; by chance {auc.null:.3g}.",
}


@pytest.fixture
def tabulate(tmp_path):
    """Run the script in a folder; inputs and outputs: (name, file) pairs, of every table its three files."""

    def run(inputs, outputs, layout, facts=MappingProxyType({}), words=None, **params):
        files = [(name, f"{name}.{form}") for name in [*layout, *facts] for form in ("csv", "md", "tex")] + outputs
        load_script("views_tabulate_results").main(
            SimpleNamespace(
                input=Paths([f"{name}={tmp_path / file}" for name, file in inputs]),
                output=Paths([f"{name}={tmp_path / file}" for name, file in files]),
                params=SimpleNamespace(layout=layout, facts=facts, words=words, **params),
            )
        )

    return run


def test_attacks_are_named_for_readers_and_by_their_keys_in_the_csv(tabulate, tmp_path):
    rows = [tidy.row("lira", {"attack": name}, "auc", 0.6, low=0.5, high=0.7) for name in ("lira mean", "rmia")]
    write_table(tidy.frame(rows), tmp_path / "auc.parquet")
    layout = {"lira_auc": {"rows": ["attack"], "columns": ["metric"]}}
    tabulate([("lira_auc", "auc.parquet")], [], layout, words="memaudit.plotting.attack_labels")
    assert pd.read_csv(tmp_path / "lira_auc.csv")["attack"].tolist() == ["lira mean", "rmia"]
    assert "| LiRA | 0.6 [0.5, 0.7] |\n| RMIA | 0.6" in (tmp_path / "lira_auc.md").read_text()


def test_a_table_is_written_in_three_formats(tabulate, tmp_path):
    rows = [tidy.row("lira", {"dataset": "wine", "models": m}, "auc", 0.6, low=0.5, high=0.7) for m in (8, 16)]
    write_table(tidy.frame(rows), tmp_path / "auc.parquet")
    layout = {"lira_auc": {"rows": ["dataset"], "columns": ["models"]}}
    tabulate([("lira_auc", "auc.parquet")], [], layout)
    assert pd.read_csv(tmp_path / "lira_auc.csv")["models"].tolist() == [8, 16]
    assert "| wine | 0.6 [0.5, 0.7] | 0.6 [0.5, 0.7] |" in (tmp_path / "lira_auc.md").read_text()
    assert (tmp_path / "lira_auc.tex").read_text().startswith(r"\begin{tabular}")


def test_facts_of_the_config_are_files_as_results_are(tabulate, tmp_path):
    facts = {"columns": ["arm", "epochs", "privacy"], "rows": [["base", 20, None], ["dp_sgd", 5, "epsilon 1"]]}
    tabulate([], [], {}, {"lira_arms": facts})
    assert pd.read_csv(tmp_path / "lira_arms.csv").fillna("").to_numpy().tolist() == [
        ["base", 20, ""], ["dp_sgd", 5, "epsilon 1"],
    ]  # fmt: skip
    assert "| dp_sgd | 5 | epsilon 1 |" in (tmp_path / "lira_arms.md").read_text().replace("\\_", "_")
    assert (tmp_path / "lira_arms.tex").exists()


@pytest.mark.parametrize(("value", "verdict"), [(0.5, "reproduced"), (0.9, "not reproduced")])
def test_the_claims_of_the_study_are_judged_and_those_of_others_are_not(tabulate, tmp_path, value, verdict):
    claim = CLAIM.model_dump(exclude_unset=True) | {"relation": "greater", "right": {"value": value}, "where": {}}
    claim.pop("tolerance")
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump([claim, claim | {"id": "two", "study": "another"}]))
    write_table(results().assign(low=0.58, high=0.62), tmp_path / "auc.parquet")
    inputs = [("claims", "claims.yaml"), ("judged", "auc.parquet")]
    tabulate(inputs, [("claims", "judged.parquet")], {"demo_claims": None}, study="demo")
    judged = read_table(tmp_path / "judged.parquet")
    assert judged[["id", "verdict"]].values.tolist() == [["one", verdict]]
    assert pd.read_csv(tmp_path / "demo_claims.csv")["verdict"].tolist() == [verdict]


def test_a_sentence_has_a_row_for_each_of_its_values_and_is_printed(tabulate, tmp_path, capsys):
    write_table(results(), tmp_path / "auc.parquet")
    outputs = [("headlines", "headlines.parquet")]
    tabulate([("stated", "auc.parquet")], outputs, {"demo_headlines": None}, study="demo", headlines=[HEADLINE])
    table = read_table(tmp_path / "headlines.parquet")
    assert table["sentence"].tolist()[0] == "wine: AUC 0.6 [0.55, 0.7]; by chance 0.5."
    assert table["value"].tolist() == ["auc", "auc"]
    assert "iris: AUC 0.6 [0.45, 0.7]" in capsys.readouterr().out
    assert "wine: AUC 0.6 [0.55, 0.7]" in (tmp_path / "demo_headlines.md").read_text()
