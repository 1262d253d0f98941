"""Bring a model into the run's folder, from a local path or from a hub, and write its card.

python workflow_scripts/models_fetch_checkpoint.py --input resources/tabicl-small/tabicl-small.ckpt \
    --output card=model.json weights=weights --wildcards '{"model": "tabicl-small"}' \
    --params '{"entry": {"family": "tabicl", "task": "classification", "mode": "raw", "version": null, "options": {},
        "estimator": null, "params": {}, "path": "...", "hub": null, "sha256": null, "licence": "MIT", "terms": null}}'

The weights keep their names: packages read versions off them. An estimator has none: its folder says what is fitted. A
hub is asked with the token in the environment variable HF_TOKEN, if there is one, and with no other.
"""

import shutil
from pathlib import Path

from memaudit.data.hub import TEXT_FILES, fetched
from memaudit.digest import check_sum, sha256
from memaudit.errors import AuditError
from memaudit.io import replacing_folder, write_json
from memaudit.job import run

FACTS = ("family", "task", "mode", "version", "options", "licence")


def main(job):
    entry, name = job.params.entry, job.wildcards.model
    with replacing_folder(job.output.weights) as folder:
        if entry["estimator"]:
            write_json({"class": entry["estimator"], "params": entry["params"]}, folder / "estimator.json")
        else:
            if entry["path"] and not job.input:
                raise AuditError(f"models/{name}/path: there is no file {entry['path']}; give the checkpoint's path")
            source = Path(job.input[0]) if entry["path"] else fetched(entry["hub"], f"models/{name}", entry["terms"])
            _copy(source, folder, entry["sha256"], name)
    hub = entry["hub"] and "/".join(filter(None, (entry["hub"]["repo"], entry["hub"]["file"])))
    origin = entry["path"] or entry["estimator"] or f"{hub}@{entry['hub']['revision']}"
    card = {key: entry[key] for key in FACTS} | {"name": name, "origin": origin}
    write_json(card | {"sha256": sha256(job.output.weights)}, job.output.card)


def _copy(source: Path, folder: Path, expected: str | None, name: str) -> None:
    """Copy a file or a folder's files, if they are what the catalogue says."""
    check_sum(source, expected, f"models/{name}")
    if source.is_dir():
        for file in (file for pattern in TEXT_FILES for file in source.glob(pattern)):
            shutil.copyfile(file, folder / file.name)
    else:
        shutil.copyfile(source, folder / source.name)


if __name__ == "__main__":
    run(main, globals())
