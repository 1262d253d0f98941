"""Print the headline numbers of a finished run and say where its figures lie.

python workflow_scripts/headline.py --params '{"run": "results/demo"}'
"""

from pathlib import Path

import pandas as pd

from memaudit.errors import AuditError
from memaudit.job import run

NAMES = ("attacks", "strategies", "claims")


def main(job):
    folder = Path(job.params.run)
    attacks, strategies, claims = (_read(folder / f"tables/lira_{name}.csv") for name in NAMES)
    print(f"\nmemaudit: {folder}")
    for line in (*_attacks(attacks), *_strategies(strategies)):
        print(f"  {line}")
    verdicts = claims["verdict"].value_counts()
    print("  claims of the paper: " + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    print(f"  tables in {folder}/tables, figures in {folder}/figures\n")


def _read(path: Path) -> pd.DataFrame:
    if not path.exists():
        raise AuditError(f"{path}: not there; run `snakemake --cores all` first")
    return pd.read_csv(path)


def _attacks(table: pd.DataFrame) -> list[str]:
    shown = table[(table.metric == "auc") & (table.attack == "lira mean") & (table.records == "members")]
    return [
        f"{row.dataset}: LiRA's AUC is {row.estimate:.3f} [{row.low:.3f}, {row.high:.3f}]; "
        f"where membership is permuted it is {row.null:.3f}"
        for row in shown.itertuples()
    ]


def _strategies(table: pd.DataFrame) -> list[str]:
    most = table[(table.metric == "tpr") & (table.access == "efficient") & (table.models == table.models.max())]
    return [
        f"{dataset}: TPR at FPR {fpr:g} is {_tpr(rows, 'naive')} read naively, {_tpr(rows, 'pp')} calibrated per record"
        for (dataset, fpr), rows in most.groupby(["dataset", "fpr"], sort=False)
    ]


def _tpr(rows: pd.DataFrame, strategy: str) -> str:
    row = rows[rows.strategy == strategy].iloc[0]
    return f"{row.estimate:.3f} [{row.low:.3f}, {row.high:.3f}]"


if __name__ == "__main__":
    run(main, globals())
