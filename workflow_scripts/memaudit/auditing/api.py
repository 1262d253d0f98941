"""The audit from Python, in three lines: `report = audit(X, y, model=...)`; `report.to_html("report.html")`."""

import html
import inspect
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.pipeline import Pipeline

from memaudit.auditing import runner
from memaudit.auditing.command_line import headline_lines, report
from memaudit.auditing.intake import safe_names
from memaudit.auditing.model_choice import SHIPPED
from memaudit.auditing.request import Request
from memaudit.auditing.summary import Summary
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table
from memaudit.models import given_estimator

TARGET = "target"
GROUP = "group"
GIVEN, ESTIMATOR = "table/given.parquet", "table/estimator.pkl"
PICKLED = "memaudit.models.given_estimator.GivenEstimator"


@dataclass(frozen=True)
class Report:
    """A finished audit; folder: its private working folder, which the caller deletes."""

    folder: Path

    @cached_property
    def summary(self) -> Summary:
        """The results, as in summary.json."""
        return Summary.model_validate(read_json(self.folder / "summary.json"))

    @cached_property
    def risk(self) -> pd.DataFrame:
        """One line for each record, the most vulnerable first; `row` counts from 1, as in the table."""
        return read_table(self.folder / "risk.parquet")

    def _repr_html_(self) -> str:
        """The main results, as a notebook shows them."""
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in headline_lines(self.summary.model_dump()))
        return f'<p><b>memaudit</b>; the whole page: <code>report.to_html("report.html")</code></p><ul>{lines}</ul>'

    def to_html(self, path: str | Path) -> Path:
        """Copy the page; it names rows and columns, so only its owner can read the copy."""
        target = Path(path)
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as copy:
            os.fchmod(copy.fileno(), 0o600)  # also of a file that existed before
            copy.write((self.folder / "report.html").read_bytes())
        return target

    def delete(self) -> None:
        """Remove the working folder with the copy of the table."""
        shutil.rmtree(self.folder)


def audit(
    X: Any,
    y: Any,
    model: Any = SHIPPED,
    *,
    groups: Any = None,
    task: str | None = None,
    by: Sequence[str] = (),
    infer: Sequence[str] = (),
    minutes: float = 3.0,
    into: str | Path | None = None,
    seed: int = 0,
    **settings: Any,
) -> Report:
    """Audit a table in memory and return the report, as `./memaudit audit` does for a file.

    X: (record, column) frame or array; y: (record,) targets; model: a name, a checkpoint's path, an import path, or an
    estimator, fitted or not: clones are fitted. One with plain parameters is rebuilt from its class, behind the audit's
    preprocessing; any other, such as a pipeline, reads frames with the columns of X (`GivenEstimator`); groups:
    (record,) the privacy unit of each, for example a person; task: classification or regression, None: by the targets;
    by: columns whose categories are compared; infer: columns whose values an adversary infers; into: the working
    folder, by default a temporary one; settings: of runner.Settings (threats, base_rates, shown, show_values, cores).
    Prints the main results of each stage, as the command does. Raises AuditError.
    """
    named = _named(model)
    table, roles = _with_roles(X, y, groups)
    folder = Path(into or tempfile.mkdtemp(prefix="memaudit-")).absolute()
    request = Request(str(folder / GIVEN), task=task, seed=seed, by=list(by), infer=list(infer), **roles)
    finished = False
    try:
        with runner.private(folder):
            (folder / GIVEN).parent.mkdir(mode=0o700, exist_ok=True)
            table.to_parquet(folder / GIVEN, index=False)
            name, params = named or _pickled(model, table, roles, folder / ESTIMATOR, seed)
        settings |= {"models": [name], "params": params, "minutes": minutes}
        settings |= {} if named else {"labels": [_called(model)]}
        runner.run(request, runner.Settings(folder, **settings), _say)
        finished = True
    except runner.StageError as error:
        if into is not None:
            raise
        raise AuditError(
            f"the {error.stage} stage has failed ({error.cause or 'no job says why'}); with into=FOLDER its files and "
            "Snakemake's messages are kept"
        ) from None
    finally:
        if into is None and not finished:  # the caller does not know this folder
            shutil.rmtree(folder, ignore_errors=True)
    return Report(folder)


def _with_roles(X: Any, y: Any, groups: Any) -> tuple[pd.DataFrame, dict[str, str | None]]:
    """The table with the targets, and the groups if any, as columns of their own; and the names of these."""
    table = pd.DataFrame(X).rename(columns=str).reset_index(drop=True)
    if len(table) != len(y):
        raise AuditError(f"X has {len(table)} rows and y {len(y)}: give one target for each row")
    roles = {"target": _free(TARGET, table), "group": None if groups is None else _free(GROUP, table)}
    table[roles["target"]] = pd.Series(y).to_numpy()
    if groups is not None:
        table[roles["group"]] = pd.Series(groups).to_numpy()
    return table, roles


def _say(stage: str, result: Any) -> None:
    if stage != "schema":
        report(stage, result)


def _free(name: str, table: pd.DataFrame) -> str:
    """The name, with underscores appended until no column has it."""
    while name.lower() in {column.lower() for column in table}:
        name += "_"
    return name


def _named(model: Any) -> tuple[str, dict[str, Any]] | None:
    """Name and parameters of a model; None for an estimator that another process cannot build from these."""
    if isinstance(model, str | Path):
        return str(model), {}
    kind = type(model)
    where = f"{kind.__module__}.{kind.__qualname__}"
    if not all(hasattr(model, method) for method in ("fit", "predict", "get_params")) or isinstance(model, type):
        raise AuditError(f"model {where}: not an estimator; give an object with fit, predict and get_params, or a name")
    if kind.__module__ == "__main__" or "<locals>" in where or isinstance(model, Pipeline):
        return None
    given = model.get_params(deep=False)
    standard = {name: one.default for name, one in inspect.signature(kind).parameters.items()}
    # Defaults are left to the class: they need not be plain values.
    params = {key: value for key, value in given.items() if value is not standard.get(key, inspect.Parameter.empty)}
    try:
        return where, json.loads(json.dumps(params))
    except TypeError:
        return None


def _pickled(
    model: Any, table: pd.DataFrame, roles: Mapping[str, str | None], path: Path, seed: int
) -> tuple[str, dict[str, Any]]:
    """Name and parameters of the class that reads the pickled model; written with the form of the user's columns."""
    features = {stored: name for name, stored in safe_names(table.columns).items() if name not in roles.values()}
    held = given_estimator.given(model, table, table[roles["target"]], features, seed)
    return PICKLED, {"path": str(path), "sha256": given_estimator.write(held, path)}


def _called(model: Any) -> str:
    """What the page calls a model that has no import path."""
    own = type(model).__name__
    return f"{own} of {type(model.steps[-1][1]).__name__}" if isinstance(model, Pipeline) else own
