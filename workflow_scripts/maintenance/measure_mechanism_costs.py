"""Compute what a data-dependent account and private selection would buy, for docs/mechanism-costs.md.

python workflow_scripts/maintenance/measure_mechanism_costs.py --output results/bench/mechanism_costs.json \
    --params '{"tables": "folder of NAME.csv.gz", "only": [], "force": false}'

Nothing is random: parts that the file has are computed again with `force` alone.
"""

from pathlib import Path

from memaudit.common.resumable_measurements import resume
from memaudit.studies.mechanism_costs.measured_costs import DELTA, MOST, PARTS, measure
from memaudit.workflow.job import run


def main(job):
    params = vars(job.params)
    resume(
        Path(job.output[0]),
        "parts",
        PARTS,
        lambda part: measure(part, params["tables"]),
        lambda *_: True,
        only=params.get("only", []),
        force=params.get("force", False),
        facts={"delta": DELTA, "most": MOST},
    )


if __name__ == "__main__":
    run(main, globals())
