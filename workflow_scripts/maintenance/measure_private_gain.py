"""Measure the share of the non-private gain that private contexts keep, over the number of records of public tables.

python workflow_scripts/maintenance/measure_private_gain.py --output results/bench/private_gain.json \
    --params '{"tables": "folder of NAME.csv.gz", "only": [], "force": false}'

The file is written after every repeat of a table, so that an interrupted run goes on where it ended; all tables have
their first repeat before any has its second. The noise has no seed.
"""

from pathlib import Path

from memaudit.common.resumable_measurements import resume
from memaudit.studies.private_gain.measured_gains import DELTA, PARTS, is_current, measure
from memaudit.workflow.job import run


def main(job):
    params = vars(job.params)
    resume(
        Path(job.output[0]),
        "parts",
        PARTS,
        lambda part: measure(part, params["tables"]),
        lambda _, known: is_current(known),
        only=params.get("only", []),
        force=params.get("force", False),
        facts={"delta": DELTA},
    )


if __name__ == "__main__":
    run(main, globals())
