"""The reference of keys is generated from the models, and the committed one is today's."""

import json

from memaudit.config import key_reference


def test_reference_and_schema_are_in_step(project):
    assert (project / "config/README.md").read_text(encoding="utf-8") == key_reference.readme(), "run `make docs`"
    assert json.loads(key_reference.schema())["additionalProperties"] is False


def test_a_key_stands_there_with_its_type_and_limits():
    found = dict(entry[:2] for entry in list(key_reference.keys()))
    assert found["lira/models"] == "int, ≥ 64"
    assert found["lira"] == "section"
    assert found["datasets/<name>/limits/tvd"].startswith("float, > 0, < 1, default `0.05`")


def test_keys_of_every_kind_of_a_section_stand_there():
    """Where the `kind` decides what a section holds, the reference has all of them, not the first alone."""
    entries = list(key_reference.keys())
    found = [entry[:2] for entry in entries]
    kinds = [kind for key, kind in found if key == "predict/settings/<name>/data/kind"]
    assert kinds == ["`table`", "`cifar10`", "`digits`", "`choices`", "`docstrings`"]
    assert ("predict/settings/<name>/data/sha256", "str \\| null, default `null`") in found
