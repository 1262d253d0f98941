"""Tables, verdicts and sentences of a study of whose results some are missing: each file says what it lacks."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from memaudit.claims.claim_predicates import Claim
from memaudit.claims.headlines import Headline, state
from memaudit.claims.verdicts import COLUMNS, verdicts
from memaudit.common import tidy
from memaudit.common.io import read_table, replacing
from memaudit.plotting import result_tables

NOT_RUN = "not run"
MISSING = "missing"


def write_partial(
    path: str | Path, table: pd.DataFrame, layout: Mapping[str, Any] | None, caption: str, missing: Sequence[str]
) -> None:
    """Write `path`.csv, .md and .tex of the results that exist, and a line for each missing file, if there are some.

    CSV: a row with the metric "missing" and the file in `method`, or in the first column of a table without these.
    Markdown and LaTeX: a first line that says that the table is partial, and a last one for each missing file.
    """
    keys = [*(layout or {}).get("columns", []), *(layout or {}).get("where", {})]
    # Of some layouts the keys are those of results that are missing.
    result_tables.write(table, path, layout if layout and set(keys) <= set(table) else None)
    if not missing:
        return
    said = f"PARTIAL TABLE: {len(missing)} of the files that it is made of are missing. {caption}"
    plain, tex = (Path(f"{path}{suffix}").read_text(encoding="utf-8") for suffix in (".csv", ".tex"))
    marked = {
        ".csv": plain + _csv_rows(plain, missing),
        ".md": f"**{said}**\n\n{Path(f'{path}.md').read_text(encoding='utf-8')}\n"
        + "".join(f"- {MISSING}: {file}\n" for file in missing),
        ".tex": f"% {' '.join(said.split())}\n{tex}" + "".join(f"% {MISSING}: {file}\n" for file in missing),
    }
    for suffix, text in marked.items():
        with replacing(f"{path}{suffix}") as temporary:
            temporary.write_text(text, encoding="utf-8")


def partial_verdicts(claims: list[Claim], there: Sequence[str], missing: Sequence[str]) -> pd.DataFrame:
    """Verdicts on claims by the results that exist, as `statistics.verdicts` gives them; missing: files of results.

    With some missing: "not run" where nothing is left to compare, else the verdict is marked, since they may change it.
    """
    lacking = f"{len(missing)} files of results are missing"
    if not there:
        facts = [(claim.id, claim.paper, claim.place, claim.text, claim.value or "", "") for claim in claims]
        return pd.DataFrame([(*fact, NOT_RUN, lacking) for fact in facts], columns=COLUMNS)
    judged = verdicts(claims, pd.concat([read_table(path) for path in there], ignore_index=True))
    if not missing:
        return judged
    marked = [NOT_RUN if not row.ours else f"{row.verdict} (partial)" for row in judged.itertuples()]
    return judged.assign(verdict=marked, reason=[f"{lacking}; of the others: {reason}" for reason in judged["reason"]])


def partial_sentences(study: str, headlines: list[Headline], there: Sequence[str]) -> pd.DataFrame:
    """Main results as sentences, of the results that exist."""
    results = [read_table(path) for path in there]
    return state(study, headlines, pd.concat(results, ignore_index=True) if results else tidy.frame([]))


def _csv_rows(text: str, missing: Sequence[str]) -> str:
    """A row for each missing file, of the columns of a CSV."""
    head = next(csv.reader(io.StringIO(text)))
    written = io.StringIO()
    rows = csv.DictWriter(written, head, lineterminator="\n")
    tidy_rows = {"metric", "method"} <= set(head)
    for file in missing:
        rows.writerow({"metric": MISSING, "method": file} if tidy_rows else {head[0]: f"{MISSING}: {file}"})
    return written.getvalue()
