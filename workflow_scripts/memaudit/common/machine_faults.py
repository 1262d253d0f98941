"""A full disk, missing permissions and a lack of memory, known by the errors of several libraries."""

import errno
import os

from memaudit.common.errors import AuditError

AGAIN = "run the same command again, it goes on from here"
RIGHTS = "this user must be able to read and write there; change its permissions or use another folder"
FULL = os.strerror(errno.ENOSPC)
DISK = {
    errno.ENOSPC: f"free some, and {AGAIN}",
    errno.EDQUOT: f"free some, and {AGAIN}",
    errno.EACCES: RIGHTS,
    errno.EPERM: RIGHTS,
    errno.EROFS: RIGHTS,
}


def disk_fault(error: BaseException, place: str) -> str | None:
    """The line for the user about a fault of the disk; None for another error. place: named if the error names none."""
    full = FULL in str(error) and not isinstance(error, AuditError)  # DuckDB has errors of its own, which quote this
    code = error.errno if isinstance(error, OSError) else errno.ENOSPC if full else None
    if code not in DISK:
        return None
    # Of a copy the second name is that of the target.
    named = getattr(error, "filename2", None) or getattr(error, "filename", None)
    return f"{named or place}: {os.strerror(code).lower()}; {DISK[code]}"


def is_out_of_memory(error: BaseException) -> bool:
    """Torch and DuckDB have classes of their own for it; on the CPU torch has none, and its oneDNN a vague text."""
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or type(error).__name__ in {"OutOfMemoryError", "OutOfMemoryException"}
        or "can't allocate memory" in str(error)
        or str(error) == "could not create a primitive"
    )
