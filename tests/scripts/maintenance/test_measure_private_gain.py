"""The measurement of private gains goes on where it ended."""

from types import SimpleNamespace

from conftest import load_script

from memaudit.common.io import read_json


def test_one_part_is_measured_and_others_are_kept(tmp_path, monkeypatch):
    script, path = load_script("maintenance_measure_private_gain"), tmp_path / "gain.json"
    asked = []

    def measure(part, folder):
        asked.append((part, folder))
        return {"cells": [], "cpu_seconds": 1.0}

    monkeypatch.setattr(script, "measure", measure)
    monkeypatch.setattr(script, "is_current", lambda known: True)
    for part in ("kc1 0", "kc1 1"):
        params = SimpleNamespace(tables="folder", only=[part])
        script.main(SimpleNamespace(output=[str(path)], params=params))
    assert asked == [("kc1 0", "folder"), ("kc1 1", "folder")]
    script.main(SimpleNamespace(output=[str(path)], params=SimpleNamespace(tables="folder")))
    assert len(asked) == len(script.PARTS) == len(set(asked))
    assert read_json(path)["parts"].keys() == set(script.PARTS)
