"""Measure what jobs cost, from the sidecars of a finished run: the unit costs that `snakemake plan` multiplies.

python workflow_scripts/maintenance/measure_costs.py --params '{"run": "results/demo",
    "known": "results/bench/unit_costs.json", "unit_costs": "results/bench/unit_costs.json",
    "jobs": {"lira_gather_grid": {"wine/efficient": [182272, 182272, 182272]}}}'

jobs: work, bytes written and memory held, in the rule's own units. unit_costs: the file that is written; known: the one
that it is added to, so that a run on a GPU keeps what one without has left.
"""

from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.workflow.job import run, tell
from memaudit.workflow.job_costs import Size, errors, measure, whole
from memaudit.workflow.sidecar import read_all


def main(job):
    folder, path, known = Path(job.params.run, "provenance"), Path(job.params.unit_costs), Path(job.params.known)
    found = {str(Path(name).relative_to(folder).with_suffix("")): one for name, one in read_all(folder).items()}
    records = whole(found)
    # Of a run by `make demo` those few are whole that need another Python, and they measure nothing but themselves.
    forked = sum(bool(one.get("forked")) for one in found.values())
    if forked > len(records) or not records:
        counts = f"of {len(found)} jobs {forked} were forked and {len(records)} ran whole"
        raise AuditError(f"{folder}: {counts}, too few to measure costs by; run `snakemake --cores 1 --forceall` first")
    for record in records.values():
        record["outputs_bytes"] = sum(map(_bytes, record["outputs"]))
    jobs = {rule: {name: Size(*size) for name, size in sizes.items()} for rule, sizes in job.params.jobs.items()}
    units = measure(jobs, records)
    kept = read_json(known) if known.exists() else {"measured": {}, "rules": {}}
    former = {rule: one for rule, one in kept.get("errors", {}).items() if rule not in units}
    kept["errors"] = former | {rule: one | {"run": job.params.run} for rule, one in errors(jobs, records).items()}
    for rule, entry in units.items():
        kept["rules"].setdefault(rule, {}).update(entry)
    devices = {device for entry in units.values() for device in entry}
    kept["measured"] |= dict.fromkeys(devices, _circumstances(job.params.run, records))
    write_json(kept, path)
    missing = ", ".join(sorted(jobs.keys() - units.keys())) or "none"
    left_out = f"{len(found) - len(records)} resumed, adopted or forked ones left out"
    tell(f"costs: {len(records)} jobs of {job.params.run} measured into {path}, {left_out}; no job of: {missing}")


def _bytes(output: str) -> int:
    if not Path(output).exists():
        raise AuditError(f"{output}: gone since its job has run; finish the run again, then measure it")
    return Path(output).stat().st_size


def _circumstances(run_folder: str, records: dict) -> dict:
    last = max(records.values(), key=lambda record: record["started"])
    return {
        "run": run_folder,
        "jobs": len(records),
        "date": last["started"][:10],
        "platform": last["platform"],
        "commit": (last["git"] or {}).get("commit"),
    }


if __name__ == "__main__":
    run(main, globals())
