"""A finished run of two files, raw data and a figure, with their sidecars."""

import pytest

from memaudit.common.checksums import sha256
from memaudit.common.io import write_json


@pytest.fixture
def finished(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {"config.yaml": [], "raw": [], "figures/roc.svg": ["results/demo/raw"]}
    for name, inputs in made.items():
        path = f"results/demo/{name}"
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"content of {name}")
        record = {"inputs": {source: sha256(source) for source in inputs}, "outputs": {path: sha256(path)}}
        record |= {"started": "2026-11-27T10:00:00+00:00", "wall_seconds": 90.25}
        write_json(record, f"results/demo/provenance/{name.replace('/', '_')}.json")
    return tmp_path / "results/demo"
