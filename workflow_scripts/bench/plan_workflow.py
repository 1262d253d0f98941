"""Seconds and jobs of a dry run of each shipped config.

python workflow_scripts/bench/plan_workflow.py --output results/bench/plan_workflow.json --params '{"runs": 3}'
"""

import re
import statistics
import subprocess
import sys
import tempfile
import time

from memaudit.common.project_paths import PROJECT
from memaudit.workflow.bench_card import write_card
from memaudit.workflow.job import run


def main(job):
    report = {name: _dry_run(name, job.params.runs) for name in ("smoke", "config", "paper")}
    write_card({"configs": report}, job.output[0], ("snakemake",))
    for name, planned in report.items():
        print(f"{name}: {planned['jobs']} jobs, planned in {planned['median_seconds']:.1f} s")


def _dry_run(name: str, runs: int) -> dict:
    seconds = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "snakemake", "-n", "--directory", folder]
            command += ["--configfile", f"config/{name}.yaml"]
            began = time.monotonic()
            done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
            seconds.append(time.monotonic() - began)
    jobs = int(re.search(r"^total\s+(\d+)", done.stdout + done.stderr, re.MULTILINE)[1])
    return {"jobs": jobs, "median_seconds": statistics.median(seconds), "seconds": seconds}


if __name__ == "__main__":
    run(main, globals())
