"""Print the headline numbers of a finished run and say where its tables, figures and report lie.

Their tables are first followed back to raw data; numbers of a run that does not verify are not printed.

python workflow_scripts/maintenance/print_headlines.py --params '{"run": "results/demo", "studies": ["lira"]}'

params: studies: those to speak of, all without it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from memaudit.claims.headlines import QUESTIONS
from memaudit.common.errors import AuditError
from memaudit.workflow.job import run
from memaudit.workflow.provenance import verify


def main(job):
    folder = Path(job.params.run)
    studies = getattr(job.params, "studies", ["*"])
    headlines, claims = (_tables(folder, kind, studies) for kind in ("headlines", "claims"))
    if not headlines:
        raise AuditError(f"{folder}/tables/*_headlines.csv: not there; run `snakemake --cores all` first")
    checked = verify(folder, [os.path.relpath(path, folder) for path in (*headlines, *claims)])
    print(f"\nmemaudit: {folder}")
    for line in (*_answers(_read(headlines)), *(_verdicts(_read(claims)) if claims else ()), *_places(folder)):
        print(f"  {line}")
    print(f"  Verified: these numbers and the {len(checked.hashes):,} files behind them agree with their sidecars")


def _tables(folder: Path, kind: str, studies: list[str]) -> list[Path]:
    return sorted(path for study in studies for path in (folder / "tables").glob(f"{study}_{kind}.csv"))


def _read(paths: list[Path]) -> pd.DataFrame:
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
