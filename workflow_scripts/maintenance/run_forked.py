"""Run the workflow with jobs that are forked from one process, which has imported what they import.

python workflow_scripts/maintenance/run_forked.py --params '{"arguments": "--cores all --quiet rules progress"}'

arguments: Snakemake's, of a run on this computer. The exit code is Snakemake's. Jobs of other environments, and those
that may fetch from a hub, start as ever. All jobs do where processes that have imported much cannot be forked safely
(anywhere but on Linux), and where a profile of the user's may send them to other computers.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from memaudit.common.snakemake_command import snakemake_command
from memaudit.workflow import warm_interpreter
from memaudit.workflow.job import run


def main(job):
    environment = dict(os.environ)
    with ExitStack() as stack:
        if sys.platform == "linux" and "SNAKEMAKE_PROFILE" not in environment:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memaudit-")))
            environment = stack.enter_context(warm_interpreter.warm(folder, environment))
        snakemake = subprocess.Popen(snakemake_command(shlex.split(job.params.arguments)), env=environment)
        # Ctrl-C reaches Snakemake by itself; it decides when a run has ended.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda number, _: snakemake.send_signal(number))
        ended = snakemake.wait()
    sys.exit(ended)


if __name__ == "__main__":
    run(main, globals())
