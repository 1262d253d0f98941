"""Documents of a corpus: of an installed package, a local file, or a data set on the Hugging Face hub.

Code of a package is Python, without what is text in it: comments, docstrings and strings of LONGEST_STRING characters
or of several lines. Code of a file or of the hub is taken as it is, in whatever language.
"""

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from memaudit.common.errors import AuditError
from memaudit.data.installed_packages import installed, parsed_files

SHORTEST = 50  # characters of a document, as in the authors' code
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LONGEST_STRING = 40  # characters; longer constants are messages and documentation, and not names, keys or formats
CONVERTED = "refs/convert/parquet"  # the hub's own copy of every data set, as Parquet


def documents_of(entry: Mapping[str, Any], rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a corpus's documents (columns document, text) in random order, and facts: origin, sha256 of the contents.

    entry: source (`package`: package, whose docstrings are the text; `file`: path; `hub`: name, subset, split),
    content (`text` or `code`), text_columns, document_start (see `whole_documents`), characters (where reading stops;
    None: never), document_characters (of a longer document a random excerpt of that length is read; None: all), and the
    expected sha256 of the contents, or None. Raises AuditError for a source that cannot be read, lacks a column, is
    empty or has other contents.
    """
    match entry["source"]:
        case "package":
            origin, documents = _package(entry["package"], entry["content"], rng)
        case "file":
            table = whole_documents(read_texts(entry["path"], entry["text_columns"]), entry.get("document_start"))
            origin, documents = f"file {entry['path']}", _shuffled(table, rng)
        case "hub":
            origin, documents = _hub(entry, rng)
        case other:
            raise AuditError(f"a corpus's source is package, file or hub, not {other}; see config/README.md")
    excerpts = _excerpts(documents, entry.get("document_characters"), rng)
    table = pd.DataFrame(_until(excerpts, entry["characters"]), columns=["document", "text"])
    if table.empty:
        raise AuditError(f"{origin}: no document of {SHORTEST} characters or more; choose another source")
    lines = sorted(f"{hashlib.sha256(text.encode()).hexdigest()}\n" for text in table["text"])
    sha256 = hashlib.sha256("".join(lines).encode()).hexdigest()
    if entry.get("sha256") not in (None, sha256):
        raise AuditError(
            f"{origin}: sha256 of its contents is {sha256}, not {entry['sha256']}; it is a different version"
        )
    size = int(table["text"].str.len().sum())
    return table, {"origin": origin, "documents": len(table), "characters": size, "sha256": sha256}


def read_texts(path: str | Path, columns: Sequence[str] = ("text",)) -> pd.DataFrame:
    """Return the texts of a file (columns document, text): lines of a .txt, rows of a .csv, .tsv, .jsonl or .parquet.

    Documents are named by their number; blank ones are left out. The columns of a table are joined by line breaks;
    every .txt below a folder is one document. Raises AuditError for a file that is missing, of another kind, not UTF-8,
    or lacks a column.
    """
    path = Path(path).expanduser()
    readers = {".csv": _csv, ".tsv": _csv, ".jsonl": _json_lines, ".parquet": pd.read_parquet}
    try:
        if path.is_dir():
            files = sorted(path.rglob("*.txt"))
            texts = [(file.relative_to(path).as_posix(), file.read_text(encoding="utf-8")) for file in files]
            return pd.DataFrame(texts, columns=["document", "text"])
        if path.suffix == ".txt":
            documents = path.read_text(encoding="utf-8").split("\n")
        elif path.suffix in readers:
            table = readers[path.suffix](path)
            if missing := set(columns) - set(table.columns):
                raise AuditError(f"{path}: no column {sorted(missing)[0]!r}, there are {', '.join(table.columns)}")
            documents = _joined(table[list(columns)])
        else:
            raise AuditError(f"{path}: texts are read from .txt, {', '.join(readers)} and folders of .txt")
    except (OSError, ValueError) as error:
        line = str(error).partition("\n")[0]
        raise AuditError(f"{path}: no texts can be read ({line}); give an existing file in UTF-8") from error
    texts = [(str(number), text) for number, text in enumerate(filter(str.strip, documents), 1)]
    return pd.DataFrame(texts, columns=["document", "text"])


def whole_documents(rows: pd.DataFrame, start: str | None) -> pd.DataFrame:
    """Return rows (columns document, text) joined to documents, which begin with the rows that match a pattern.

    start: regular expression that such a row begins with, without blanks around it; None: each row is a document. Rows
    before the first are a document of their own. Raises AuditError if no row matches.
    """
    if start is None:
        return rows
    first = rows["text"].str.strip().str.match(start)
    if not first.any():
        raise AuditError(f"no text matches document_start {start!r}; correct the pattern, or leave it out")
    return rows.groupby(first.cumsum().to_numpy()).agg({"document": "first", "text": "\n".join}).reset_index(drop=True)


def _csv(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", dtype=str, keep_default_na=False)


def _json_lines(path: Path) -> pd.DataFrame:
    return pd.read_json(path, lines=True, dtype=False)


def _joined(table: pd.DataFrame) -> list[str]:
    return ["\n".join(row) for row in table.fillna("").astype(str).itertuples(index=False)]


def _package(name: str, content: str, rng: np.random.Generator) -> tuple[str, Iterator[tuple[str, str]]]:
    """Documents of an installed package, one per file."""
    read = {"text": _docstrings, "code": _code}[content]
    documents = ((file, read(tree)) for file, tree in parsed_files(name, rng))
    return f"{content} of {name} {installed(name).version}", documents


def _docstrings(tree: ast.Module) -> str:
    nodes = (node for node in ast.walk(tree) if isinstance(node, DOCUMENTED))
    return "\n\n".join(filter(None, map(ast.get_docstring, nodes)))


def _code(tree: ast.Module) -> str:
    """Code without comments, docstrings and long strings, formatted again."""
    return ast.unparse(ast.fix_missing_locations(_WithoutTexts().visit(tree)))


class _WithoutTexts(ast.NodeTransformer):
    """Empties long string constants wherever they stand, and drops statements that are a string alone."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        text = isinstance(node.value, str | bytes)
        if text and (len(node.value) > LONGEST_STRING or len(node.value.splitlines()) > 1):
            return ast.Constant(type(node.value)())
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                kept = [one for one in statements if not _is_string(one)]
                optional = name == "orelse" or isinstance(node, ast.Module)
                setattr(node, name, kept if kept or optional or not statements else [ast.Pass()])
        return super().generic_visit(node)


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _hub(entry: Mapping[str, Any], rng: np.random.Generator) -> tuple[str, Iterator[tuple[str, str]]]:
    """Documents of a data set on the hub, one per row of its Parquet copy; only as many files as are needed.

    The only token that is used is that of the variable HF_TOKEN.
    """
    import httpx2  # the hub client's, whose errors it passes on
    from huggingface_hub import HfApi, hf_hub_download

    name, subset, split = entry["name"], entry.get("subset") or "default", entry.get("split") or "train"
    request = {"repo_type": "dataset", "revision": entry.get("revision") or CONVERTED}
    request |= {"token": os.environ.get("HF_TOKEN") or False}
    folders = (f"{subset}/{split}/", f"{subset}/partial-{split}/")

    def rows() -> Iterator[tuple[str, str]]:
        try:
            listed = sorted(file for file in HfApi().list_repo_files(name, **request) if file.startswith(folders))
            for file in listed:
                table = read_texts(hf_hub_download(name, file, **request), entry["text_columns"])
                table = whole_documents(table, entry.get("document_start"))
                yield from _shuffled(table.assign(document=f"{file} " + table["document"]), rng)
        except (OSError, httpx2.HTTPError) as error:
            line = str(error).partition("\n")[0]
            raise AuditError(
                f"corpus {name}: cannot be fetched from the hub ({line}); fetch it once with a network, or give its"
                " Parquet or CSV file as `source: file`"
            ) from error

    return f"{name}, {subset}, {split}, {request['revision']}", rows()


def _shuffled(table: pd.DataFrame, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    return table.iloc[rng.permutation(len(table))][["document", "text"]].itertuples(index=False, name=None)


def _excerpts(
    documents: Iterable[tuple[str, str]], longest: int | None, rng: np.random.Generator
) -> Iterator[tuple[str, str]]:
    """Documents, and of each that is longer than `longest` characters a random excerpt."""
    for name, text in documents:
        if longest is not None and len(text) > longest:
            first = rng.integers(len(text) - longest + 1)
            yield name, text[first : first + longest]
        else:
            yield name, text


def _until(documents: Iterable[tuple[str, str]], characters: int | None) -> Iterator[tuple[str, str]]:
    """Documents that are long enough, up to a total number of characters."""
    read = 0
    for name, text in documents:
        if characters is not None and read >= characters:
            return
        if len(text) >= SHORTEST:
            read += len(text)
            # A lone surrogate, which an escape sequence can produce, has no UTF-8.
            yield name, text.encode("utf-8", "replace").decode("utf-8")
