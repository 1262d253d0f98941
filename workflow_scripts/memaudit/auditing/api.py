"""The audit from Python, in three lines: `report = audit(X, y, model=...)`; `report.to_html("report.html")`."""

import inspect
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from memaudit.auditing import runner
from memaudit.auditing.model_choice import SHIPPED
from memaudit.auditing.request import Request
from memaudit.auditing.summary import Summary
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table

TARGET = "target"
GROUP = "group"


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
    estimator, which is rebuilt from its class and its `get_params()`; groups: (record,) the privacy unit of each, for
    example a person; task: classification or regression, None: by the targets; by: columns whose categories are
    compared; infer: columns whose values an adversary infers; into: the working folder, by default a temporary one;
    settings: of runner.Settings (threats, base_rates, shown, show_values, cores). Raises AuditError.
    """
    name, params = _named(model)
    folder = Path(into or tempfile.mkdtemp(prefix="memaudit-")).absolute()
    table = pd.DataFrame(X).rename(columns=str).reset_index(drop=True)
    if len(table) != len(y):
        raise AuditError(f"X has {len(table)} rows and y {len(y)}: give one target for each row")
    target, group = (_free(name, table) for name in (TARGET, GROUP))
    table[target] = pd.Series(y).to_numpy()
    if groups is not None:
        table[group] = pd.Series(groups).to_numpy()
    with runner.private(folder):
        path = folder / "table/given.parquet"
        path.parent.mkdir(mode=0o700, exist_ok=True)
        table.to_parquet(path, index=False)
    roles = {"group": None if groups is None else group, "by": list(by), "infer": list(infer)}
    request = Request(str(path), target, task=task, seed=seed, **roles)
    chosen = runner.Settings(folder, models=[name], params=params, minutes=minutes, **settings)
    finished = False
    try:
        runner.run(request, chosen, lambda stage, result: None)
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


def _free(name: str, table: pd.DataFrame) -> str:
    """The name, with underscores appended until no column has it."""
    while name.lower() in {column.lower() for column in table}:
        name += "_"
    return name


def _named(model: Any) -> tuple[str, dict[str, Any]]:
    """Name and parameters of a model. Raises AuditError for an estimator that another process cannot build."""
    if isinstance(model, str | Path):
        return str(model), {}
    kind = type(model)
    where = f"{kind.__module__}.{kind.__qualname__}"
    if not hasattr(model, "get_params") or kind.__module__ == "__main__" or "<locals>" in where:
        raise AuditError(
            f"model {where}: cannot be built in another process; give an estimator with get_params() whose class "
            "is defined in a module, or its import path"
        )
    given = model.get_params(deep=False)
    standard = {name: one.default for name, one in inspect.signature(kind).parameters.items()}
    # Defaults are left to the class: they need not be plain values.
    params = {key: value for key, value in given.items() if value is not standard.get(key, inspect.Parameter.empty)}
    try:
        params = json.loads(json.dumps(params))
    except TypeError:
        raise AuditError(
            f"model {where}: its parameters are not plain values; define a class in a module of your own "
            "that builds it, and give its import path"
        ) from None
    return where, params
