"""Show tidy results as a table: CSV in full, Markdown and LaTeX laid out for readers.

python workflow_scripts/views_tabulate_results.py --input strategies.parquet \
    --output lira_strategies.csv lira_strategies.md lira_strategies.tex \
    --params '{"layout": {"rows": ["dataset", "models"], "columns": ["strategy"], "where": {"fpr": 0.1}}}'
"""

from pathlib import Path

import pandas as pd

from memaudit import tables, tidy
from memaudit.io import read_table
from memaudit.job import run


def main(job):
    parts = [read_table(path) for path in job.input]
    parts = [tidy.expand(part) if "setting" in part else part for part in parts]
    tables.write(pd.concat(parts, ignore_index=True), Path(job.output[0]).with_suffix(""), job.params.layout)


if __name__ == "__main__":
    run(main, globals())
