"""Tables, verdicts and sentences where results are missing: none is silent about it."""

import pandas as pd
import pytest
from report_examples import CLAIM, results

from memaudit.claims.headlines import Headline
from memaudit.common import tidy
from memaudit.common.io import write_table
from memaudit.report.partial_tables import partial_sentences, partial_verdicts, write_partial

LAYOUT = {"rows": ["dataset"], "columns": ["models"]}
ROWS = [tidy.row("lira", {"dataset": "wine", "models": models}, "auc", 0.6, low=0.5, high=0.7) for models in (8, 16)]
GONE = ["scores/lira/digits/auc.parquet", "scores/lira/adult/auc.parquet"]


def written(folder, table, layout):
    write_partial(folder / "lira_auc", table, layout, "AUC by models.", GONE)
    return {kind: (folder / f"lira_auc.{kind}").read_text() for kind in ("csv", "md", "tex")}


def test_a_table_has_its_results_and_a_line_for_each_missing_file(tmp_path):
    texts = written(tmp_path, tidy.expand(tidy.frame(ROWS)), LAYOUT)
    table = pd.read_csv(tmp_path / "lira_auc.csv")
    assert table["metric"].tolist() == ["auc", "auc", "missing", "missing"]
    assert table["method"].tolist()[2:] == GONE
    assert table["estimate"].isna().tolist() == [False, False, True, True]
    assert texts["md"].startswith("**PARTIAL TABLE: 2 of the files that it is made of are missing. AUC by models.**")
    assert "| wine | 0.6 [0.5, 0.7] | 0.6 [0.5, 0.7] |" in texts["md"]
    assert f"- missing: {GONE[0]}\n" in texts["md"]
    assert texts["tex"].startswith("% PARTIAL TABLE: 2 of")
    assert texts["tex"].endswith(f"% missing: {GONE[1]}\n")


@pytest.mark.parametrize("layout", [LAYOUT, LAYOUT | {"where": {"attack": "lira"}}, None])
def test_a_table_of_which_nothing_exists_lists_what_is_missing(tmp_path, layout):
    texts = written(tmp_path, tidy.expand(tidy.frame([])), layout)
    assert pd.read_csv(tmp_path / "lira_auc.csv")["method"].tolist() == GONE
    assert all(GONE[0] in text for text in texts.values())


def test_a_table_of_another_schema_marks_its_first_column(tmp_path):
    written(tmp_path, pd.DataFrame({"run": ["a"], "outcome": ["b"]}), None)
    assert pd.read_csv(tmp_path / "lira_auc.csv")["run"].tolist() == ["a", *(f"missing: {file}" for file in GONE)]


def claim(**changes):
    return CLAIM.model_copy(update={"where": {}, "tolerance": 0.0} | changes)


def test_verdicts_are_marked_and_a_claim_without_results_was_not_run(tmp_path):
    write_table(results().assign(low=0.58, high=0.62), tmp_path / "auc.parquet")
    other = claim(id="two", where={"dataset": "digits"})
    judged = partial_verdicts([claim(), other], [str(tmp_path / "auc.parquet")], GONE)
    first, second = judged["verdict"]
    assert first.endswith(" (partial)")
    assert second == "not run"
    assert judged["reason"].str.startswith("2 files of results are missing; of the others: ").all()


def test_what_lacks_nothing_is_as_it_would_be(tmp_path):
    write_partial(tmp_path / "whole", tidy.expand(tidy.frame(ROWS)), LAYOUT, "AUC by models.", [])
    assert pd.read_csv(tmp_path / "whole.csv")["models"].tolist() == [8, 16]
    assert (tmp_path / "whole.md").read_text().startswith("| dataset | 8 | 16 |")
    write_table(results().assign(low=0.58, high=0.62), tmp_path / "auc.parquet")
    [verdict] = partial_verdicts([claim()], [str(tmp_path / "auc.parquet")], [])["verdict"]
    assert "partial" not in verdict


def test_no_claim_is_judged_where_nothing_exists():
    judged = partial_verdicts([claim()], [], GONE)
    assert judged["verdict"].tolist() == ["not run"]
    assert judged["reason"].tolist() == ["2 files of results are missing"]


def test_sentences_are_those_of_the_results_that_exist(tmp_path):
    entry = {"answers": "memorized", "per": ["dataset"], "values": {"auc": {"metric": "auc"}}}
    headline = Headline.model_validate(entry | {"sentence": "{dataset}: {auc}"})
    write_table(tidy.frame(ROWS[:1]), tmp_path / "auc.parquet")
    assert partial_sentences("lira", [headline], [str(tmp_path / "auc.parquet")])["sentence"].tolist() == [
        "wine: 0.6 [0.5, 0.7]"
    ]
    assert partial_sentences("lira", [headline], []).empty
