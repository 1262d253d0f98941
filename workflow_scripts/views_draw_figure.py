"""Draw one figure from tidy results: values and bands come in, no statistics are made.

python workflow_scripts/views_draw_figure.py --input strategies.parquet \
    --output lira_strategies.svg lira_strategies.png lira_strategies.pdf \
    --wildcards '{"figure": "lira_strategies"}' --params '{"where": {}}'
"""

from pathlib import Path

import pandas as pd

from memaudit import tidy
from memaudit.io import read_table
from memaudit.job import run
from memaudit.plotting import attacks, iclmem, lira, style, tabpate

STUDIES = {"lira": lira, "attacks": attacks, "tabpate": tabpate, "iclmem": iclmem}


def main(job):
    study, _, name = job.wildcards.figure.partition("_")
    parts = [read_table(path) for path in job.input]
    table = pd.concat([tidy.expand(part) if "setting" in part else part for part in parts], ignore_index=True)
    for key, wanted in job.params.where.items():
        table = table[table[key].isin(wanted)]
    style.save(getattr(STUDIES[study], name)(table), Path(job.output[0]).with_suffix(""))


if __name__ == "__main__":
    run(main, globals())
