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
from memaudit.studies.predict.planted_records import likely, mislabelled, with_canaries
from memaudit.studies.predict.setting_records import prepare, rivals
from memaudit.studies.predict.setting_sources import Records
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


def test_another_label_is_one_that_the_record_may_have():
    count = 3000
    choices = np.tile([2, 4, 3], count // 3)
    code = np.zeros(count, int)
    plain = Records(np.zeros((count, 1)), code, code, choices, code.astype(str), code, code > 0, np.zeros(1, bool))
    noisy = mislabelled(plain, 0.5, np.random.default_rng(0))
    changed = noisy.code != noisy.clean
    assert changed.sum() == count / 2
    assert (noisy.code < choices).all()
    for choice in (2, 3, 4):
        assert set(noisy.code[changed & (choices == choice)]) == set(range(1, choice))
    assert with_canaries(plain, 0, np.random.default_rng(0)) is plain


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


def of_words(words, code, classes):
    none, count = np.zeros(0, bool), len(code)
    choices, ids = np.full(count, classes), np.arange(count)
    return Records(words, code, code, choices, ids.astype(str), ids, np.zeros(count, bool), none, words=True)


def test_the_label_of_a_canary_is_an_unlikely_one():
    """Three classes of words; a canary of the words of a class has either other label."""
    code = np.repeat(np.arange(3), 30)
    records = of_words(np.tile(code[:, None], (1, 4)), code, 3)
    assert likely(records, np.array([[2, 2, 2, 0], [1, 1, 1, 1]])).tolist() == [2, 1]
    planted = with_canaries(records, 40, np.random.default_rng(0))
    canary = planted.canary
    assert (planted.code[canary] != likely(records, planted.x[canary])).all()
    assert set(planted.code[canary]) == {0, 1, 2}


def test_a_question_is_compared_with_its_own_other_answers():
    grid = xr.Dataset(
        {},
        {"answer": ("class", [10, 11, 12]), "code": ("record", [0, 2, 1]), "choices": ("record", [3, 3, 2])},
    )
    assert rivals(grid).tolist() == [[11, 12], [10, 11], [10, 10]]
