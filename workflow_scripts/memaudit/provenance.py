"""Follow every figure and table back to raw data through the sidecars on disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memaudit.digest import sha256
from memaudit.errors import AuditError
from memaudit.sidecar import read_all


def verify(run: str | Path) -> dict[str, int]:
    """Check that every result of a run is the one that its recorded inputs, back to the raw data, have made.

    run: the folder results/<run>; paths in sidecars are relative to the folder that holds `results`.
    Returns the number of end results and of files checked, and of sidecars that no result rests on any more.
    Raises AuditError at the first file that is missing, changed, unaccounted for, or made from an older input.
    """
    run = Path(run)
    records = read_all(run / "provenance")
    if not records:
        raise AuditError(f"{run}/provenance: no sidecars; nothing has been computed yet, run `snakemake --cores all`")
    made = {path: (name, record) for name, record in records.items() for path in record["outputs"]}
    ends = [str(path) for kind in ("figures", "tables", "report") for path in _files(run / kind)]
    seen: dict[str, str] = {}
    for path in ends:
        if path not in made:
            raise AuditError(f"{path}: no rule of this run accounts for it; delete it or run `snakemake {path}`")
        _verify(path, made, seen)
    leftover = [name for name, record in records.items() if not seen.keys() & record["outputs"].keys()]
    return {"results": len(ends), "files": len(seen), "leftover": len(leftover)}


def _verify(path: str, made: dict[str, tuple[str, dict[str, Any]]], seen: dict[str, str]) -> None:
    """Depth first, so that the file named is the one nearest to the raw data."""
    todo = [(path, False)]
    while todo:
        path, inputs_done = todo.pop()
        if path in seen:
            continue
        if path in made and not inputs_done:
            todo.append((path, True))
            todo += [(source, False) for source in made[path][1]["inputs"]]
            continue
        seen[path] = _hash(path)
        if path in made:
            sidecar, record = made[path]
            for source, recorded in record["inputs"].items():
                if seen[source] != recorded:
                    raise AuditError(f"{source}: differs from what {sidecar} records as its input; {_mend(path)}")
            if seen[path] != record["outputs"][path]:
                raise AuditError(f"{path}: changed since it was made ({sidecar}); {_mend(path)}")


def _mend(path: str) -> str:
    return f"make it again with `snakemake --cores all --forcerun {path}`"


def _hash(path: str) -> str:
    if not Path(path).exists():
        raise AuditError(f"{path}: missing, though a sidecar records it; make it again with `snakemake --cores all`")
    return sha256(path)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
