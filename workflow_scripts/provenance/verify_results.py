"""Check every result of a run against the hashes in its sidecars, from the figures back to the raw data.

python workflow_scripts/provenance/verify_results.py --params '{"run": "results/demo"}'
"""

from memaudit.common.deployed_packages import PACKAGES
from memaudit.workflow.job import run, tell
from memaudit.workflow.provenance import ENDS, PRIVATE, verify


def main(job):
    checked = verify(job.params.run, (*ENDS, *PRIVATE))
    files = len(checked.hashes)
    tell(f"provenance: {checked.results} results and the {files} files behind them agree with their sidecars")
    for environment, packages in checked.elsewhere.items():
        names = sorted(packages.keys() & {package.distribution for package in PACKAGES.values()})
        models = ", ".join(f"{name} {' and '.join(packages[name])}" for name in names)
        tell(f"provenance: models of {environment}: {models}; all its {len(packages)} packages are in the sidecars")
    if checked.leftover:
        tell(f"provenance: {len(checked.leftover)} sidecars are of files that no result rests on any more")


if __name__ == "__main__":
    run(main, globals())
