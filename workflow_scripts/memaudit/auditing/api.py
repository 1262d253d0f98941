"""The audit from Python, in three lines: `report = audit(X, y, model=...)`; `report.to_html("report.html")`."""

import html
import inspect
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyarrow import ArrowException
from pydantic import ValidationError
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from memaudit.auditing import runner
from memaudit.auditing.argument_names import OF_SETTINGS, as_arguments, given, named_as_arguments
from memaudit.auditing.command_line import headline_lines, reading_lines, result_lines
from memaudit.auditing.intake import safe_names
from memaudit.auditing.request import SHIPPED, Request
from memaudit.auditing.summary import Summary
from memaudit.auditing.table_columns import REGRESSION
from memaudit.common.errors import AuditError, printable
from memaudit.common.io import read_json, read_table
from memaudit.common.screen_lines import alike, show
from memaudit.models import given_estimator
from memaudit.models.given_estimator import Given
from memaudit.models.user_frames import UserFrame

TARGET, GROUP = "target", "group"  # columns of targets and groups that have no name of their own
INDEX = "__index_level_"  # start of the names that Parquet reserves for an index
GIVEN, ESTIMATOR = "table/given.parquet", "table/estimator.pkl"
METHODS = ("fit", "predict", "get_params", "set_params", "__sklearn_tags__")
Named = tuple[str, dict[str, Any]] | Given  # a model by name and parameters, or as an object
PICKLED = "memaudit.models.given_estimator.GivenEstimator"


@dataclass(frozen=True, repr=False)
class Report:
    """A finished audit; folder: its private working folder, which the caller deletes."""

    folder: Path

    @cached_property
    def summary(self) -> Summary:
        """The results, as in summary.json; `headline` are those of the strongest score."""
        return Summary.model_validate(read_json(self.folder / "summary.json"))

    @cached_property
    def risk(self) -> pd.DataFrame:
        """One line for each record, the most vulnerable first; `row` counts from 1, as in the table."""
        return read_table(self.folder / "risk.parquet")

    def __repr__(self) -> str:
        """The folder and the main results."""
        return "\n  ".join([f"Report({str(self.folder)!r})", *map(printable, self._main_results())])

    def _repr_html_(self) -> str:
        """The main results, as a notebook shows them."""
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self._main_results())
        return f'<p><b>memaudit</b>; the whole page: <code>report.to_html("report.html")</code></p><ul>{lines}</ul>'

    def _main_results(self) -> list[str]:
        """Lines of the main results, or why there are none: a notebook shows reports long after they were made."""
        if not (self.folder / "summary.json").exists():
            return ["deleted"]
        try:
            return [as_arguments(line) for line in headline_lines(self.summary.model_dump())]
        except ValidationError:
            return ["made by another version of memaudit; audit again"]

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


@named_as_arguments()
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
    name: str = "your table",
    seed: int = 0,
    **settings: Any,
) -> Report:
    """Audit a table in memory and return the report, as `./memaudit audit` does for a file.

    X: (record, column) frame or array; y: (record,) targets; model: a name, a checkpoint's path, an import path, or an
    estimator, fitted or not: clones are fitted. One with plain parameters is rebuilt from its class, behind the audit's
    preprocessing; any other, such as a pipeline, reads tables of the form of X (`GivenEstimator`); groups:
    (record,) the privacy unit of each, for example a person; task: classification or regression, None: by the targets;
    by: columns whose categories are compared; infer: columns whose values an adversary infers; into: the working
    folder, by default a temporary one; name: what the page calls the table; settings: other options of the command,
    such as rows, drop, show_values and epsilon (`argument_names.OF_TABLES` and `OF_SETTINGS`). Prints how the table is
    read, the main results of each stage, and where the page is. Raises AuditError, which names these arguments.
    """
    plain = given({"task": task, "by": by, "infer": infer, "minutes": minutes, "seed": seed} | settings)
    table, roles, stored = _with_roles(X, y, groups)
    named = _named(model) or _content(model, X, y, stored, plain["seed"])
    folder = Path(into or tempfile.mkdtemp(prefix="memaudit-")).absolute()
    roles |= {key: value for key, value in plain.items() if key not in OF_SETTINGS}
    request = Request(str(folder / GIVEN), name=name, **roles)
    chosen = {key: value for key, value in plain.items() if key in OF_SETTINGS}
    with nullcontext() if into else _removed_if_failed(folder):
        with runner.private(folder):
            chosen |= _written(table, named, folder)
        runner.run(request, runner.Settings(folder, **chosen), partial(_say, named))
    page = str(folder / "report.html")
    show([f"the page is {page!r}; report.delete() removes its folder, which holds a copy of the table"])
    return Report(folder)


@contextmanager
def _removed_if_failed(folder: Path) -> Iterator[None]:
    """If the block fails, remove a folder that the caller does not know; of a failed job keep and name the logs."""
    try:
        yield
    except runner.StageError as error:
        _keep_logs(folder)
        raise AuditError(
            f"{error.what} ({error.cause or 'no job says why'}); its logs are in {folder}, with into=FOLDER all files "
            "are kept"
        ) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _keep_logs(folder: Path) -> None:
    """Remove all of a working folder but its logs."""
    for path in sorted(folder.rglob("*"), reverse=True):  # files before their folders
        if path.is_symlink() or (path.is_file() and path.suffix != ".log"):
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _with_roles(X: Any, y: Any, groups: Any) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    """The table with the targets, and the groups if any, as columns of their own, as texts where it has categories.

    Beside it the names of these columns, and the names that the intake gives the features. Raises AuditError for names
    that are not unique or not columns', and for targets or groups that are not one for each row.
    """
    features = _features(X)
    table = features.rename(columns=str).reset_index(drop=True)
    if twice := table.columns[table.columns.duplicated()].tolist():
        raise AuditError(f"X: two columns are called {twice[0]!r}; rename one")
    if unfit := [name for name in table.columns if name.startswith(INDEX)]:
        raise AuditError(f"X: {unfit[0]!r} is a name of Parquet's for an index; rename the column")
    for name, column in table.items():
        if isinstance(column.dtype, pd.CategoricalDtype):  # Parquet would keep its numbers as numbers
            table[name] = column.astype(object).map(str, na_action="ignore")
    for name, values in (("y", y), ("groups", groups)):
        if (name == "y" or values is not None) and (np.ndim(values) != 1 or len(values) != len(table)):
            raise AuditError(f"X has {len(table)} rows and {name} the shape {np.shape(values)}: give one for each row")
    count, roles = table.shape[1], {}
    for role, values, name in (("target", y, TARGET), ("group", groups, GROUP)):
        if values is not None:
            roles[role] = _free(_own_name(values, table) or name, table)
            table[roles[role]] = pd.Series(values).to_numpy()
    return table, roles, list(safe_names(table.columns).values())[:count]


def _own_name(values: Any, table: pd.DataFrame) -> str | None:
    """The name of a Series, None where it has none that a further column of the table can have."""
    if not isinstance(values, pd.Series) or values.name is None:
        return None
    name = str(values.name)
    usable = name.strip() and not name.startswith(INDEX) and name == _free(name, table)
    usable = usable and name.lower() != "file_row_number" and name.isprintable()
    return name if usable else None


def _features(X: Any) -> pd.DataFrame:
    try:
        features = pd.DataFrame(X)
    except (TypeError, ValueError) as error:
        raise AuditError(f"X: is no table ({error}); give a frame or an array (record, column)") from error
    if features.columns.nlevels > 1:
        raise AuditError("X: its columns have several levels of names; give each one name")
    return features


def _written(table: pd.DataFrame, named: Named, folder: Path) -> dict[str, Any]:
    """Settings of the model; the table, and an estimator that was given as an object, are written into the folder."""
    (folder / GIVEN).parent.mkdir(mode=0o700, exist_ok=True)
    try:
        table.to_parquet(folder / GIVEN, index=False)
    except (ValueError, TypeError, ArrowException) as error:
        raise AuditError(f"X: a column mixes types ({error}); give each column one") from error
    if isinstance(named, Given):
        params = {"path": str(folder / ESTIMATOR), "sha256": given_estimator.write(named, folder / ESTIMATOR)}
        return {"models": [PICKLED], "params": params, "labels": [_called(named.estimator)]}
    return {"models": [named[0]], "params": named[1]}


def _say(named: Named, stage: str, result: Any) -> None:
    """Print the main results of a stage; raise AuditError where an estimator does not fit what the intake has found."""
    if stage != "schema":
        show(map(as_arguments, result_lines(stage, result)))
        return
    left = [f"left out: {one}" for one in alike(result["left_out"])]
    show(map(as_arguments, [*reading_lines(result), *left]))
    if isinstance(named, Given):
        model, kind = _called(named.estimator), get_tags(named.estimator).estimator_type
        if kind != ("regressor" if result["kind"] == REGRESSION else "classifier"):
            raise AuditError(
                f"model {model}: a {kind}, but the task is {result['kind']}; give another model, or `task`"
            )
        if left:
            reasons = "; ".join(alike(result["left_out"]))
            raise AuditError(f"the audit leaves columns out that {model} may read: give X without them ({reasons})")


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
    if not all(hasattr(model, method) for method in METHODS) or isinstance(model, type):
        raise AuditError(
            f"model {where}: not an estimator; give an object with fit, predict and get_params, derived from "
            "sklearn.base.BaseEstimator, or a name"
        )
    if kind.__module__ == "__main__" or "<locals>" in where or isinstance(model, Pipeline):
        return None
    given = model.get_params(deep=False)
    standard = {name: one.default for name, one in inspect.signature(kind).parameters.items()}
    # Defaults are left to the class: they need not be plain values.
    params = {key: value for key, value in given.items() if value is not standard.get(key, inspect.Parameter.empty)}
    # Classes and columns that a dictionary or a list names are the user's.
    plain = all(isinstance(value, bool | int | float | str | tuple | None) for value in params.values())
    try:
        return (where, json.loads(json.dumps(params))) if plain else None
    except TypeError:
        return None


def _content(model: Any, X: Any, y: Any, stored: list[str], seed: int) -> Given:
    """An estimator with the form of the user's columns. Raises AuditError for one that cannot be audited."""
    content = given_estimator.given(
        model, UserFrame.of(_features(X), pd.Series(y), stored, not hasattr(X, "columns")), seed
    )
    if get_tags(content.estimator).estimator_type == "classifier" and not hasattr(model, "predict_proba"):
        raise AuditError(f"model {_called(model)}: gives no probabilities; give a classifier with predict_proba")
    return content


def _called(model: Any) -> str:
    """What the page calls a model that has no import path."""
    own = type(model).__name__
    return f"{own} of {type(model.steps[-1][1]).__name__}" if isinstance(model, Pipeline) else own
