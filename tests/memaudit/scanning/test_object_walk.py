"""Every object is visited once, and caches are told from other arrays."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.scanning import containers, object_walk


def walked(tmp_path, one):
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(one))
    return list(object_walk.arrays(containers.read(tmp_path / "a.pkl")))


def test_an_array_that_stands_twice_is_found_once(tmp_path):
    array = np.arange(6.0)
    (found,) = walked(tmp_path, [array, {"a": array}])
    assert found.array.tolist() == array.tolist()


def test_a_cycle_ends(tmp_path):
    one = [np.arange(6.0)]
    one.append(one)
    assert len(walked(tmp_path, one)) == 1


def test_a_cache_is_told_by_its_names(tmp_path):
    keys = np.zeros((2, 10, 4))
    model = SimpleNamespace(model_kv_cache_=[SimpleNamespace(key=keys, value=keys + 1, other=keys + 2)], key=keys + 3)
    caches = [one.array.max() for one in walked(tmp_path, model) if object_walk.is_cache(one)]
    assert sorted(caches) == [0, 1]


def test_a_file_that_describes_more_than_it_holds_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(object_walk, "SPARE", 100)
    with pytest.raises(AuditError, match="more cells than"):
        walked(tmp_path, [np.zeros(200)])
