"""A server on 127.0.0.1 that stands in for the Hugging Face hub, OpenML and plain addresses, from one folder.

hub/{models,datasets}/<owner>/<name>/...    repositories, each of one revision
openml/<id>.xml                             descriptions of data sets
files/...                                   plain files, as /files/...
"""

import hashlib
import json
import shutil
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "a" * 40  # the one revision of every repository


def server_of(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a folder on a port, or on a free one (0); `serve_forever` runs it."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, folder))


class Handler(BaseHTTPRequestHandler):
    """Answers what the clients huggingface_hub and openml, and plain downloads, ask for."""

    def __init__(self, folder: Path, *arguments):
        self.folder = folder
        super().__init__(*arguments)

    def do_HEAD(self):
        self._answer(body=False)

    def do_GET(self):
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        match parts:
            case ["api", ("models" | "datasets") as kind, owner, name, *rest]:
                self._list(self.folder / "hub" / kind / owner / name, f"{owner}/{name}", "tree" in rest[:1])
            case ["datasets", owner, name, "resolve", _, *file]:
                self._send(self.folder.joinpath("hub", "datasets", owner, name, *file), body)
            case [owner, name, "resolve", _, *file]:
                self._send(self.folder.joinpath("hub", "models", owner, name, *file), body)
            case ["api", "v1", "xml", "data", number]:
                self._send(self.folder / "openml" / f"{number}.xml", body)
            case ["files", *file]:
                self._send(self.folder.joinpath("files", *file), body)
            case _:
                self._missing()

    def _list(self, repository: Path, name: str, tree: bool) -> None:
        """The files of a repository, as its tree or as what is known about it."""
        if not repository.is_dir():
            self._missing()
            return
        files = sorted(path for path in repository.rglob("*") if path.is_file())
        names = {path.relative_to(repository).as_posix(): path.stat().st_size for path in files}
        entries = [{"type": "file", "path": path, "oid": "1", "size": size} for path, size in names.items()]
        known = {"id": name, "sha": COMMIT, "siblings": [{"rfilename": path} for path in names]}
        content = json.dumps(entries if tree else known).encode()
        self._head(len(content), {"Content-Type": "application/json"})
        self.wfile.write(content)

    def _send(self, path: Path, body: bool) -> None:
        if ".." in path.parts or not path.is_file():
            self._missing()
            return
        with open(path, "rb") as file:
            etag = hashlib.file_digest(file, "sha256").hexdigest()
            self._head(path.stat().st_size, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})
            file.seek(0)
            if body:
                shutil.copyfileobj(file, self.wfile)

    def _head(self, length: int, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in (headers | {"Content-Length": str(length)}).items():
            self.send_header(name, value)
        self.end_headers()

    def _missing(self) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass
