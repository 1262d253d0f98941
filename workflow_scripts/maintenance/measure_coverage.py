"""Simulate every interval, test and bound that the studies print, where the truth is known, for docs/coverage.md.

python workflow_scripts/maintenance/measure_coverage.py --output results/bench/coverage.json \
    --params '{"simulations": 500, "seed": 3, "only": [], "force": false}'

The file is written after every case, so that an interrupted run goes on where it ended. A case is simulated again if
its scenarios or numbers have changed, if it is named in `only`, or with `force`.
"""

from pathlib import Path

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, write_json
from memaudit.studies.coverage.coverage_registry import CASES
from memaudit.studies.coverage.coverage_simulation import described, is_current, simulate
from memaudit.workflow.job import run


def main(job):
    path, only = Path(job.output[0]), getattr(job.params, "only", [])
    if unknown := set(only) - CASES.keys():
        raise AuditError(f"only: no case is named {sorted(unknown)[0]}; the cases are {', '.join(CASES)}")
    known = read_json(path)["cases"] if path.exists() else {}
    # A case that is gone leaves the file; texts are always those of the code.
    cases = {name: known[name] | described(name) for name in CASES if name in known}
    asked = job.params.simulations, job.params.seed
    for name in CASES:
        again = name in only or getattr(job.params, "force", False)
        if again or (not only and not (name in cases and is_current(cases[name], name, *asked))):
            cases[name] = simulate(name, *asked)
            write_json({"cases": {one: cases[one] for one in CASES if one in cases}}, path)
            print(f"{name}: {cases[name]['cpu_seconds']} CPU seconds", flush=True)
    return {"seed": job.params.seed}


if __name__ == "__main__":
    run(main, globals())
