"""A config file for the studies on a user's table, with comments: what `memaudit init` writes."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from duckdb import DuckDBPyConnection

from memaudit.auditing import source_file
from memaudit.auditing.person_columns import persons
from memaudit.auditing.request import Request
from memaudit.auditing.table_columns import CLASSIFICATION, FEW, REGRESSION
from memaudit.common.command_name import program
from memaudit.common.errors import AuditError
from memaudit.common.project_paths import PROJECT
from memaudit.config.name_checks import hint
from memaudit.data.column_schema import MISSING, Reading, cleaned, infer
from memaudit.data.duckdb_engine import connect, parquet

# The default settings of study attacks draw contexts from 128 members, which are four fifths of the records.
FEWEST_ROWS = 160
TEXT = """\
# The studies on {table}, as written by `{program} init`. Every key: {reference}
#   {program} plan --configfile {file}                       what a run costs, and whether this machine can do it
#   {program} run --configfile config/smoke.yaml {file}      the smallest sizes first, to try everything
#   {program} run --configfile {file}                        the run; ends with results/{name}/report/index.html
run: {name}   # results/{name}
data:
  datasets: [{name}]
  public_id_key: null   # record ids are keyed with a secret of this run
datasets:
  {name}:
    source: file
    path: {path}   # relative to the folder where memaudit is called{reading}
    target: {target}
    task: {task}   # {values}
    rows: {rows}   # with `columns`, of features: for the plan alone
    columns: {features}
    licence: private   # of the data; the papers' claims are not judged on a private table
    {group}
    {drop}
    {missing_target}
    # missing: ["?", NA, NaN, nan]   # words that mean a missing value
    # types: {{column: categorical}}   # or numeric, text, date, where the detected type is wrong
    # limits: {{tvd: 0.1, reason: "400 rows"}}   # of the split checks, which a small table can miss by chance
# The columns: {columns}

# The studies; [] leaves one out.
lira:
  datasets: [{classes}]   # membership inference with shadow models; for classes
  population_check: {{datasets: []}}   # [{name}] if 20 records are at most 5 % of the members
attacks:
  datasets: [{attacked}]   # attacks on records in context; for classes{smaller}
  inference: {{sensitive: {sensitive}}}   # by table: the column whose values an adversary would infer
tabpate: {{datasets: []}}   # private contexts; for public tables only, since on yours it would be an unpaid query
iclmem: {{datasets: [{numbers}]}}   # [{name}] fine-tunes a model on it, and probes it for memorization
ltmia: {{training: []}}   # language models: no table is involved
predict: {{cases: []}}   # early prediction of memorization: settings that train on tables (section predict)
"""


class Table(NamedTuple):
    """A user's table.

    words: columns of free text; persons: values of each column that looks like a person; delimiter: None for Parquet.
    """

    rows: int
    without_target: int
    columns: list[str]
    words: list[str]
    task: str
    values: str
    persons: dict[str, int]
    delimiter: str | None


def read(request: Request, folder: Path) -> Table:
    """Facts of the table for a config; a copy of it stands in `folder` meanwhile.

    Raises AuditError for a file that cannot be read, a column that it lacks, and a target that no study can use.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix=".memaudit-") as private:
        raw, origin, delimiter = source_file.fetched(request.table, Path(private), request.encoding, request.delimiter)
        columns = list(origin["columns"])
        _named(request, columns)
        with connect(private) as connection:
            connection.execute(f"CREATE VIEW raw AS SELECT * FROM {parquet(raw)}")
            text = cleaned(request.target, MISSING)
            known, distinct, numbers = connection.execute(
                f"SELECT count({text}), count(DISTINCT {text}), count(try_cast({text} AS DOUBLE)) FROM raw"
            ).fetchone()
            others = [name for name in columns if name not in (request.target, request.group, *request.drop)]
            owners = {} if request.group else persons(connection, others, MISSING)
            if distinct < 2:
                raise AuditError(
                    f"--target {request.target!a}: has {distinct} values, so nothing can be learnt; name another"
                )
            number = numbers == known and distinct > FEW
            task = request.task or (REGRESSION if number else CLASSIFICATION)
            if task == REGRESSION and numbers < known:
                raise AuditError(f"--target {request.target!a}: holds words, which --task regression cannot predict")
            words = _free_text(connection, request, task, origin["typed"])
    values = f"{distinct} classes" if task == CLASSIFICATION else f"{distinct} different numbers"
    return Table(origin["rows"], origin["rows"] - known, columns, words, task, values, owners, delimiter)


def _free_text(connection: DuckDBPyConnection, request: Request, task: str, typed: bool) -> list[str]:
    """Columns of free text, which no model of the studies reads; AuditError for what their first job cannot read."""
    roles = {"drop": request.drop, "group": request.group, "missing_target": "drop", "typed": typed}
    features, _ = infer(connection, Reading(task, request.target, **roles))
    return [column.source for column in features if column.type == "text"]


def written(request: Request, table: Table, file: Path) -> str:
    """The config file's text; `file`: where it will stand. request.infer: the sensitive column, else the first one."""
    left_out = [*request.drop, *table.words]
    features = [name for name in table.columns if name not in (request.target, request.group, *left_out)]
    name = source_file.stem(request.table).lstrip("_") or "table"
    # A name of the catalogue would take the checksum and the classes of its entry.
    name = f"{name}-own" if name in _catalogue() else name
    # YAML reads 2024, null or true as something else than a name.
    name = name if _plain(name) == name else f"table-{name}"
    classes = name if table.task == CLASSIFICATION else ""
    attacked = classes if table.rows >= FEWEST_ROWS else ""
    smaller = f", and {FEWEST_ROWS} rows unless arms/settings/variants have smaller contexts" if classes else ""
    reading = {"delimiter": table.delimiter, "encoding": request.encoding}
    sensitive = [*request.infer, *(one for one in features if one not in table.persons), *features][0]
    group = f"# group: {next(map(_plain, table.persons), 'household')}   # the person that several rows belong to"
    remark = f"   # {_listed(table.words)}: free text, which no model here reads" if table.words else ""
    drop = "# drop: [column]   # columns that models never see, like row numbers"
    return TEXT.format(
        program=program(),
        table=_plain(request.table),
        reference=PROJECT / "config" / "README.md",
        file=_plain(str(file)),
        name=name,
        path=_plain(request.table),
        reading="".join(f"\n    {key}: {_plain(value)}" for key, value in reading.items() if value),
        target=_plain(request.target),
        task=table.task,
        values=table.values,
        rows=table.rows,
        features=len(features),
        group=f"group: {_plain(request.group)}" if request.group else group,
        drop=f"drop: [{_listed(left_out)}]{remark}" if left_out else drop,
        missing_target=_missing_target(table.without_target),
        columns=_listed(table.columns),
        classes=classes,
        attacked=attacked,
        smaller="" if attacked else smaller,
        numbers="" if classes else name,
        sensitive=f"{{{name}: {_plain(sensitive)}}}" if classes else "{}",
    )


def _missing_target(rows: int) -> str:
    if not rows:
        return "# missing_target: drop   # rows without a target, which are an error otherwise"
    return f"missing_target: drop   # of {rows} rows; without this line they are an error"


def _named(request: Request, known: list[str]) -> None:
    """Raise AuditError for a column that the table does not have, one with two roles, or a table without a feature."""
    roles = {"--target": [request.target], "--group": [request.group] if request.group else []}
    roles |= {"--drop": request.drop, "--sensitive": request.infer}
    for option, names in roles.items():
        for name in names:
            if name not in known:
                raise AuditError(f"{option}: the table has no column {name!a}{hint(name, known[:50])}")
    named = [name for names in roles.values() for name in names]
    if twice := next((name for place, name in enumerate(named) if name in named[:place]), None):
        raise AuditError(f"{twice!a} is named twice; target, group, dropped and sensitive columns differ")
    if len(set(known)) <= len({*roles["--target"], *roles["--group"], *request.drop}):
        raise AuditError("the table has no feature beside the target; is --delimiter wrong?")


def _catalogue() -> set[str]:
    return set(yaml.safe_load((PROJECT / "config" / "datasets.yaml").read_text(encoding="utf-8"))["datasets"])


def _plain(text: str) -> str:
    """A text as YAML writes it within a line and within brackets."""
    if not text.isprintable():
        return json.dumps(text)
    return yaml.safe_dump([text], default_flow_style=True, width=float("inf"), allow_unicode=True).strip()[1:-1]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_plain, names))
