"""A tar archive of given contents."""

import io
import tarfile


def packed(path, contents, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path
