"""Audit private releases end to end with worst-case canaries, as released and broken, for docs/release-audit.md.

python workflow_scripts/maintenance/audit_release.py --output results/bench/release_audit.json \
    --params '{"runs": 12000, "canaries": 4000, "only": [], "force": false}'

The file is written after every condition, so that an interrupted run goes on where it ended. runs: releases of each of
two tables in a condition; canaries: of the audit of one single release.
"""

from pathlib import Path

from memaudit.common.io import read_json
from memaudit.common.resumable_measurements import resume
from memaudit.studies.release_audit.measured_bounds import NAMES, is_current, judged, measure
from memaudit.workflow.job import run


def main(job):
    params = vars(job.params)
    sizes = {"runs": params["runs"], "canaries": params["canaries"]}
    path = Path(job.output[0])
    known = read_json(path)["conditions"] if path.exists() else {}
    resume(
        path,
        "conditions",
        NAMES,
        lambda name: measure(name, **sizes),
        lambda name, known: is_current(name, known, **sizes),
        only=params.get("only", []),
        force=params.get("force", False),
        # The level of each bound follows from the number of conditions, and needs no new releases.
        described=lambda name: judged(known[name]),
    )


if __name__ == "__main__":
    run(main, globals())
