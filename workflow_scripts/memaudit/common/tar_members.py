"""Files inside a tar archive as its makers publish it: the archive has the checksum, nothing is unpacked."""

import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from memaudit.common.errors import AuditError


def is_archive(path: str | Path) -> bool:
    """Whether a path has the name of a tar archive, compressed or not."""
    return Path(path).name.endswith((".tar", ".tar.gz", ".tgz"))


def read_members(path: str | Path, names: Sequence[str]) -> list[bytes]:
    """Contents of the named files of an archive, in the order of the names.

    Raises AuditError for a file that is no tar archive, or lacks one of the names.
    """
    try:
        with tarfile.open(path) as archive:
            found = {entry.name.removeprefix("./"): entry for entry in archive if entry.isfile()}
            if missing := [name for name in names if name not in found]:
                raise AuditError(f"{path}: has no file {missing[0]}; give the archive as it was published")
            # One entry after the other as they stand in the archive: going back would decompress it anew.
            contents = {
                name: archive.extractfile(found[name]).read()
                for name in sorted(names, key=lambda one: found[one].offset)
            }
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise AuditError(f"{path}: cannot be read as a tar archive ({error}); download it again") from error
    return [contents[name] for name in names]
