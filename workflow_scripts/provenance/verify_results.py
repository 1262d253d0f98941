"""Check every result of a run against the hashes in its sidecars, from the figures back to the raw data.

Files that no result rests on are held against their sidecars, too, and jobs that have not finished are named.
settings: options of Snakemake that give the run its settings, for the command that makes a file again.

python workflow_scripts/provenance/verify_results.py --params '{"run": "results/demo", "settings": []}'
"""

from memaudit.common.deployed_packages import PACKAGES
from memaudit.workflow.job import run, tell
from memaudit.workflow.provenance import ENDS, PRIVATE, check_unused, results_of, unfinished, verify


def main(job):
    folder, ends = job.params.run, (*ENDS, *PRIVATE)
    for log in unfinished(folder):
        tell(f"provenance: {log}: this job failed or was stopped, its results are missing; run its command again")
    if not results_of(folder, ends):
        check_unused(folder, [])
    checked = verify(folder, ends, job.params.settings)
    check_unused(folder, checked.hashes)
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
