"""Seconds until `./memaudit audit` prints its first numbers, and until its whole page, at the default settings.

python workflow_scripts/bench/audit_table.py --output results/bench/audit_table.json \
    --params '{"rows": 1000, "cores": 2}'

The table is generated: numbers, a category, and a target that depends on them; it has no duplicates.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from memaudit.common.errors import AuditError
from memaudit.workflow.bench_card import write_card
from memaudit.workflow.job import run

AIMS = {"first_numbers": 30, "whole_page": 180}  # seconds for 1,000 rows
COLUMNS = 8  # numbers


def main(job):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "customers.csv"
        customers(job.params.rows).to_csv(path, index=False)
        seconds = _timed(path, job.params.cores)
    write_card({"rows": job.params.rows, "cores": job.params.cores, "seconds": seconds, "aims": AIMS}, job.output[0])
    for name, value in seconds.items():
        print(f"{name.replace('_', ' ')}: {value:.0f} s")


def customers(rows: int, seed: int = 0) -> pd.DataFrame:
    """A table of so many different rows with the target `churn`, yes or no."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, COLUMNS)).round(3)
    region = rng.integers(4, size=rows)
    leaves = numbers[:, 0] + 0.5 * numbers[:, 1] + 0.3 * region + rng.logistic(size=rows) > 0.5
    table = pd.DataFrame(numbers, columns=[f"amount_{place}" for place in range(COLUMNS)])
    return table.assign(
        region=np.array(["north", "south", "east", "west"])[region], churn=np.where(leaves, "yes", "no")
    )


def _timed(path: Path, cores: int) -> dict[str, float]:
    """Seconds from the start of the command until each line of numbers is printed, and until its end."""
    command = [sys.executable, "-m", "memaudit", "audit", str(path), "--target", "churn", "--cores", str(cores)]
    began, printed, seconds = time.monotonic(), [], {}
    with subprocess.Popen(
        command, cwd=path.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as audit:
        for line in audit.stdout:
            printed.append(line)
            if "first numbers: AUC" in line:
                seconds["first_numbers"] = time.monotonic() - began
    if audit.returncode or "first_numbers" not in seconds:
        raise AuditError(f"the audit has failed: {''.join(printed[-5:])}")
    return seconds | {"whole_page": time.monotonic() - began}


if __name__ == "__main__":
    run(main, globals())
