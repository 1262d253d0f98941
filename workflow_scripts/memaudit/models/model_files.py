"""The weight file of a model's folder, and the errors of files that cannot be read."""

import struct
from pathlib import Path
from pickle import UnpicklingError

from safetensors import SafetensorError

from memaudit.common.errors import AuditError

# What torch and the packages raise for a file that is damaged or has other contents.
UNREADABLE = (OSError, EOFError, RuntimeError, LookupError, ValueError, TypeError, AttributeError)
UNREADABLE += (ArithmeticError, AssertionError, UnpicklingError, SafetensorError, struct.error)


def reason(error: Exception) -> str:
    """Return why a file cannot be read, in one line of at most 200 characters."""
    if isinstance(error, UnpicklingError) and "weights_only" in str(error):
        return "it holds more than tensors and plain values, or is damaged"  # torch advises to unpickle it nevertheless
    return " ".join(str(error).split())[:200] or type(error).__name__


def the_file(weights: Path) -> Path:
    """Return the only file of a weights folder. Raises AuditError if there is none, or several."""
    # Hidden files are Snakemake's or the file system's.
    files = sorted(path for path in Path(weights).glob("[!.]*") if path.is_file())
    if len(files) != 1:
        raise AuditError(f"{weights}: {len(files)} files, expected one checkpoint; fetch the model again")
    return files[0]
