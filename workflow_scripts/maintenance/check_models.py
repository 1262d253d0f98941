"""Open the local models that a run will use and hold them to the tables that it will ask about, before its first job.

python workflow_scripts/maintenance/check_models.py --params '{"device": true, "models": {"tabicl-small": {
    "family": "tabicl", "task": "classification", "mode": "raw", "version": null, "options": {},
    "path": "resources/...", "sha256": null,
    "estimator": null, "params": {}}}, "uses": {"tabicl-small": [{"where": "lira, data set wine", "rows": 71,
    "features": 13}]}}'

A model on a hub is opened by the rules that use it: nothing is downloaded here.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from memaudit.common.checksums import check_sum
from memaudit.common.deployed_packages import has_folder
from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.models.model_folder import branch, device
from memaudit.workflow.job import run

# A family that reads names and categories is shown a table of one column.
SCHEMA = {
    "columns": [{"name": "x", "type": "numeric"}],
    "target": {"name": "y", "type": "categorical", "categories": ["a", "b"]},
}


def main(job):
    if job.params.device:
        device()
    for name, entry in job.params.models.items():
        with TemporaryDirectory() as folder:
            limits = opened(name, entry, Path(folder)).limits
        for use in job.params.uses.get(name, []):
            limits.check(f"models/{name}, in {use['where']}", use["rows"], use["features"], use.get("classes"))


def opened(name, entry, folder):
    """The model, from a folder of the shape that the fetch rule makes."""
    weights = folder / "weights"
    path = entry["path"] and Path(entry["path"]).absolute()
    if path and not path.exists():
        raise AuditError(f"models/{name}/path: there is no file {entry['path']}; give the path of the checkpoint")
    folder_like = entry["family"] == "text" or has_folder(entry["family"])
    if path and path.is_dir() and not folder_like:
        raise AuditError(f"models/{name}/path: {entry['path']} is a folder; give the path of the checkpoint in it")
    if path:
        check_sum(entry["path"], entry["sha256"], f"models/{name}")
    if path and path.is_dir():
        weights.symlink_to(path)
    else:
        weights.mkdir()
        if path:
            (weights / path.name).symlink_to(path)
        else:
            write_json({"class": entry["estimator"], "params": entry["params"]}, weights / "estimator.json")
    card = {**entry, "name": name}
    try:
        return branch(entry["family"], entry["mode"]).load(weights, card, "cpu", SCHEMA | {"task": entry["task"]})
    except AuditError as error:
        # What the user gave, not where it was put for a moment.
        told = str(error).removeprefix(f"{name}: ")
        for shown in (weights / path.name, weights) if path else ():
            told = told.replace(str(shown), entry["path"])
        raise AuditError(f"models/{name}: {told}") from error


if __name__ == "__main__":
    run(main, globals())
