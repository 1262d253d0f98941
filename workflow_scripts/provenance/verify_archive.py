"""Check an archived run on any machine: every member's hash, then every result back to raw data, sidecar by sidecar.

python workflow_scripts/provenance/verify_archive.py --input demo.tar.gz

The file itself, or the folder that it was unpacked into. Nothing is unpacked, nothing in it is run.
"""

from memaudit.workflow import archive
from memaudit.workflow.job import run, tell


def main(job):
    checked = archive.check(job.input[0])
    files = sum(found is not None for found in checked.hashes.values())
    tell(f"{job.input[0]}: {checked.results} results and the {files} files behind them agree with their sidecars")


if __name__ == "__main__":
    run(main, globals())
