"""Results of a stage: what rests on files that are gone, and whether the page is that of the request."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memaudit.auditing.running import stages
from memaudit.common.checksums import TIMESTAMP, sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json

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


def remove_unsupported(folder: Path, stage: str) -> None:
    """Remove the results that rest on a file that is gone, so that Snakemake makes both again.

    Snakemake itself does not miss a file behind a page that exists.
    """
    records = map(read_json, sorted((folder / "results" / stage / "provenance").rglob("*.json")))
    made = {path: record for record in records for path in record["outputs"]}
    whole: dict[str, bool] = {}

    def supported(path: str) -> bool:
        if path not in whole:
            inputs = [supported(source) for source in made[path]["inputs"]] if path in made else []
            whole[path] = path not in made or (all(inputs) and (folder / path).exists())
            if not whole[path]:
                _remove(folder / path)
        return whole[path]

    for name in ENDS:
        supported(f"results/{stage}/audit/{stages.NAME}/{name}")


def _remove(path: Path) -> None:
    """Remove a file, or the whole folder that is the output of its rule."""
    if (path.parent / TIMESTAMP).exists():
        shutil.rmtree(path.parent)
    path.unlink(missing_ok=True)


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
