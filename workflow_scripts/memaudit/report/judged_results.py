"""The tidy results that verdicts and sentences of a published run rest on: kept beside its JSON, and judged again.

Predicates of claims change more often than results of hours are made.
"""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from memaudit.claims.claim_predicates import Claim
from memaudit.claims.headlines import Headline, state
from memaudit.claims.verdicts import verdicts
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table

JUDGE = "views_tabulate_results"
# Columns of kept results beside those of tidy ones: whose view, and the place of the row's file among those that its
# verdicts and its sentences rest on, which decides the order of a verdict's words.
VIEW, JUDGED, STATED = "view", "judged", "stated"
NONE = -1


def kept_results(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows that verdicts or sentences of a run rest on, once for each study; records: sidecars of the run.

    Raises AuditError if a file is missing or damaged, and where sidecars do not say which files were judged.
    """
    parts = []
    for params in (record["params"] for record in records if record["rule"] == JUDGE):
        if not {JUDGED, STATED} <= params.keys():
            raise AuditError(f"the tables of study {params['study']} are of an earlier version: run its command again")
        for path in dict.fromkeys([*params[STATED], *params[JUDGED]]):
            places = {used: _place(path, params[used]) for used in (JUDGED, STATED)}
            parts.append(read_table(path).assign(**{VIEW: params["study"]}, **places))
    if not parts:
        raise AuditError("no study of the run has verdicts or main results")
    return pd.concat(parts, ignore_index=True)


def judged_anew(published: Mapping[str, Any], kept: pd.DataFrame, claims: Iterable[Claim], code: str) -> dict[str, Any]:
    """The published run with verdicts and sentences of the present claims and predicates.

    kept: see `kept_results`; code: digest of the present `JUDGE`. The form of sentences is that of the run.
    """
    claims, studies = list(claims), {}
    for name, study in published["studies"].items():
        rows, made = kept[kept[VIEW] == name], {}
        if "claims" in study:
            made["claims"] = verdicts([one for one in claims if one.study == name], _tidy(rows, JUDGED))
        if "headlines" in study:
            forms = [Headline.model_validate(form) for form in study["forms"]]
            made["headlines"] = state(name, forms, _tidy(rows, STATED))
        studies[name] = {**study, **{kind: {"rows": _texts(table)} for kind, table in made.items()}}
    return {**published, "code": {**published["code"], JUDGE: code}, "studies": studies}


def _texts(table: pd.DataFrame) -> list[dict[str, str]]:
    """Rows as the CSV of the table has them."""
    return list(csv.DictReader(io.StringIO(table.to_csv(index=False, lineterminator="\n"))))


def _place(path: str, files: list[str]) -> int:
    return files.index(path) if path in files else NONE


def _tidy(rows: pd.DataFrame, used: str) -> pd.DataFrame:
    """Tidy results that were judged or stated, in the order of their files."""
    rows = rows[rows[used] != NONE].sort_values(used, kind="stable")
    return rows.drop(columns=[VIEW, JUDGED, STATED]).reset_index(drop=True)
