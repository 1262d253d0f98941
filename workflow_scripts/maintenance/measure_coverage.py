"""Simulate every interval, test and bound that the studies print, where the truth is known, for docs/coverage.md.

python workflow_scripts/maintenance/measure_coverage.py --output results/bench/coverage.json \
    --params '{"simulations": 500, "seed": 3, "only": [], "force": false}'

The file is written after every case, so that an interrupted run goes on where it ended. A case is simulated again if
its scenarios or numbers have changed, if it is named in `only`, or with `force`.
"""

from pathlib import Path

from memaudit.common.resumable_measurements import resume
from memaudit.studies.coverage.coverage_registry import CASES
from memaudit.studies.coverage.coverage_simulation import GROUPS, described, is_current, simulate
from memaudit.workflow.job import run


def main(job):
    params = vars(job.params)
    asked = params["simulations"], params["seed"]
    resume(
        Path(job.output[0]),
        "cases",
        CASES,
        lambda name: simulate(name, *asked),
        lambda name, known: is_current(known, name, *asked),
        only=params.get("only", []),
        force=params.get("force", False),
        described=described,
        facts={"groups": list(GROUPS)},
    )
    return {"seed": params["seed"]}


if __name__ == "__main__":
    run(main, globals())
