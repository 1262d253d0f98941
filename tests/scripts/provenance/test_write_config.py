"""The merged config can be read back, names in any script included."""

from types import SimpleNamespace

import yaml
from conftest import load_script


def test_the_config_is_written_in_its_order(tmp_path):
    config = {"run": "demo", "datasets": {"übung": {"rows": 3}}, "audit": None}
    output = tmp_path / "config.yaml"
    load_script("provenance_write_config").main(
        SimpleNamespace(output=[str(output)], params=SimpleNamespace(config=config))
    )
    text = output.read_text(encoding="utf-8")
    assert yaml.safe_load(text) == config
    assert list(yaml.safe_load(text)) == ["run", "datasets", "audit"]
    assert "übung" in text
