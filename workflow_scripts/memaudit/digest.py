"""What a result depends on besides its inputs: the code and the environment that made it. Standard library only.

Snakemake does not see edits to a script's library nor, without `--sdm`, to its environment. Each rule therefore carries
`digest(...)` in its params: an edit reruns exactly the rules that reach the edited module.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from memaudit.errors import AuditError

SCRIPTS = Path(__file__).resolve().parents[1]
ENVS = SCRIPTS.parent / "envs"
TIMESTAMP = ".snakemake_timestamp"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
HOLDS_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)


@cache
def digest(script: str, env: str) -> str:
    """Hash of a rule's code and of its environment's pins: 16 hex digits.

    Raises FileNotFoundError for an unknown script or environment.
    """
    return hashlib.sha256(code(script).encode() + _pins(ENVS / f"{env}.yaml")).hexdigest()[:16]


def code(script: str) -> str:
    """Hash of a script, of every memaudit module that it reaches and of their templates.

    Comments, docstrings and layout of code do not count; of a template every byte does.
    """
    sha = hashlib.sha256()
    modules = closure(script)
    for path in sorted(modules | templates(modules)):
        sha.update(str(path.relative_to(SCRIPTS)).encode() + b"\0" + _meaning(path))
    return sha.hexdigest()[:16]


def closure(script: str) -> set[Path]:
    """The script's file and those of all memaudit modules that it imports, directly or not, packages included."""
    found, todo = set(), [SCRIPTS / f"{script}.py"]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += _reached(path)
    return found


def templates(modules: set[Path]) -> set[Path]:
    """Files that modules fill in: all that stand in a folder `templates` beside one of them."""
    folders = {path.parent / "templates" for path in modules}
    return {path for folder in folders for path in folder.rglob("*") if path.is_file()}


def sha256(path: str | Path) -> str:
    """Hash of a file's bytes, read in blocks; of a folder, of the names and hashes of all files in it."""
    if Path(path).is_dir():
        lines = (f"{file.relative_to(path).as_posix()}\0{sha256(file)}\n" for file in files_of(path))
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_sum(path: str | Path, expected: str | None, where: str) -> None:
    """Raise AuditError if a file's or folder's hash is not the expected one; None expects nothing."""
    if expected and (found := sha256(path)) != expected:
        raise AuditError(f"{where}: sha256 of {path} is {found}, the catalogue says {expected}; fetch it again")


def files_of(path: str | Path) -> list[Path]:
    """The path itself, or all files of a folder, without the one with which Snakemake marks a folder as made."""
    if not Path(path).is_dir():
        return [Path(path)]
    return sorted(file for file in Path(path).rglob("*") if file.is_file() and file.name != TIMESTAMP)


@cache
def _pins(path: Path) -> bytes:
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line).encode()


@cache
def _module(path: Path) -> tuple[bytes, tuple[str, ...]]:
    """What a module means without its docstrings, and the names that it imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = tuple(_imported_names(path, tree))
    for node in _statements(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree).encode(), names


def _meaning(path: Path) -> bytes:
    return _module(path)[0] if path.suffix == ".py" else path.read_bytes()


def imports(path: Path) -> tuple[str, ...]:
    """Names of the modules, and perhaps of things in them, that a module imports."""
    return _module(path)[1]


@cache
def _reached(path: Path) -> set[Path]:
    """Files of ours that a module imports directly."""
    return {file for name in imports(path) for file in _files(name)}


def _imported_names(path: Path, tree: ast.Module) -> Iterator[str]:
    package = path.relative_to(SCRIPTS).parent.parts
    for node in _statements(tree, run=True):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


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
def _files(name: str) -> list[Path]:
    """The module's file and the `__init__` of each package above it, where they are ours."""
    parts = name.split(".")
    packages = [SCRIPTS.joinpath(*parts[: i + 1], "__init__.py") for i in range(len(parts))]
    return [path for path in [*packages, SCRIPTS.joinpath(*parts).with_suffix(".py")] if path.exists()]
