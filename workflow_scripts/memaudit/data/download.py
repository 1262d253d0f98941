"""Download of one file by HTTP: resumed where the server allows it, checked, and put in place only when complete."""

import fcntl
import hashlib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.common.progress_bar import steps

BLOCK = 1 << 20


def download(url: str, path: Path, sha256: str | None = None, timeout: float = 60.0) -> None:
    """Download `url` to `path`; an existing file with the right checksum is kept.

    An interrupted download is kept beside it as `.part` and resumed with a Range request (with If-Range, so that a file
    that has changed since is downloaded again), or restarted if the server supports no ranges. Raises AuditError where
    the server cannot be reached, the body ends early, or the checksum differs.
    """
    if not url.startswith(("https://", "http://")):
        raise AuditError(f"{url}: only http and https addresses are fetched; take a local file as `file`")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        if not path.exists():
            part = path.with_name(path.name + ".part")
            _complete(url, part, timeout)
            try:
                check(part, sha256, url)
            except AuditError:
                part.unlink()
                raise
            part.replace(path)
            _validator(part).unlink(missing_ok=True)
        check(path, sha256, url)


def check(path: Path, expected: str | None, name: object) -> str:
    """Return the SHA-256 of a file. Raises AuditError if it differs from the expected one."""
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if expected is not None and found != expected.lower():
        raise AuditError(
            f"{name}: its sha256 is {found}, not {expected}; the file changed or is damaged (delete {path})"
        )
    return found


def _complete(url: str, part: Path, timeout: float) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "memaudit", "Accept-Encoding": "identity"})
    have = part.stat().st_size if part.exists() and _validator(part).exists() else 0
    if have:
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", _validator(part).read_text())
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            _receive(response, part, append=response.status == 206)
    except urllib.error.HTTPError as error:
        if have and error.code == 416:
            part.unlink()
            return _complete(url, part, timeout)
        raise AuditError(f"{url}: the server answers {error.code} {error.reason}; is the address right?") from None
    except (OSError, HTTPException) as error:
        have = part.stat().st_size if part.exists() else 0
        raise AuditError(f"{url}: {error} after {have} bytes, kept in {part}; run again to resume") from None
    return None


def _receive(response: HTTPResponse, part: Path, append: bool) -> None:
    tag = response.headers.get("ETag", "")
    validator = tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified")
    if validator:
        _validator(part).write_text(validator)
    else:
        _validator(part).unlink(missing_ok=True)
    length = response.headers.get("Content-Length")
    received, announced = 0, None if length is None else int(length)
    with open(part, "ab" if append else "wb") as file, steps(what=part.name, total=announced, unit="B") as seen:
        while block := response.read(BLOCK):
            file.write(block)
            received += len(block)
            seen.update(len(block))
    # An interrupted connection looks like the end of the body: only the announced length distinguishes them.
    if announced is not None and received < announced:
        raise ConnectionError(f"cut off at {received} of {announced} bytes")


def _validator(part: Path) -> Path:
    return part.with_name(part.name + ".validator")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a download: several jobs may need one archive at once; the first downloads it, the others wait."""
    with open(path.with_name(path.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
