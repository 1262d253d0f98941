"""Files of a model hub. Only the rules that fetch use it, with the token in HF_TOKEN or with none."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from memaudit import OFFLINE
from memaudit.common.errors import AuditError
from memaudit.common.hub_address import hub_address

REFUSED = (401, 403)
# What transformers reads at the top of a folder; pickled weights are not copied.
TEXT_FILES = ("*.json", "*.safetensors", "*.model", "*.txt")


def fetched(hub: Mapping[str, str | None], where: str, terms: str | None = None) -> Path:
    """Fetch a file, a repository or a folder of it (TEXT_FILES alone) into the hub client's cache; return its path.

    hub: repo, revision and file or folder, if it is one; where: the entry in the catalogue, for messages
    (`models/name`); terms: page of the terms of gated weights. Raises AuditError, with advice, where it cannot be
    fetched.
    """
    for variable in OFFLINE:
        os.environ.pop(variable, None)
    # The client reads the variables above when it is imported.
    from huggingface_hub import constants, hf_hub_download, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    # False: never a token that a login has left on this machine.
    request = {"revision": hub["revision"], "token": os.environ.get("HF_TOKEN") or False}
    file, inside = hub.get("file"), hub.get("folder") or "."
    patterns = [os.path.normpath(f"{inside}/{pattern}") for pattern in TEXT_FILES]
    try:
        if file:
            return Path(hf_hub_download(hub["repo"], file, **request))
        return Path(snapshot_download(hub["repo"], allow_patterns=patterns, **request)) / inside
    except (HfHubHTTPError, LocalEntryNotFoundError) as error:
        if _status(error) in REFUSED:
            page = terms or f"its page, {constants.ENDPOINT}/{hub['repo']}"
            advice = f"accept the terms on {page} with your account and set HF_TOKEN to a token of it"
        else:
            advice = f"download it elsewhere and give its `path` in config/{where.partition('/')[0]}.yaml"
        reason = str(error).splitlines()[0]
        raise AuditError(f"{where}: {hub_address(hub)} cannot be fetched ({reason}); {advice}") from error


def copy_model(source: Path, folder: Path) -> None:
    """Copy a model's file, or the files of a folder that are read (TEXT_FILES), into a folder."""
    files = (file for pattern in TEXT_FILES for file in source.glob(pattern)) if source.is_dir() else [source]
    for file in files:
        shutil.copyfile(file, folder / file.name)


def _status(error: Exception) -> int | None:
    """HTTP status behind an error of the hub's client, which wraps some in another error."""
    answers = (getattr(one, "response", None) for one in (error, error.__cause__))
    return next((answer.status_code for answer in answers if answer is not None), None)
