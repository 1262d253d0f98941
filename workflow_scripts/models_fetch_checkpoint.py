"""Bring a model into the run's folder, from a local path or from a hub, and write its card.

python workflow_scripts/models_fetch_checkpoint.py --input resources/tabicl-small/tabicl-small.ckpt \
    --output card=model.json weights=weights --wildcards '{"model": "tabicl-small"}' \
    --params '{"entry": {"family": "tabicl", "task": "classification", "mode": "raw", "version": null, "options": {},
        "estimator": null, "params": {}, "path": "...", "hub": null, "sha256": null, "licence": "MIT", "terms": null}}'

The weights keep their names: packages read versions off them. An estimator has none: its folder says what is fitted. A
hub is asked with the token in the environment variable HF_TOKEN, if there is one, and with no other.
"""

import os
import shutil
from pathlib import Path

from memaudit import OFFLINE
from memaudit.digest import check_sum, sha256
from memaudit.errors import AuditError
from memaudit.io import replacing_folder, write_json
from memaudit.job import run

REFUSED = (401, 403)
# What transformers reads at the top of a folder; pickled weights stay where they are.
TEXT_FILES = ["*.json", "*.safetensors", "*.model", "*.txt"]
FACTS = ("family", "task", "mode", "version", "options", "licence")


def main(job):
    entry, name = job.params.entry, job.wildcards.model
    with replacing_folder(job.output.weights) as folder:
        if entry["estimator"]:
            write_json({"class": entry["estimator"], "params": entry["params"]}, folder / "estimator.json")
        else:
            if entry["path"] and not job.input:
                raise AuditError(f"models/{name}/path: there is no file {entry['path']}; give the checkpoint's path")
            source = Path(job.input[0]) if entry["path"] else _download(entry["hub"], entry["terms"], name)
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


def _download(hub: dict[str, str], terms: str | None, name: str) -> Path:
    for variable in OFFLINE:
        os.environ.pop(variable, None)
    # The client reads the variables above when it is imported.
    from huggingface_hub import constants, hf_hub_download, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    # False: never a token that a login has left on this machine.
    asked = {"revision": hub["revision"], "token": os.environ.get("HF_TOKEN") or False}
    try:
        if hub["file"]:
            return Path(hf_hub_download(hub["repo"], hub["file"], **asked))
        return Path(snapshot_download(hub["repo"], allow_patterns=TEXT_FILES, **asked))
    except (HfHubHTTPError, LocalEntryNotFoundError) as error:
        if _status(error) in REFUSED:
            page = terms or f"its page, {constants.ENDPOINT}/{hub['repo']}"
            mend = f"accept the terms on {page} with your account and set HF_TOKEN to a token of it"
        else:
            mend = "download it elsewhere and give its `path` in config/models.yaml"
        reason = str(error).splitlines()[0]
        what = "/".join(filter(None, (hub["repo"], hub["file"])))
        raise AuditError(f"models/{name}: {what} cannot be fetched ({reason}); {mend}") from error


def _status(error: Exception) -> int | None:
    """HTTP status behind an error of the hub's client, which wraps some in another error."""
    answers = (getattr(one, "response", None) for one in (error, error.__cause__))
    return next((answer.status_code for answer in answers if answer is not None), None)


if __name__ == "__main__":
    run(main, globals())
