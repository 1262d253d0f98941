"""A table has one result per line as CSV and the layout of its entry as Markdown."""

from types import SimpleNamespace

import pandas as pd
from conftest import load_script

from memaudit.common import tidy
from memaudit.common.io import write_table
from memaudit.workflow.job import Paths


def test_a_table_is_written_in_three_formats(tmp_path):
    rows = [tidy.row("lira", {"dataset": "wine", "models": m}, "auc", 0.6, low=0.5, high=0.7) for m in (8, 16)]
    write_table(tidy.frame(rows), tmp_path / "auc.parquet")
    files = [str(tmp_path / f"lira_auc.{form}") for form in ("csv", "md", "tex")]
    layout = {"lira_auc": {"rows": ["dataset"], "columns": ["models"]}}
    load_script("views_tabulate_results").main(
        SimpleNamespace(
            input=Paths([f"lira_auc={tmp_path}/auc.parquet"]),
            output=Paths([f"lira_auc={file}" for file in files]),
            params=SimpleNamespace(layout=layout),
        )
    )
    assert pd.read_csv(files[0])["models"].tolist() == [8, 16]
    assert "| wine | 0.6 [0.5, 0.7] | 0.6 [0.5, 0.7] |" in (tmp_path / "lira_auc.md").read_text()
    assert (tmp_path / "lira_auc.tex").read_text().startswith(r"\begin{tabular}")
