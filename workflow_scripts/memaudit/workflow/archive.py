"""One file that holds a run: results, sidecars, inputs, config, lock, rules; and the check of such a file anywhere.

Below one folder stand SHA256SUMS (as `sha256sum --check` reads it), a description for programs (run_crate), every file
at the path that the sidecars know it by, and inputs from elsewhere under outside/. The key of the record ids stays at
home.
"""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, replacing
from memaudit.common.project_paths import PROJECT
from memaudit.workflow import run_crate
from memaudit.workflow.provenance import ENDS, Checked, results_of, verify, walk
from memaudit.workflow.run_crate import CRATE
from memaudit.workflow.sidecar import project_version

SUMS = "SHA256SUMS"
KEY = "data/id.key"
PINS = ("requirements*.lock", "envs/*.yaml", "Snakefile", "rules/*.smk", "rules/*/*.smk")


def write(run: str, path: str | Path) -> Checked:
    """Archive the run whose folder is `run` (results/<run>) as `path`, a .tar.gz of mode 0600.

    Equal runs give equal bytes: sorted names, no times, no owners. Raises AuditError where the run does not verify, or
    where what was written does not: a file may change meanwhile.
    """
    if not Path(run, "config.yaml").exists():
        raise AuditError(f"{run}/config.yaml: not there, the run is not finished; run `snakemake --cores all` first")
    checked = verify(run)
    hashes = {member(name): found for name, found in checked.hashes.items() if name != f"{run}/{KEY}"}
    sources = {member(name): Path(name) for name in checked.hashes if member(name) in hashes}
    pins = {str(pin.relative_to(PROJECT)): pin for kind in PINS for pin in PROJECT.glob(kind)}
    for name, source in (*pins.items(), *((name, Path(name)) for name in checked.sidecars)):
        sources[name], hashes[name] = source, sha256(source)
    crate = _describe(run, checked, hashes)
    hashes[CRATE] = hashlib.sha256(crate).hexdigest()
    sums = "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))
    with replacing(path) as temporary:
        _pack(temporary, Path(run).name, {SUMS: sums.encode(), CRATE: crate, **sources})
        check(temporary)
    return checked


def _describe(run: str, checked: Checked, hashes: Mapping[str, str]) -> bytes:
    """The description of the run as an RO-Crate."""
    recorded = {member(path): path for path in checked.hashes if member(path) in hashes}
    records = {name: read_json(name) for name in checked.sidecars}
    results = results_of(run, ENDS)
    crate = run_crate.describe(run, hashes, recorded, results, records, project_version())
    return f"{json.dumps(crate, indent=1)}\n".encode()


def check(path: str | Path) -> Checked:
    """Check an archive, packed or unpacked into a folder: every member against SHA256SUMS, then sidecar by sidecar.

    Nothing is unpacked. Raises AuditError at the first member that is missing, changed, extra, cut off or unsafe.
    """
    tops, hashes, texts = _read_folder(path) if Path(path).is_dir() else _read_tar(path)
    _compare(_sums(texts.pop(SUMS, b"").decode(errors="replace"), path), hashes, path)
    crate = texts.pop(CRATE, None)
    runs = {"/".join(name.split("/")[:2]) for name in hashes if name.startswith("results/")}
    if len(runs) != 1 or not texts:
        raise AuditError(f"{path}: holds no run with its sidecars, or more than one; {_again()}")
    (run,) = runs
    if stray := sorted(tops - {Path(run).name}):
        raise AuditError(f"{path}: {stray[0]!r} stands beside its one folder {Path(run).name!r}; {_again()}")
    ends = [name for name in hashes if name.startswith(tuple(f"{run}/{kind}" for kind in ENDS))]
    if set(ends) <= {f"{run}/config.yaml"}:
        raise AuditError(f"{path}: holds no results; {_again()}")

    def hash_of(recorded: str) -> str | None:
        if recorded == f"{run}/{KEY}":
            return None
        if member(recorded) not in hashes:
            raise AuditError(f"{path}: {recorded} is missing, though a sidecar records it; {_again()}")
        return hashes[member(recorded)]

    checked = walk(ends, _records(texts, path), hash_of, _again)
    if crate is not None:
        _check_crate(crate, hashes, path)
    known = {member(name) for name, found in checked.hashes.items() if found} | {*checked.sidecars, SUMS, CRATE}
    for name in sorted(hashes.keys() - known):
        if not any(PurePosixPath("/", name).match(f"/{pin}") for pin in PINS):
            raise AuditError(f"{path}: {name} does not belong to it (no result rests on it); {_again()}")
    return checked


def _check_crate(text: bytes, hashes: Mapping[str, str], path: str | Path) -> None:
    try:
        run_crate.check(json.loads(text), hashes)
    except (ValueError, AuditError) as error:
        raise AuditError(f"{path}: {CRATE}: {error}; {_again()}") from error


def _compare(sums: Mapping[str, str], hashes: Mapping[str, str], path: str | Path) -> None:
    for name in sorted(sums.keys() | hashes.keys() - {SUMS}):
        if name not in hashes:
            raise AuditError(f"{path}: {name} is missing; {_again()}")
        if name not in sums:
            raise AuditError(f"{path}: {name} does not belong to it ({SUMS} does not know it); {_again()}")
        if hashes[name] != sums[name]:
            raise AuditError(f"{path}: {name} was changed; {_again()}")


def _records(texts: Mapping[str, bytes], path: str | Path) -> dict[str, Any]:
    """Sidecars by name."""
    try:
        return {name: json.loads(text) for name, text in texts.items()}
    except ValueError as error:
        raise AuditError(f"{path}: holds a sidecar that is no JSON ({error}); {_again()}") from error


def member(path: str) -> str:
    """Name in the archive of a path that a sidecar records: itself, or one under outside/ where it leads elsewhere."""
    parts = PurePosixPath(path)
    if not parts.is_absolute() and ".." not in parts.parts and re.fullmatch(r"[\w.,=+@ /-]+", path):
        return path
    plain = re.sub(r"[^\w.-]", "_", parts.name)[-100:]
    return f"outside/{hashlib.sha256(path.encode()).hexdigest()[:16]}-{plain}"


def _again(_: str = "") -> str:
    return "this is not the archive that was made: get it again from its source"


def _pack(path: Path, top: str, contents: Mapping[str, bytes | Path]) -> None:
    """Write the archive: the sums first, then all else by name. contents: what a member holds, or its file."""
    with (
        open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file,
        gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(contents, key=lambda name: (name != SUMS, name)):
            held = contents[name]
            with io.BytesIO(held) if isinstance(held, bytes) else open(held, "rb") as content:
                size = len(held) if isinstance(held, bytes) else os.fstat(content.fileno()).st_size
                _add(archive, f"{top}/{name}", size, content)


def _add(archive: tarfile.TarFile, name: str, size: int, content: BinaryIO) -> None:
    # A TarInfo of its own has no times and no owners.
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    archive.addfile(entry, content)


def _sums(text: str, path: str | Path) -> dict[str, str]:
    """Hash by name, from the lines of SHA256SUMS."""
    lines = [re.fullmatch(r"([0-9a-f]{64})  (.+)", line) for line in text.splitlines()]
    if not lines or None in lines:
        raise AuditError(f"{path}: has no readable {SUMS}; is it an archive that `snakemake archive` made?")
    return {line[2]: line[1] for line in lines}


def _read_tar(path: str | Path) -> tuple[set[str], dict[str, str], dict[str, bytes]]:
    """Top folders, hash of every member, bytes of SHA256SUMS and the sidecars. Raises AuditError for unsafe members."""
    tops: set[str] = set()
    hashes: dict[str, str] = {}
    texts: dict[str, bytes] = {}
    with _readable(path), tarfile.open(path, "r:gz") as archive:
        for entry in archive:
            top, _, name = entry.name.partition("/")
            tops.add(top)
            if not entry.isreg() or not name or member(entry.name) != entry.name or name in hashes:
                raise AuditError(
                    f"{path}: {entry.name!r} is a link, leads out of its folder, or stands twice; delete it"
                )
            _take(name, archive.extractfile(entry), hashes, texts)
        while archive.fileobj.read(1 << 20):  # the checksum of gzip stands behind the last member
            pass
    return tops, hashes, texts


def _read_folder(folder: str | Path) -> tuple[set[str], dict[str, str], dict[str, bytes]]:
    """The same of an unpacked archive, whose one folder may have another name by now."""
    hashes: dict[str, str] = {}
    texts: dict[str, bytes] = {}
    with _readable(folder):
        for path in sorted(Path(folder).rglob("*")):
            if path.is_symlink():
                raise AuditError(f"{path}: is a link, an archive holds none; delete it")
            if path.is_file():
                with open(path, "rb") as content:
                    _take(path.relative_to(folder).as_posix(), content, hashes, texts)
    return set(), hashes, texts


def _take(name: str, content: Any, hashes: dict[str, str], texts: dict[str, bytes]) -> None:
    if name in {SUMS, CRATE} or re.fullmatch(r"results/[^/]+/provenance/.+\.json", name):
        texts[name] = content.read()
        # To seek back in a packed archive is to unpack it again from its beginning.
        content = io.BytesIO(texts[name])
    hashes[name] = hashlib.file_digest(content, "sha256").hexdigest()


@contextmanager
def _readable(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise AuditError(f"{path}: cannot be read to its end ({error}); copy it again from its source") from error
