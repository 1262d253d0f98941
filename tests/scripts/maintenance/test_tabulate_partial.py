"""Tables of a run in which jobs have failed, from a request as the workflow writes it."""

import json
from types import SimpleNamespace

import pandas as pd
from conftest import PROJECT, load_script

from memaudit.common import tidy
from memaudit.common.io import write_table


def test_each_table_is_whole_or_says_what_it_lacks(tmp_path):
    there, gone = str(tmp_path / "wine.parquet"), str(tmp_path / "digits.parquet")
    write_table(tidy.frame([tidy.row("lira", {"dataset": "wine", "models": 8}, "auc", 0.6, low=0.5, high=0.7)]), there)
    # A file of an unfinished job lies there from an earlier run: it is not read.
    write_table(tidy.frame([tidy.row("lira", {"dataset": "digits", "models": 8}, "auc", 0.9)]), gone)
    layout = {"rows": ["dataset"], "columns": ["models"]}
    tables = {
        "lira_auc": {"files": [there, gone], "layout": layout, "caption": "AUC."},
        "lira_whole": {"files": [there], "layout": layout, "caption": "AUC."},
    }
    study = {"tables": tables, "judged": [there, gone], "stated": [gone], "sentences": []}
    failed = [{"rule": "lira_evaluate_strategies", "wildcards": ["digits"], "log": []}]
    request = {"run": "results/demo", "claims": str(PROJECT / "config/claims.yaml"), "command": "snakemake"}
    request |= {"studies": {"lira": study}, "missing": [gone], "failed": failed, "waiting": 1, "interrupted": False}
    (tmp_path / "request.json").write_text(json.dumps(request))
    job = SimpleNamespace(input=SimpleNamespace(request=str(tmp_path / "request.json")))
    load_script("maintenance_tabulate_partial").main(job)
    table = pd.read_csv(tmp_path / "lira_auc.csv")
    assert table["dataset"].fillna("").tolist() == ["wine", ""]
    assert table["metric"].tolist() == ["auc", "missing"]
    assert "PARTIAL" not in (tmp_path / "lira_whole.md").read_text()
    verdicts = pd.read_csv(tmp_path / "lira_claims.csv")["verdict"].dropna()
    assert len(verdicts) > 5
    assert all(verdict == "not run" or verdict.endswith("(partial)") for verdict in verdicts)
    assert "missing" in (tmp_path / "lira_headlines.csv").read_text()
    assert "complete tables: lira_whole" in (tmp_path / "index.md").read_text()
