"""Write the report of a run as one HTML page that loads nothing from elsewhere.

python workflow_scripts/report/write_page.py \
    --input claims=config/claims.yaml results/demo/tables/*.csv results/demo/figures/*.svg \
    --output results/demo/report/index.html --params "$(cat registries.json)"

params: command, studies, tables, figures as rules/report.smk sets them. Pages of one run differ only in what the
sidecars record (times, memory, commits). Tables and figures are first followed back to raw data: of a run that does not
verify no page is written.
"""

import os
from pathlib import Path

import pandas as pd

from memaudit.claims.claim_predicates import load
from memaudit.common.io import replacing
from memaudit.report.report_page import Run, render
from memaudit.report.result_lineage import Lineage
from memaudit.workflow.job import run
from memaudit.workflow.provenance import verify
from memaudit.workflow.sidecar import read_all

SHOWN = {".csv", ".svg", ".png"}


def main(job):
    folder, params = Path(job.output[0]).parents[1], job.params
    views = [path for path in job.input if Path(path).suffix in {".csv", ".svg"}]
    checked = verify(folder, [os.path.relpath(path, folder) for path in job.input if Path(path).suffix in SHOWN])
    # Sidecars of tables and figures are declared inputs; those behind them are read from disk, from output to input.
    lineage = Lineage(read_all(folder / "provenance").values(), views)
    page = render(
        Run(
            folder,
            params.command,
            *(
                {entry["name"]: entry for entry in entries}
                for entries in (params.studies, params.tables, params.figures)
            ),
            {claim.id: claim for claim in load(job.input.claims)},
            {Path(path).stem: _table(path) for path in views if path.endswith(".csv")},
            lineage,
            len(checked.hashes),
        )
    )
    with replacing(job.output[0]) as temporary:
        temporary.write_text(page, encoding="utf-8")
    print(f"{len(page.encode()) / 1e6:.1f} MB, {len(lineage.records)} jobs behind {len(views)} tables and figures")


def _table(path: str) -> pd.DataFrame:
    # A data set may be named 2024; "NA" may be a class.
    return pd.read_csv(path, dtype={"dataset": str}, keep_default_na=False, na_values=[""])


if __name__ == "__main__":
    run(main, globals())
