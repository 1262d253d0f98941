"""Records of a setting: label noise, canaries, images and questions."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from predict_pipeline import (
    CANARIES,
    MODELS,
    NOISE,
    RECORDS,
    SETTING,
)

from memaudit.common.errors import AuditError
from memaudit.data.cifar10 import FILES
from memaudit.studies.predict.setting_records import prepare, rivals
from memaudit.studies.predict.shadow_training import PreparedSetting

pytestmark = pytest.mark.usefixtures("one_thread")


def test_noise_and_canaries_are_planted_as_requested(table):
    files = SimpleNamespace(**table)
    grid = prepare(SETTING, "toy", 3, files)
    wrong, canary = grid.mislabelled.values, grid.canary.values
    assert wrong.sum() == round(NOISE * RECORDS)
    assert canary.sum() == CANARIES
    assert not (wrong & canary).any()
    assert (grid.code.values[wrong] != grid.clean.values[wrong]).all()
    assert (grid.membership.values.sum(0) == MODELS / 2).all()
    # Columns of other records, drawn independently: no canary equals a record.
    x = grid.x.values
    assert np.isin(x[canary], x[~canary]).all()
    assert not (x[canary][:, None] == x[~canary][None]).all(2).any()
    more = prepare(SETTING | {"shard": 4, "targets": 4}, "toy", 3, files)
    xr.testing.assert_identical(grid, more)
    assert not np.array_equal(grid.membership.values, prepare(SETTING, "other", 3, files).membership.values)


def test_images_of_a_setting_get_ids_noise_and_canaries(tmp_path):
    rows = np.random.default_rng(0).integers(0, 256, (6, 40, 3073), np.uint8)
    rows[:, :, 0] = np.arange(240).reshape(6, 40) % 10
    rows[0, 1] = rows[0, 0]  # one image twice
    for part, name in zip(rows, FILES, strict=True):
        part.tofile(tmp_path / name)
    (tmp_path / "key").write_text("secret")
    network = {"kind": "wrn", "shape": [3, 32, 32], "depth": 10, "widen": 1, "base": 4}
    setting = SETTING | {"data": {"kind": "cifar10", "path": tmp_path}, "network": network}
    grid = prepare(setting, "images", 3, SimpleNamespace(key=tmp_path / "key"))
    assert grid.x.shape == (239 + CANARIES, 3, 32, 32)
    assert grid.x.dtype == np.uint8
    assert len(set(grid.record.values)) == 239 + CANARIES
    x = PreparedSetting(grid, setting, 3, "", None, 1)._data.x[:-CANARIES]
    assert abs(float(x.mean())) < 1e-4
    assert float(x.std()) == pytest.approx(1, abs=1e-3)
    with pytest.raises(AuditError, match=r"images of 3072 numbers, not \[1, 8, 8\]"):
        prepare(setting | {"network": network | {"shape": [1, 8, 8]}}, "x", 3, SimpleNamespace(key=tmp_path / "key"))


def test_a_question_is_compared_with_its_own_other_answers():
    grid = xr.Dataset(
        {},
        {"answer": ("class", [10, 11, 12]), "code": ("record", [0, 2, 1]), "choices": ("record", [3, 3, 2])},
    )
    assert rivals(grid).tolist() == [[11, 12], [10, 11], [10, 10]]
