"""The audit from Python: `report = audit(df, target="churn", model=...)`, then `report.to_html("report.html")`."""

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

import pandas as pd
from pyarrow import ArrowException
from pydantic import ValidationError
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from memaudit.auditing import runner
from memaudit.auditing.argument_names import OF_SETTINGS, as_arguments, given, named_as_arguments
from memaudit.auditing.command_line import headline_lines, reading_lines, result_lines
from memaudit.auditing.page import audit_page
from memaudit.auditing.reading.column_lines import remark_lines
from memaudit.auditing.reading.memory_table import features_of, parted, with_roles
from memaudit.auditing.reading.request import SHIPPED, Request
from memaudit.auditing.reading.table_columns import REGRESSION
from memaudit.auditing.running.finished_audit import present_name
from memaudit.auditing.summaries.summary import Summary
from memaudit.common.errors import AuditError, printable
from memaudit.common.io import read_json, read_table
from memaudit.common.screen_lines import alike, show
from memaudit.models import given_estimator
from memaudit.models.given_estimator import Given
from memaudit.models.user_frames import UserFrame

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
        return read_table(self.folder / "risk.parquet").rename(columns=present_name)

    def __repr__(self) -> str:
        """The folder and the main results."""
        lines = [self._lacking()] if self._lacking() else headline_lines(self.summary.model_dump())
        return "\n  ".join([f"Report({str(self.folder)!r})", *(printable(as_arguments(line)) for line in lines)])

    def _repr_html_(self) -> str:
        """The head of the page, as a notebook shows it."""
        return f"<p>memaudit: {self._lacking()}</p>" if self._lacking() else audit_page.render_head(self.summary)

    def _lacking(self) -> str:
        """Why there are no results, if so: a notebook shows reports long after they were made."""
        if not (self.folder / "summary.json").exists():
            return "deleted"
        try:
            self.summary  # noqa: B018  (read now)
        except ValidationError:
            return "made by another version of memaudit; audit again"
        return ""

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
    y: Any = None,
    model: Any = SHIPPED,
    *,
    target: Any = None,
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

    X: (record, column) frame or array; y: (record,) targets, or target: the name of their column in the frame X;
    model: a name, a checkpoint's path, an import path, or an estimator, fitted or not: clones are fitted, on tables of
    the form of X (`GivenEstimator`). One of scikit-learn itself with plain parameters reads no texts and is rebuilt
    behind the audit's preprocessing, apart from pipelines; groups: (record,) the privacy unit of each, for example a
    person, or the name of their column in X; task: classification or regression, None: by the targets; by: columns
    whose categories are compared; infer: columns whose values an adversary infers; into: the working folder, by
    default a temporary one; name: what the page calls the table; settings: other options of the command, such as rows,
    drop, show_values and epsilon (`argument_names.OF_TABLES` and `OF_SETTINGS`). Prints how the table is read, the main
    results of each stage, and where the page is. Raises AuditError, which names these arguments.
    """
    plain = given({"task": task, "by": by, "infer": infer, "minutes": minutes, "seed": seed} | settings)
    X, y, groups = parted(X, y, target, groups)
    table, roles, stored = with_roles(X, y, groups)
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
    show(map(as_arguments, [*reading_lines(result), *remark_lines(result), *left]))
    if isinstance(named, Given):
        model, kind = _called(named.estimator), get_tags(named.estimator).estimator_type
        if kind != ("regressor" if result["kind"] == REGRESSION else "classifier"):
            raise AuditError(
                f"model {model}: a {kind}, but the task is {result['kind']}; give another model, or `task`"
            )
        if left:
            reasons, names = "; ".join(alike(result["left_out"])), list(result["left_out"])
            raise AuditError(
                f"the audit leaves columns out that {model} may read ({reasons}); give the table without them, "
                f"df.drop(columns={names}), or with texts of dates as dates (pd.to_datetime)"
            )


def _named(model: Any) -> tuple[str, dict[str, Any]] | None:
    """Name and parameters of a model; None for an estimator that is taken as it is.

    Those of scikit-learn itself need the audit's preprocessing to read texts and missing cells: they are built from
    their parameters, unless these are objects.
    """
    if isinstance(model, str | Path):
        return str(model), {}
    kind = type(model)
    where = f"{kind.__module__}.{kind.__qualname__}"
    if not all(hasattr(model, method) for method in METHODS) or isinstance(model, type):
        raise AuditError(
            f"model {where}: not an estimator; give an object with fit, predict and get_params, derived from "
            "sklearn.base.BaseEstimator, or a name"
        )
    if kind.__module__.partition(".")[0] != "sklearn" or isinstance(model, Pipeline):
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
        model, UserFrame.of(features_of(X), pd.Series(y), stored, not hasattr(X, "columns")), seed
    )
    if get_tags(content.estimator).estimator_type == "classifier" and not hasattr(model, "predict_proba"):
        raise AuditError(f"model {_called(model)}: gives no probabilities; give a classifier with predict_proba")
    return content


def _called(model: Any) -> str:
    """What the page calls a model that has no import path."""
    own = type(model).__name__
    return f"{own} of {type(model.steps[-1][1]).__name__}" if isinstance(model, Pipeline) else own
