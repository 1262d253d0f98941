"""Take what the project's pages show from a finished run: headlines, verdicts, config, code and circumstances.

python workflow_scripts/maintenance/publish_results.py --input runs=config/published_runs.yaml \
    --output run=docs/results/demo.json results=docs/results/demo.parquet --params '{"run": "demo"}'

The run is first followed back to raw data; one that does not verify is not published, nor one that has an absolute path
of the machine that made it. The tidy results that headlines and verdicts rest on are kept beside it, so that
`make rejudge` needs no new run. `make docs` renders the pages.
"""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json, write_table
from memaudit.config.name_checks import hint
from memaudit.report.judged_results import JUDGE, kept_results
from memaudit.report.local_paths import refuse_local_paths
from memaudit.report.sized_runs import refuse_other_sizes
from memaudit.workflow.job import run, tell
from memaudit.workflow.provenance import verify
from memaudit.workflow.run_config import read_yaml

KINDS = ("headlines", "claims")
CATALOGUES = ("datasets", "models", "language_models", "pretrain")
PACKAGES = ("numpy", "pandas", "scipy", "sklearn", "torch", "snakemake")


def main(job):
    folder = Path("results", job.params.run)
    entry = _of_catalogue(job.input.runs, job.params.run)
    checked = verify(folder)
    records = [read_json(path) for path in checked.sidecars]
    studies: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        for path in sorted((folder / "tables").glob(f"*_{kind}.csv")):
            studies.setdefault(path.stem.removesuffix(f"_{kind}"), {})[kind] = _table(path)
    for record in records:
        if record["rule"] == JUDGE and record["params"]["headlines"]:
            studies[record["params"]["study"]]["forms"] = record["params"]["headlines"]
    made = _made(records)
    refuse_other_sizes(entry.get("sized_for", []), job.input.runs, job.params.run, made)
    config = yaml.safe_load(_text(folder / "config.yaml"))
    whole = {name: _table(folder / "tables" / f"{name}.md") for name in entry["tables"]}
    published = {
        "run": folder.name,
        "command": entry["command"],
        "sized_for": entry.get("sized_for", []),
        "made": made,
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


def _of_catalogue(catalogue: str, run: str) -> dict[str, Any]:
    """The entry of a run in config/published_runs.yaml. Raises AuditError where it has none."""
    entries = read_yaml(Path(catalogue))
    if run not in entries:
        raise AuditError(f"{catalogue}: no run {run!r}{hint(run, list(entries))}; add it, or say RUN=...")
    return entries[run]


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
