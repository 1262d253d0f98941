"""Put a finished run into one file: results, sidecars, inputs, config and lock.

python workflow_scripts/provenance/archive_run.py --params '{"run": "results/demo"}'

Writes results/demo/demo.tar.gz. `make verify ARCHIVE=demo.tar.gz` checks it on any machine.
"""

from pathlib import Path

from memaudit.common.checksums import sha256
from memaudit.workflow import archive
from memaudit.workflow.job import run, tell


def main(job):
    folder = Path(job.params.run)
    path = folder / f"{folder.name}.tar.gz"
    checked = archive.write(str(folder), path)
    size = path.stat().st_size / 1e6
    tell(f"archive: {path} holds {checked.results} results and all that they rest on, {size:.1f} MB")
    tell(f"archive: its sha256 is {sha256(path)}")
    tell("archive: it holds the records of every table (not the key of their ids): only you can read it, keep it so")


if __name__ == "__main__":
    run(main, globals())
