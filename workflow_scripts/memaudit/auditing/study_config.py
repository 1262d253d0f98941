"""A config file for the studies on a user's table, with comments: what `memaudit init` writes."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from duckdb import DuckDBPyConnection

from memaudit.auditing.reading import source_file
from memaudit.auditing.reading.column_hints import column_hint
from memaudit.auditing.reading.option_names import as_options
from memaudit.auditing.reading.person_columns import persons
from memaudit.auditing.reading.request import Request
from memaudit.common.cell_notations import MISSING
from memaudit.common.command_name import program
from memaudit.common.errors import AuditError
from memaudit.common.project_paths import PROJECT
from memaudit.common.screen_lines import alike
from memaudit.data.column_readings import Choices
from memaudit.data.column_schema import Roles, cleaned
from memaudit.data.duckdb_engine import connect
from memaudit.data.table_readings import CLASSIFICATION, FEW, REGRESSION, read_features

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
    {missing}
    {types}
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

    left_out: reason by column that the studies cannot use; readings: how cells are read, by column, for readers;
    persons: values of each column that looks like a person; delimiter: None for Parquet.
    """

    rows: int
    without_target: int
    columns: list[str]
    left_out: dict[str, str]
    readings: Mapping[str, str]
    task: str
    values: str
    persons: dict[str, int]
    delimiter: str | None


def read(request: Request, folder: Path) -> Table:
    """Facts of the table for a config; a copy of it stands in `folder` meanwhile.

    Raises AuditError for a file that cannot be read, a column that it lacks, and a target that no study can use.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix=".memaudit-") as private:
        fetched = source_file.fetched(request.table, Path(private), request.encoding, request.delimiter)
        _named(request, fetched.origin["columns"])
        with connect(private) as connection:
            try:
                return _read(connection, request, fetched)
            except AuditError as error:
                raise AuditError(as_options(str(error))) from None


def _read(connection: DuckDBPyConnection, request: Request, fetched: source_file.Fetched) -> Table:
    """Facts of the table, which is read as the studies' first job reads it; see `read`."""
    origin, marks = fetched.origin, (*MISSING, *request.missing)
    types = dict.fromkeys(request.categorical, "categorical")
    kind = {"typed": origin["typed"], "comma_delimited": fetched.delimiter == ","}
    roles = {"drop": request.drop, "group": request.group, "missing": marks, "typed": origin["typed"]}
    reading = Roles(CLASSIFICATION, request.target, types=types, missing_target="drop", **roles)
    choices = Choices(types, request.decimal, request.dates, **kind)
    found = read_features(connection, fetched.raw, reading, choices, request.task)
    text = cleaned(request.target, marks)
    known, distinct, numbers = connection.execute(
        f"SELECT count({text}), count(DISTINCT {text}), count(try_cast({text} AS DOUBLE)) FROM raw"
    ).fetchone()
    if distinct < 2:
        raise AuditError(f"--target {request.target!r}: has {distinct} values, so nothing can be learnt; name another")
    number = numbers == known and distinct > FEW
    task = found.task or (REGRESSION if number else CLASSIFICATION)
    if task == REGRESSION and numbers < known:
        raise AuditError(f"--target {request.target!r}: holds words, which --task regression cannot predict")
    columns = list(origin["columns"])
    others = [name for name in columns if name not in (request.target, request.group, *request.drop)]
    owners = {} if request.group else persons(connection, others, marks)
    values = f"{distinct} classes" if task == CLASSIFICATION else f"{distinct} different numbers"
    left_out, without = found.left_out | found.texts, origin["rows"] - known
    if name := next((name for name in request.infer if name in left_out), None):
        raise AuditError(f"--sensitive {name!r}: the studies leave it out ({left_out[name]}); name another column")
    return Table(origin["rows"], without, columns, left_out, found.remarks, task, values, owners, fetched.delimiter)


def remarks(table: Table) -> list[str]:
    """Lines that name the columns which are left out, and how the cells of others are read."""
    return [f"left out: {one}" for one in alike(table.left_out)] + [f"read as: {one}" for one in alike(table.readings)]


def written(request: Request, table: Table, file: Path) -> str:
    """The config file's text; `file`: where it will stand. request.infer: the sensitive column, else the first one."""
    left_out = [*request.drop, *table.left_out]
    features = [name for name in table.columns if name not in (request.target, request.group, *left_out)]
    name = source_file.stem(request.table).lstrip("_") or "table"
    # A name of the catalogue would take the checksum and the classes of its entry.
    name = f"{name}-own" if name in _catalogue() else name
    # YAML reads 2024, null or true as something else than a name.
    name = name if _plain(name) == name else f"table-{name}"
    classes = name if table.task == CLASSIFICATION else ""
    attacked = classes if table.rows >= FEWEST_ROWS else ""
    smaller = f", and {FEWEST_ROWS} rows unless arms/settings/variants have smaller contexts" if classes else ""
    reading = {key: getattr(request, key) for key in ("encoding", "decimal", "dates")}
    reading = {"delimiter": table.delimiter} | reading
    sensitive = [*request.infer, *(one for one in features if one not in table.persons), *features][0]
    group = f"# group: {next(map(_plain, table.persons), 'household')}   # the person that several rows belong to"
    remark = f"   # {'; '.join(alike(table.left_out))}" if table.left_out else ""
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
        **_cells(request),
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


def _cells(request: Request) -> dict[str, str]:
    """Lines of the config on words that mean a missing value, and on types of columns."""
    types = ", ".join(f"{_plain(name)}: categorical" for name in request.categorical)
    words = "words that mean a missing value, beside an empty cell"
    kinds = "or numeric, text, date, where the detected type is wrong"
    return {
        "missing": f"{'' if request.missing else '# '}missing: [{_listed([*MISSING, *request.missing])}]   # {words}",
        "types": f"types: {{{types}}}" if types else f"# types: {{column: categorical}}   # {kinds}",
    }


def _named(request: Request, known: list[str]) -> None:
    """Raise AuditError for a column that the table does not have, one with two roles, or a table without a feature."""
    roles = {"--target": [request.target], "--group": [request.group] if request.group else []}
    roles |= {"--drop": request.drop, "--sensitive": request.infer, "--categorical": request.categorical}
    for option, names in roles.items():
        for name in names:
            if name not in known:
                raise AuditError(f"{option}: the table has no column {name!r}{column_hint(name, known)}")
    named = [name for option, names in roles.items() if option != "--categorical" for name in names]
    if twice := next((name for place, name in enumerate(named) if name in named[:place]), None):
        raise AuditError(f"{twice!r} is named twice; target, group, dropped and sensitive columns differ")
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
