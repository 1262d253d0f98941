"""Records of a source: ids by the key, no record twice, and what the settings need to know of them."""

from types import SimpleNamespace

import numpy as np

from memaudit.studies.predict.setting_sources import read_source


def test_digits_have_ids_of_their_images_and_ten_possible_labels(tmp_path):
    (tmp_path / "key").write_text("secret")
    setting = {"data": {"kind": "digits", "contrast": 0.5}, "max_records": None}
    files = SimpleNamespace(key=tmp_path / "key")
    records = read_source(setting, files, np.random.default_rng(0))
    assert records.x.shape == (1797, 64)
    assert records.classes == 10
    assert not records.words
    assert len(set(records.ids)) == 1797
    other = read_source(setting, files, np.random.default_rng(1))
    assert set(other.ids).isdisjoint(records.ids)  # other patches: other images


def test_words_are_known_as_such(tmp_path):
    (tmp_path / "key").write_text("secret")
    data = {"kind": "docstrings", "packages": ["scipy", "numpy"], "words": 4, "vocabulary": 50}
    files = SimpleNamespace(key=tmp_path / "key")
    records = read_source({"data": data, "max_records": 20}, files, np.random.default_rng(0))
    assert records.words
    assert np.bincount(records.code).tolist() == [10, 10]
