"""Files of a hub: what is copied, and one line where nothing can be fetched."""

import pytest

from memaudit.common.errors import AuditError
from memaudit.data.model_hub import copy_model, fetched


def test_of_a_folder_pickles_are_not_copied(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    for name in ("config.json", "model.safetensors", "pytorch_model.bin", "tokenizer.model"):
        (source / name).write_text(name)
    copy_model(source, target)
    assert sorted(path.name for path in target.iterdir()) == ["config.json", "model.safetensors", "tokenizer.model"]
    copy_model(source / "pytorch_model.bin", target)
    assert (target / "pytorch_model.bin").read_text() == "pytorch_model.bin"


def test_of_a_repository_or_its_folder_the_files_of_a_model_are_asked_for(monkeypatch, tmp_path):
    asked = {}
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda repo, **request: asked.update(request) or tmp_path)
    hub = {"repo": "owner/name", "revision": "main", "file": None}
    assert fetched(hub, "models/x") == tmp_path
    assert asked["allow_patterns"] == ["*.json", "*.safetensors", "*.model", "*.txt"]
    assert fetched(hub | {"folder": "."}, "models/x") == tmp_path
    assert asked["allow_patterns"] == ["*.json", "*.safetensors", "*.model", "*.txt"]
    assert fetched(hub | {"folder": "classification"}, "models/x") == tmp_path / "classification"
    assert asked["allow_patterns"][:2] == ["classification/*.json", "classification/*.safetensors"]


@pytest.mark.parametrize("file", [None, "weights.ckpt"])
def test_without_a_network_the_entry_and_the_advice_are_named(file, monkeypatch):
    from huggingface_hub.errors import LocalEntryNotFoundError

    def refused(*_, **__):
        raise LocalEntryNotFoundError("no connection")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", refused)
    monkeypatch.setattr("huggingface_hub.snapshot_download", refused)
    hub = {"repo": "owner/name", "revision": "main", "file": file}
    with pytest.raises(AuditError, match=r"models/x: owner/name.* cannot be fetched .*`path` in config/models.yaml"):
        fetched(hub, "models/x")
