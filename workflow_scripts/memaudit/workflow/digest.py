"""Hash of the code and of the environment that a rule's result depends on. Standard library only.

Snakemake does not see edits to a script's library nor, without `--sdm`, to its environment. Each rule therefore carries
`digest(...)` in its params: an edit reruns exactly the rules whose numbers it can change.

What counts: the syntax of the script and of every memaudit module that it reaches outside the plumbing, the templates
beside them, and the pins of the environment. What does not: comments, docstrings, layout, texts of raised errors, paths
and names of modules, and the plumbing, `workflow/` and PLUMBING, which counts by one version number.
"""

import ast
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from memaudit.common.errors import AuditError
from memaudit.common.project_paths import ENVS, SCRIPTS

# Low modules that no number depends on: job inputs, progress, what is loaded, and where the project's files stand.
PLUMBING = {
    f"common/{name}.py" for name in ("command_name", "job_inputs", "loaded_packages", "progress_bar", "project_paths")
}
KEPT = ".snakemake/code"  # folder of kept hashes, beside the scripts
# Raise it when a change of the plumbing changes results that were made with the one before.
WORKFLOW_VERSION = 1
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
HOLDS_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)


NAME = re.compile(r"Name\(id='(\w+)'")


class Module(NamedTuple):
    """A parsed module: its syntax; dotted names of what it binds from memaudit, by local name; all dotted names."""

    syntax: str
    ours: Mapping[str, str]
    imports: tuple[str, ...]


@cache
def digest(rule: str, env: str, loads: str | None = None) -> str:
    """Hash of a rule's code and of its environment's pins: 16 hex digits.

    rule: `folder_script`, as `lira_draw_designs` of workflow_scripts/lira/draw_designs.py; env: a file of envs/;
    loads: module that the script imports by a name that its params decide. Raises FileNotFoundError for an unknown
    script or environment, ModuleNotFoundError for an unknown module.
    """
    return hashlib.sha256(code(rule, loads).encode() + _pins(ENVS / f"{env}.yaml")).hexdigest()[:16]


def digest_when_planned(rule: str, env: str, loads: str | None = None) -> Callable[[object], str]:
    """`digest` as a rule's param that Snakemake calls for each job: rules without a job cost no reading of their code.

    An audit plans a dozen of a hundred rules. Raises as `digest`, when called.
    """
    return lambda wildcards: digest(rule, env, loads)


@cache
def code(rule: str, loads: str | None = None) -> str:
    """Hash of a rule's script, every memaudit module that it reaches outside the plumbing, and their templates.

    Kept in `KEPT` of a clone for the files as they are: parsing them takes seconds of each start.
    """
    name, files = f"{rule} {loads or ''}".strip(), _all_files()
    if known := _kept(name, files):
        return known
    found = _code(rule, loads)
    _keep(name, files, found)
    return found


def _kept(name: str, files: str) -> str:
    """The hash that is kept for these files, empty if there is none."""
    # A cache that cannot be read costs time alone, as one that cannot be written, of a read-only installation.
    with suppress(OSError, UnicodeDecodeError):
        of_files, _, found = (SCRIPTS.parent / KEPT / name).read_text(encoding="utf-8").partition(" ")
        return found if of_files == files else ""
    return ""


def _keep(name: str, files: str, found: str) -> None:
    folder = SCRIPTS.parent / KEPT
    # Nothing is written into an installation.
    if not (SCRIPTS.parent / ".git").exists():
        return
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        own = folder / f".{name} {os.getpid()}"
        own.write_text(f"{files} {found}", encoding="utf-8")
        own.replace(folder / name)


@cache
def _read() -> dict[Path, bytes]:
    """Every file below `SCRIPTS`, read once: the files that are hashed and parsed are the same ones, edited or not."""
    found = {}
    for folder, folders, names in os.walk(SCRIPTS):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found |= {path: path.read_bytes() for name in names if (path := Path(folder, name)).is_file()}
    return found


@cache
def _all_files() -> str:
    """Hash of this Python's version and of every file below `SCRIPTS`, on which the hash of any code depends."""
    whole = hashlib.sha256(sys.version.encode())
    for path, content in sorted(_read().items()):
        whole.update(str(path.relative_to(SCRIPTS)).encode() + b"\0" + hashlib.sha256(content).digest())
    return whole.hexdigest()


def _code(rule: str, loads: str | None) -> str:
    modules = closure(rule, loads, plumbing=False)
    parts = {_meaning(path) for path in modules} | {_template(path) for path in templates(modules)}
    return hashlib.sha256(b"".join([str(WORKFLOW_VERSION).encode(), *sorted(parts - {b""})])).hexdigest()[:16]


def script_of(rule: str) -> Path:
    """File of a rule's script: folder and name are parted at the first underscore."""
    folder, _, name = rule.partition("_")
    return SCRIPTS / folder / f"{name}.py"


def rule_of(script: str | Path) -> str:
    """Name of the rule that runs a script, from the script's path."""
    return f"{Path(script).parent.name}_{Path(script).stem}"


def closure(rule: str, loads: str | None = None, *, plumbing: bool = True) -> set[Path]:
    """The rule's script and all memaudit modules that it imports, directly or not, packages included.

    loads: module that the script imports by a name that its params decide.
    plumbing: False leaves out `workflow/`, PLUMBING, and what is reached through them alone.
    """
    if loads and not _file(loads):
        raise ModuleNotFoundError(f"no module is named {loads}")
    found, todo = set(), [script_of(rule), *(_files(loads) if loads else ())]
    while todo:
        path = todo.pop()
        if path not in found and (plumbing or not _is_plumbing(path)):
            found.add(path)
            todo += _reached(path)
    return found


def templates(modules: set[Path]) -> set[Path]:
    """Files that modules fill in: all that stand in a folder `templates` beside one of them."""
    folders = {path.parent / "templates" for path in modules}
    return {path for path in _all_templates() if not folders.isdisjoint(path.parents)}


@cache
def _all_templates() -> set[Path]:
    return {path for path in _read() if "templates" in path.relative_to(SCRIPTS).parts}


def imports(path: Path) -> tuple[str, ...]:
    """Names of the modules, and perhaps of things in them, that a module imports."""
    return _module(path).imports


@cache
def _is_plumbing(path: Path) -> bool:
    library = SCRIPTS / "memaudit"
    return path.is_relative_to(library / "workflow") or path in {library / name for name in PLUMBING}


@cache
def _pins(path: Path) -> bytes:
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line).encode()


@cache
def _template(path: Path) -> bytes:
    return hashlib.sha256(path.name.encode() + b"\0" + _read()[path]).digest()


@cache
def _module(path: Path) -> Module:
    """A module's syntax without docstrings, texts of raised errors and imports from memaudit; and what it imports."""
    if path not in _read():
        raise FileNotFoundError(path)
    tree = ast.parse(_read()[path])
    bound = tuple(_bindings(path, tree))
    for node in _statements(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args = []
        for name in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(node, name, None), list):
                setattr(node, name, [inner for inner in block if not _imports_memaudit(inner)])
    ours: dict[str, str] = {}
    for local, dotted in bound:
        if dotted.split(".")[0] == "memaudit" and ours.setdefault(local, dotted) != dotted:
            raise AuditError(f"{path}: {local} is both {ours[local]} and {dotted}; give one of them another name")
    return Module(ast.dump(tree) if tree.body else "", ours, tuple(_imported_names(bound)))


@cache
def _meaning(path: Path) -> bytes:
    """Hash of what a module does, empty if nothing: names from memaudit count by the content that they stand for."""
    module = _module(path)
    return _hashed(module.syntax, {local: _stands_for(dotted) for local, dotted in module.ours.items()})


@cache
def _content(path: Path) -> bytes:
    """As `_meaning`, but whatever the modules hold that it imports from; a loop of imports ends here."""
    module = _module(path)
    return _hashed(module.syntax, {local: _name(dotted) for local, dotted in module.ours.items()})


def _stands_for(dotted: str) -> str:
    """A module by its content, a thing in a module by its name and that module's content; plumbing by its name."""
    path = _file(dotted) or _file(dotted.rpartition(".")[0])
    if path is None or _is_plumbing(path):
        return _name(dotted)
    return f"{_name(dotted)} of {_content(path).hex()}"


def _name(dotted: str) -> str:
    """Name of a thing in a module; a module's own name does not count."""
    return "module" if _file(dotted) else dotted.rsplit(".", maxsplit=1)[-1]


def _hashed(syntax: str, names: Mapping[str, str]) -> bytes:
    named = NAME.sub(lambda found: names.get(found[1], found[0]), syntax)
    return hashlib.sha256(named.encode()).digest() if syntax else b""


@cache
def _reached(path: Path) -> set[Path]:
    """Files of ours that a module imports directly."""
    return {file for name in imports(path) for file in _files(name)}


def _imports_memaudit(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return bool(node.level) or (node.module or "").split(".")[0] == "memaudit"
    return isinstance(node, ast.Import) and all(alias.name.split(".")[0] == "memaudit" for alias in node.names)


def _bindings(path: Path, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(local name, dotted name) of everything that a module imports when it runs, at any depth."""
    package = path.relative_to(SCRIPTS).parent.parts
    for node in _statements(tree, run=True):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((alias.asname or alias.name, f"{module}.{alias.name}") for alias in node.names)


def _imported_names(bound: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for _, dotted in bound:
        yield dotted
        yield dotted.rpartition(".")[0] or dotted


def _statements(tree: ast.Module, *, run: bool = False) -> Iterator[ast.AST]:
    """The module and all statements in it, at any depth; with `run` none that a type checker alone sees."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if run and isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            todo.extend(node.orelse)
        else:
            yield node
            todo.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, HOLDS_STATEMENTS))


@cache
def _file(name: str) -> Path | None:
    """File of a module or package of ours; None for anything else."""
    stem = SCRIPTS.joinpath(*name.split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path in _read()), None)


@cache
def _files(name: str) -> list[Path]:
    """The module's file and the `__init__` of each package above it, where they are ours."""
    parts = name.split(".")
    packages = [SCRIPTS.joinpath(*parts[: i + 1], "__init__.py") for i in range(len(parts))]
    return [path for path in [*packages, SCRIPTS.joinpath(*parts).with_suffix(".py")] if path in _read()]
