"""Print the headline numbers of a finished run and say where its tables, figures and report lie.

python workflow_scripts/maintenance/print_headlines.py --params '{"run": "results/demo"}'
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from memaudit.common.errors import AuditError
from memaudit.statistics.headlines import QUESTIONS
from memaudit.workflow.job import run


def main(job):
    folder = Path(job.params.run)
    print(f"\nmemaudit: {folder}")
    for line in (*_answers(_read(folder, "headlines")), *_verdicts(_read(folder, "claims")), *_places(folder)):
        print(f"  {line}")


def _read(folder: Path, kind: str) -> pd.DataFrame:
    paths = sorted((folder / "tables").glob(f"*_{kind}.csv"))
    if not paths:
        raise AuditError(f"{folder}/tables/*_{kind}.csv: not there; run `snakemake --cores all` first")
    return pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)


def _answers(headlines: pd.DataFrame) -> Iterator[str]:
    for key, question in QUESTIONS.items():
        sentences = headlines.loc[headlines["answers"] == key, "sentence"].drop_duplicates()
        if len(sentences):
            yield question
            yield from (f"  {sentence}" for sentence in sentences)


def _verdicts(claims: pd.DataFrame) -> Iterator[str]:
    counts = claims["verdict"].value_counts()
    yield "Claims of the papers: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def _places(folder: Path) -> Iterator[str]:
    page = folder / "report" / "index.html"
    yield f"Tables in {folder}/tables, figures in {folder}/figures" + (f", report {page}" if page.exists() else "")


if __name__ == "__main__":
    run(main, globals())
