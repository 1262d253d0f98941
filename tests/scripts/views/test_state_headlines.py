"""A headline is written with the numbers of its results, and printed."""

from types import SimpleNamespace

from conftest import load_script
from report_examples import results

from memaudit.common.io import read_table, write_table
from memaudit.workflow.job import Paths

HEADLINE = {
    "answers": "memorized",
    "per": ["dataset"],
    "where": {"models": "largest"},
    "values": {"auc": {"metric": "auc"}},
    "sentence": "{dataset}: AUC {auc}; by chance {auc.null:.3g}.",
}


def test_a_sentence_has_a_row_for_each_of_its_values(tmp_path, capsys):
    write_table(results(), tmp_path / "auc.parquet")
    load_script("views_state_headlines").main(
        SimpleNamespace(
            input=Paths([str(tmp_path / "auc.parquet")]),
            output=Paths([str(tmp_path / "headlines.parquet")]),
            wildcards=SimpleNamespace(study="demo"),
            params=SimpleNamespace(headlines=[HEADLINE]),
        )
    )
    table = read_table(tmp_path / "headlines.parquet")
    assert table["sentence"].tolist()[0] == "wine: AUC 0.6 [0.55, 0.7]; by chance 0.5."
    assert table["value"].tolist() == ["auc", "auc"]
    assert "iris: AUC 0.6 [0.45, 0.7]" in capsys.readouterr().out
