"""Files of a model's folder."""

from pathlib import Path

from memaudit.errors import AuditError


def the_file(weights: Path) -> Path:
    """The one file of a weights folder. Raises AuditError if there is none, or more."""
    # Hidden files are Snakemake's or the file system's.
    files = sorted(path for path in Path(weights).glob("[!.]*") if path.is_file())
    if len(files) != 1:
        raise AuditError(f"{weights}: {len(files)} files, where one checkpoint should be; fetch the model anew")
    return files[0]
