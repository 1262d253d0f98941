"""Bring a checkpoint into the run's model folder, from a local path or from a hub, and write its card.

python workflow_scripts/models_fetch_checkpoint.py --input resources/tabicl-small/tabicl-small.ckpt \
    --output card=model.json weights=weights.ckpt --wildcards '{"model": "tabicl-small"}' \
    --params '{"entry": {"family": "tabicl", "task": "classification", "path": "...", "hub": null,
        "sha256": null, "licence": "MIT", "terms": null}}'

A hub is asked with the token in the environment variable HF_TOKEN, if there is one, and with no other.
"""

import os
import shutil
from pathlib import Path

from memaudit import OFFLINE
from memaudit.digest import sha256
from memaudit.errors import AuditError
from memaudit.io import replacing, write_json
from memaudit.job import run

REFUSED = (401, 403)


def main(job):
    entry, name = job.params.entry, job.wildcards.model
    source = Path(job.input[0]) if entry["path"] else _download(entry["hub"], entry["terms"], name)
    found = sha256(source)
    if entry["sha256"] and found != entry["sha256"]:
        raise AuditError(
            f"models/{name}: sha256 of {source} is {found}, the catalogue says {entry['sha256']}; fetch it again"
        )
    with replacing(job.output.weights) as temporary:
        shutil.copyfile(source, temporary)
    card = {key: entry[key] for key in ("family", "task", "licence")}
    origin = entry["path"] or "{repo}/{file}@{revision}".format(**entry["hub"])
    write_json(
        {**card, "name": name, "origin": origin, "file": Path(job.output.weights).name, "sha256": found},
        job.output.card,
    )


def _download(hub: dict[str, str], terms: str | None, name: str) -> Path:
    for variable in OFFLINE:
        os.environ.pop(variable, None)
    # The client reads the variables above when it is imported.
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        # False: never a token that a login has left on this machine.
        token = os.environ.get("HF_TOKEN") or False
        return Path(hf_hub_download(hub["repo"], hub["file"], revision=hub["revision"], token=token))
    except (HfHubHTTPError, LocalEntryNotFoundError) as error:
        if _status(error) in REFUSED:
            page = terms or f"its page, {constants.ENDPOINT}/{hub['repo']}"
            mend = f"accept the terms on {page} with your account and set HF_TOKEN to a token of it"
        else:
            mend = "download it elsewhere and give its `path` in config/models.yaml"
        reason = str(error).splitlines()[0]
        raise AuditError(f"models/{name}: {hub['repo']}/{hub['file']} cannot be fetched ({reason}); {mend}") from error


def _status(error: Exception) -> int | None:
    """HTTP status behind an error of the hub's client, which wraps some in another error."""
    answers = (getattr(one, "response", None) for one in (error, error.__cause__))
    return next((answer.status_code for answer in answers if answer is not None), None)


if __name__ == "__main__":
    run(main, globals())
