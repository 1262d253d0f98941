"""The families of the audit are families of the catalogue."""

import yaml

from memaudit.auditing.reading.checkpoint_families import FAMILIES


def test_the_catalogue_has_a_model_of_each_family(project):
    models = yaml.safe_load((project / "config/models.yaml").read_text(encoding="utf-8"))["models"]
    assert set(FAMILIES) <= {entry["family"] for entry in models.values()}
