"""Results of a stage: files that have vanished, and whether the page is that of the request."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memaudit.auditing import stages
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.workflow.sidecar import read_all

FACTS = "table/facts.json"
ENDS = ("index.html", "summary.json", "risk.parquet")
# With these options Snakemake succeeds without making all results.
IDLE = ("--dry-run", "--dryrun", "--touch", "--until", "--omit-from", "--unlock", "--lint")
IDLE_LETTERS, FLAGS = "ntUO", "pkFfq"  # FLAGS may stand before others in one word, as in -pn


def refuse_idle(options: Sequence[str]) -> None:
    """Raise AuditError for an option of Snakemake, perhaps shortened, with which it makes no page."""
    for option in options:
        name = option.partition("=")[0]
        if name.startswith("--"):
            idle = len(name) > 2 and any(one.startswith(name) for one in IDLE)
        else:
            idle = name.startswith("-") and name[1:].lstrip(FLAGS)[:1] in tuple(IDLE_LETTERS)
        if idle:
            raise AuditError(f"{name}: with this option Snakemake makes no page; leave it out")


def vanished(folder: Path, stage: str) -> list[str]:
    """Paths, relative to the folder, of files behind the page that were made and are gone, with their folders.

    Snakemake itself does not miss a file behind a page that exists.
    """
    made = {
        path: one for one in read_all(folder / "results" / stage / "provenance").values() for path in one["outputs"]
    }
    todo, seen, gone = [f"results/{stage}/audit/{stages.NAME}/{name}" for name in ENDS], set(), []
    while todo:
        path = todo.pop()
        if path in made and path not in seen:
            seen.add(path)
            todo += made[path]["inputs"]
            if not (folder / path).exists():
                # Of a rule whose output is a folder the files are recorded.
                parents = [str(parent) for parent in Path(path).parents if len(parent.parts) > 2]
                gone += [path, *parents]
    return sorted(set(gone))


def check(folder: Path, stage: str, config: Mapping[str, Any], options: Sequence[str]) -> None:
    """Raise AuditError unless the stage's page was made from this intake with this config.

    With some of its options Snakemake succeeds without a job, beside the page of another request.
    """
    sidecar = folder / "results" / stage / "provenance/audit_write_page" / f"{stages.NAME}.json"
    record = read_json(sidecar) if sidecar.exists() else {"inputs": {}, "params": {}}
    facts, params = record["inputs"].get(FACTS), record["params"]
    same = all(params.get("audit", {}).get(key) == value for key, value in config["audit"].items())
    if not same or params.get("seed") != config["seed"] or facts != sha256(folder / FACTS):
        raise AuditError(
            f"Snakemake has made no page of this request; leave out {' '.join(options) or 'options of its profile'}, "
            "and give the command again"
        )
