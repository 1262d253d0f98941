"""Repeat audits of tables and generators whose truth is known, for docs/calibration.md.

python workflow_scripts/maintenance/measure_calibration.py --output results/bench/audit_calibration.json \
    --params '{"seed": 1, "share": 1.0, "only": [], "force": false}'

The file is written after every table or generator, so that an interrupted run goes on where it ended. One is measured
again if its checks or numbers have changed, if it is named in `only`, or with `force`. share: of the repetitions.
"""

from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.studies.calibration.calibration_runs import REPETITIONS, SOURCES, is_current, measure
from memaudit.workflow.job import run


def main(job):
    path, only = Path(job.output[0]), getattr(job.params, "only", [])
    if unknown := set(only) - SOURCES.keys():
        raise AuditError(f"only: nothing is named {sorted(unknown)[0]!r}; there are {', '.join(SOURCES)}")
    share = getattr(job.params, "share", 1.0)
    asked = {check: max(10, int(share * number)) for check, number in REPETITIONS.items()}, job.params.seed
    known = read_json(path)["sources"] if path.exists() else {}
    sources = {name: known[name] for name in SOURCES if name in known}
    for name in SOURCES:
        again = name in only or getattr(job.params, "force", False)
        if again or (not only and not (name in sources and is_current(sources[name], name, *asked))):
            sources[name] = measure(name, *asked)
            write_json({"sources": {one: sources[one] for one in SOURCES if one in sources}}, path)
            print(f"{name}: {sources[name]['cpu_seconds']} CPU seconds", flush=True)
    return {"seed": job.params.seed}


if __name__ == "__main__":
    run(main, globals())
