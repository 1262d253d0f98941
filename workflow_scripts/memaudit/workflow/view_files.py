"""Read config/views/<study>.yaml: titles, captions, layouts and sentences are data, checked before the first job.

Values that depend on the config enter by name (`view_names`), from `Study.names`, from `texts:` of the file or of
shared.yaml.
"""

import functools
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from memaudit.common.errors import AuditError
from memaudit.config.key_reference import keys as config_keys
from memaudit.config.name_checks import hint
from memaudit.workflow.run_config import RunConfig, read_yaml
from memaudit.workflow.study import Study
from memaudit.workflow.view_names import Filling
from memaudit.workflow.view_schema import Facts, OwnTable, Sentence, SharedFile, Shown, Strict, StudyFile

FOLDER = "config/views"
# Columns that every tidy result has (memaudit/common/tidy.py).
FIXED = ("study", "metric", "unit", "estimate", "low", "high", "n", "method", "null")


@dataclass(frozen=True)
class Views:
    """What readers see of one study, all names filled in.

    tables, figures: title, caption and files of each, with its layout or with values of the keys that it shows;
    headlines: files and sentences; claims: files that the paper's claims rest on; drawings: names of the figures that
    one job draws, those of results that the same jobs make; drawn_by: module of the functions that draw them; words:
    module that puts values of the tables' keys into words, None where they stand as they are.
    """

    study: dict[str, Any]
    tables: dict[str, dict[str, Any]]
    figures: dict[str, dict[str, Any]]
    drawings: dict[str, list[str]]
    drawn_by: str
    words: str | None
    headlines: dict[str, Any] | None
    claims: list[str]

    @property
    def concluded(self) -> dict[str, str]:
        """Files of the verdicts on claims and of the main results, which the job of the tables makes and tabulates."""
        kinds = {"claims": self.claims, "headlines": self.headlines}
        return {kind: _concluded(self.study["name"], kind) for kind, of in kinds.items() if of}

    @property
    def tabulated(self) -> dict[str, list[str]]:
        """Files that the job of the tables reads, by table; those that it judges claims and states headlines by."""
        made = set(self.concluded.values())
        files = {name: table["files"] for name, table in self.tables.items() if not made & set(table["files"])}
        read = {"judged": self.claims, "stated": self.headlines and self.headlines["files"]}
        return files | {name: paths for name, paths in read.items() if paths}

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """Tables that the config alone decides: title, caption, columns and rows of each."""
        return self.study["facts"]

    @property
    def files(self) -> list[str]:
        """All tables and figures."""
        tables = [*self.tables, *self.facts]
        return [
            *(f"<results>/tables/{name}.{kind}" for name in tables for kind in ("csv", "md", "tex")),
            *(f"<results>/figures/{name}.{kind}" for name in self.figures for kind in ("svg", "png", "pdf")),
        ]


def read_views(run: RunConfig, studies: Mapping[str, Study]) -> dict[str, Views]:
    """Views of every study that the run has and that has a file. Raises AuditError naming file and key path."""
    folder = Path(run.in_project(FOLDER))
    paths = {path.stem: path for path in folder.glob("*.yaml")}
    shared = _validated(SharedFile, read_yaml(paths.pop("shared")), folder / "shared.yaml")
    if strangers := sorted(paths.keys() - studies.keys()):
        raise AuditError(f"{paths[strangers[0]]}: no study has this name{hint(strangers[0], list(studies))}")
    return {
        name: read_file(paths[name], study, shared)
        for name, study in studies.items()
        if study.present and name in paths
    }


def read_file(path: Path, study: Study, shared: SharedFile) -> Views:
    """Views of one study from its file. Raises AuditError naming file and key path."""
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise AuditError(f"{path}: must be a mapping of keys, see {path.with_name('lira.yaml')}")
    filling = Filling()
    names = shared.texts | study.names
    for name, text in (raw.get("texts") or {}).items():
        names[name] = filling.fill(text, f"texts/{name}", names)
    filled = filling.fill({key: value for key, value in raw.items() if key != "texts"}, "", names)
    _raise(path, filling.faults)
    file = _validated(StudyFile, filled, path)
    _raise(path, _faults(file, study))
    return _views(file, study, shared)


def _views(file: StudyFile, study: Study, shared: SharedFile) -> Views:
    tables = {
        name: _entry(table, study) | {"layout": table.layout and table.layout.model_dump(exclude_unset=True)}
        for name, table in file.tables.items()
        if table.if_
    }
    figures = {
        name: _entry(figure, study) | {"where": figure.where} for name, figure in file.figures.items() if figure.if_
    }
    claims = file.claims if study.judged else []
    if claims:
        tables[f"{study.name}_claims"] = _own(shared.claims, _concluded(study.name, "claims"))
    if file.headlines:
        tables[f"{study.name}_headlines"] = _own(shared.headlines, _concluded(study.name, "headlines"))
    return Views(
        study=_study(file, study),
        tables=tables,
        figures=figures,
        drawings=_drawings(study, {name: file.figures[name].results for name in figures}),
        drawn_by=f"memaudit.plotting.{study.name}_figures",
        words=file.words and f"memaudit.plotting.{file.words}",
        headlines=file.headlines
        and {
            "files": _files(file.headlines.results, study),
            "sentences": [sentence.model_dump(exclude_unset=True) for sentence in file.headlines.sentences],
        },
        claims=_files(claims, study),
    )


def _drawings(study: Study, figures: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Figures by drawing: those of results that the same jobs make; called by the study and all that they show."""
    groups: dict[frozenset[frozenset[str]], list[str]] = {}
    for name, kinds in figures.items():
        makers = (next((made for made in study.made_together if kind in made), frozenset({kind})) for kind in kinds)
        groups.setdefault(frozenset(makers), []).append(name)
    shown = {tuple(names): {kind for name in names for kind in figures[name]} for names in groups.values()}
    return {
        "_".join([study.name, *(kind for kind in study.results if kind in kinds)]): list(names)
        for names, kinds in shown.items()
    }


def _entry(shown: Shown, study: Study) -> dict[str, Any]:
    return {"title": shown.title, "caption": shown.caption, "files": _files(shown.results, study)}


def _concluded(study: str, kind: str) -> str:
    return f"<results>/scores/{study}/{kind}.parquet"


def _own(table: OwnTable, file: str) -> dict[str, Any]:
    return table.model_dump() | {"files": [file], "layout": None}


def _files(kinds: list[str], study: Study) -> list[str]:
    return [file for kind in kinds for file in study.results[kind]]


def _study(file: StudyFile, study: Study) -> dict[str, Any]:
    """The study as the report shows it: each threshold with its values and its meaning."""
    meanings = _meanings()
    return {
        "title": file.title,
        "question": file.question,
        "paper": file.paper and file.paper.model_dump(),
        "thresholds": [[key, _values(key, study.run.config), meanings[key]] for key in file.thresholds],
        "facts": {name: facts.model_dump() for name, facts in file.facts.items()},
        "name": study.name,
    }


@functools.cache
def _meanings() -> dict[str, str]:
    return {key: meaning for key, _, meaning in config_keys()}


def _values(key: str, config: Mapping[str, Any]) -> list[str]:
    """Values of a config key as texts; of a key with <name>, one for each data set of the run where they differ."""
    datasets = config["data"]["datasets"] if "<name>" in key else [None]
    values = {
        name: functools.reduce(dict.__getitem__, key.replace("<name>", str(name)).split("/"), config)
        for name in datasets
    }
    same = len(set(map(str, values.values()))) == 1
    return [str(values[datasets[0]])] if same else [f"{name}: {value}" for name, value in values.items()]


def _validated(model: type[Strict], values: Any, path: Path) -> Any:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = error.errors()
        # A misspelt key is missing, too: the line that says how it is spelt is enough.
        faults = [fault for fault in faults if fault["type"] == "extra_forbidden"] or faults
        raise AuditError("; ".join(f"{path}: {_explain(model, fault)}" for fault in faults)) from None


def _explain(model: type[BaseModel], fault: Mapping[str, Any]) -> str:
    where = "/".join(map(str, fault["loc"]))
    if fault["type"] == "extra_forbidden":
        return f"{where}: unknown key{hint(fault['loc'][-1], _known_keys(model, fault['loc'][:-1]))}"
    if fault["type"] == "missing":
        return f"{where}: missing"
    return f"{where}: {fault['msg'].replace('Input should be', 'must be')}, got {fault['input']!r}"


def _known_keys(model: type[BaseModel], path: tuple[Any, ...]) -> list[str]:
    for part in path:
        if field := model.model_fields.get(str(part)):
            kinds = [field.annotation, *getattr(field.annotation, "__args__", ())]
            model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), model)
    return [field.alias or name for name, field in model.model_fields.items()]


def _faults(file: StudyFile, study: Study) -> Iterator[str]:
    """What only the study and the whole file can tell: unknown results, columns, config keys and placeholders."""
    columns = [*FIXED, *file.columns]
    yield from _unknown("thresholds", "config key", file.thresholds, _meanings())
    yield from _unknown("claims", "result", file.claims, study.results)
    for name, facts in file.facts.items():
        yield from _name_faults(f"facts/{name}", name, study)
        yield from _unfilled(f"facts/{name}", facts)
        yield from _lengths(f"facts/{name}", facts)
        if name in file.tables:
            yield f"facts/{name}: a table of results has this name, too"
    for name, table in file.tables.items():
        yield from _shown_faults(f"tables/{name}", name, table, study)
        for key in ("rows", "columns", "where") if table.layout else ():
            yield from _unknown(f"tables/{name}/layout/{key}", "column", getattr(table.layout, key), columns)
    for name, figure in file.figures.items():
        yield from _shown_faults(f"figures/{name}", name, figure, study)
        yield from _unknown(f"figures/{name}/where", "column", figure.where, columns)
    if file.headlines:
        yield from _unknown("headlines/results", "result", file.headlines.results, study.results)
        for place, sentence in enumerate(file.headlines.sentences):
            yield from _sentence_faults(f"headlines/sentences/{place}", sentence, columns)


def _shown_faults(where: str, name: str, shown: Shown, study: Study) -> Iterator[str]:
    yield from _name_faults(where, name, study)
    yield from _unknown(f"{where}/results", "result", shown.results, study.results)
    yield from _unfilled(where, shown)


def _name_faults(where: str, name: str, study: Study) -> Iterator[str]:
    if not re.fullmatch(rf"{study.name}_\w+", name):
        yield f"{where}: the name must begin with {study.name}_"


def _lengths(where: str, facts: Facts) -> Iterator[str]:
    for row in facts.rows:
        if len(row) != len(facts.columns):
            yield f"{where}/rows: {len(row)} values in a row of {len(facts.columns)} columns: {row}"


def _sentence_faults(where: str, sentence: Sentence, columns: list[str]) -> Iterator[str]:
    yield from _unknown(f"{where}/per", "column", sentence.per, columns)
    yield from _unknown(f"{where}/where", "column", sentence.where, columns)
    for name, value in sentence.values.items():
        yield from _unknown(f"{where}/values/{name}/where", "column", value.where, columns)
    if sentence.provided:
        yield from _unknown(f"{where}/provided/where", "column", sentence.provided.where, columns)
    fields = [field for _, field, _, _ in string.Formatter().parse(sentence.sentence) if field]
    names = [re.split(r"[.[]", field)[0] for field in fields]
    yield from _unknown(f"{where}/sentence", "placeholder", names, [*sentence.per, *sentence.values])


def _unknown(where: str, what: str, names: Any, known: Any) -> Iterator[str]:
    for name in names:
        if name not in known:
            yield f"{where}: unknown {what} {name!r}{hint(name, list(known))}"


def _unfilled(where: str, entry: Any) -> Iterator[str]:
    """Braces that remain in a title or caption: a name was written without its $."""
    for key in ("title", "caption"):
        if found := re.search(r"\{(\w+)", getattr(entry, key)):
            yield f"{where}/{key}: a named value is written {{${found[1]}}}, not {{{found[1]}}}"


def _raise(path: Path, faults: Any) -> None:
    if found := [f"{path}: {fault}" for fault in faults]:
        raise AuditError("; ".join(found))
