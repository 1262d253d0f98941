"""Repeat audits of tables and generators whose truth is known, for docs/calibration.md.

python workflow_scripts/maintenance/measure_calibration.py --output results/bench/audit_calibration.json \
    --params '{"seed": 1, "share": 1.0, "only": [], "force": false}'

The file is written after every table or generator, so that an interrupted run goes on where it ended. One is measured
again if its checks or numbers have changed, if it is named in `only`, or with `force`. share: of the repetitions.
"""

from pathlib import Path

from memaudit.common.resumable_measurements import resume
from memaudit.studies.calibration.calibration_runs import REPETITIONS, SOURCES, is_current, measure
from memaudit.workflow.job import run


def main(job):
    params = vars(job.params)
    share, seed = params.get("share", 1.0), params["seed"]
    asked = {check: max(10, int(share * number)) for check, number in REPETITIONS.items()}, seed
    resume(
        Path(job.output[0]),
        "sources",
        SOURCES,
        lambda name: measure(name, *asked),
        lambda name, known: is_current(known, name, *asked),
        only=params.get("only", []),
        force=params.get("force", False),
    )
    return {"seed": seed}


if __name__ == "__main__":
    run(main, globals())
