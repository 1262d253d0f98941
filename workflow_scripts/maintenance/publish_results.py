"""Take what the project's pages show from a finished run: headlines, verdicts, config, code and circumstances.

python workflow_scripts/maintenance/publish_results.py --output run=docs/results/demo.json \
    results=docs/results/demo.parquet --params '{"run": "results/demo", "command": "make demo", "tables": []}'

The run is first followed back to raw data; one that does not verify is not published, nor one that has an absolute path
of the machine that made it. The params' `sized_for` names claims that the run was sized for before it was made, and is
counted for first (memaudit/report/claims_over_runs.py). The tidy results that headlines and verdicts rest on are kept
beside it, so that `make rejudge` needs no new run. `make docs` renders the pages.
"""

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json, write_table
from memaudit.report.judged_results import JUDGE, kept_results
from memaudit.workflow.job import run, tell
from memaudit.workflow.provenance import verify

KINDS = ("headlines", "claims")
CATALOGUES = ("datasets", "models", "language_models", "pretrain")
# An absolute path: a home, a drive, a file address, or two folders from the root; not the rest of a web address.
LOCAL = re.compile(r"""(?<![\w.:/~<\\-])(?:~[\w-]*/[\w.-]|file:/|[A-Za-z]:\\[\w.]|\\\\\w|/[\w.-]+/[\w.-])[^\s"'),;]*""")
PACKAGES = ("numpy", "pandas", "scipy", "sklearn", "torch", "snakemake")


def main(job):
    folder = Path(job.params.run)
    checked = verify(folder)
    records = [read_json(path) for path in checked.sidecars]
    studies: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        for path in sorted((folder / "tables").glob(f"*_{kind}.csv")):
            studies.setdefault(path.stem.removesuffix(f"_{kind}"), {})[kind] = _table(path)
    for record in records:
        if record["rule"] == JUDGE and record["params"]["headlines"]:
            studies[record["params"]["study"]]["forms"] = record["params"]["headlines"]
    config = yaml.safe_load(_text(folder / "config.yaml"))
    whole = {name: _table(folder / "tables" / f"{name}.md") for name in job.params.tables}
    published = {
        "run": folder.name,
        "command": job.params.command,
        "sized_for": getattr(job.params, "sized_for", []),
        "made": _made(records),
        "code": _code(records),
        "config": {key: value for key, value in config.items() if key not in CATALOGUES},
        "studies": studies,
        "tables": whole,
    }
    kept = kept_results(records)
    refuse_local_paths(published | {"results": [*kept["setting"].unique(), *kept["method"].unique()]})
    write_table(kept, job.output.results)
    write_json(published, job.output.run)
    tell(f"publish: {job.output.run} holds {', '.join(studies)} of {folder}; `make docs` renders the pages")


def refuse_local_paths(value: Any, where: str = "") -> None:
    """Raise AuditError with the place of the first text in `value` that has an absolute path of this machine."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            refuse_local_paths(key, where)
            refuse_local_paths(one, f"{where}/{key}".removeprefix("/"))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            refuse_local_paths(one, f"{where}/{place}")
    elif isinstance(value, str) and (found := LOCAL.search(value)):
        raise AuditError(
            f"publish: {where}: {found.group()!r} is a path of this machine, which nobody else can open; run with "
            "paths relative to the project's folder"
        )


def _code(records: list[dict[str, Any]]) -> dict[str, str]:
    """Digests of each rule's code: one, or those of all its views, with blanks between."""
    digests: dict[str, set[str]] = {}
    for record in records:
        digests.setdefault(record["rule"], set()).add(record["code"])
    return {rule: " ".join(sorted(digests[rule])) for rule in sorted(digests)}


def _table(path: Path) -> dict[str, Any]:
    """A table with its hash, by which its sidecar and an archive know it: rows of a CSV, or the text of a Markdown."""
    text = _text(path)
    held = {"rows": list(csv.DictReader(io.StringIO(text)))} if path.suffix == ".csv" else {"text": text}
    return held | {"path": str(path), "sha256": sha256(path)}


def _text(path: Path) -> str:
    if not path.exists():
        raise AuditError(f"{path}: not there, the run is not finished; run `snakemake --cores all` first")
    return path.read_text(encoding="utf-8")


def _made(records: list[Mapping[str, Any]]) -> dict[str, Any]:
    states = [record["git"] for record in records if record["git"]]
    found = {name: facts["version"] for record in records for name, facts in record["packages"].items()}
    return {
        "date": max(record["started"] for record in records)[:10],
        "commits": sorted({state["commit"] for state in states}),
        "dirty": any(state["dirty"] for state in states),
        "python": sorted({record["python"] for record in records}),
        "packages": {name: found[name] for name in PACKAGES if name in found},
        "cpu_seconds": round(sum(record["cpu_seconds"] for record in records)),
        "peak_memory_mib": max(record["peak_memory_mib"] for record in records),
        "jobs": len(records),
        "forked": sum(bool(record.get("forked")) for record in records),
    }


if __name__ == "__main__":
    run(main, globals())
