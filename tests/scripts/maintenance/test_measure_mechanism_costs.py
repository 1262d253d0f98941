"""The costs of mechanisms are computed part by part, and known parts are kept."""

from types import SimpleNamespace

from conftest import load_script

from memaudit.common.io import read_json


def test_known_parts_are_kept(tmp_path, monkeypatch):
    script, path, asked = load_script("maintenance_measure_mechanism_costs"), tmp_path / "costs.json", []

    def measure(part, folder):
        asked.append((part, folder))
        return {"rows": [], "cpu_seconds": 1.0}

    monkeypatch.setattr(script, "measure", measure)
    script.main(SimpleNamespace(output=[str(path)], params=SimpleNamespace(tables="folder", only=["selection"])))
    assert asked == [("selection", "folder")]
    script.main(SimpleNamespace(output=[str(path)], params=SimpleNamespace(tables="folder")))
    assert len(asked) == len(script.PARTS) == len(set(asked))
    assert read_json(path)["parts"].keys() == set(script.PARTS)
