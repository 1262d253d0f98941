"""The preparation of a setting: its grid, its initial weights, and what is printed about them."""

import numpy as np
import pytest
from predict_pipeline import CANARIES, MODELS, NOISE, RECORDS, prepared, text_setting
from safetensors.numpy import load_file

from memaudit.common.io import read_grid

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_table_has_planted_records_and_balanced_membership(table, tmp_path, capsys):
    made = prepared(table, tmp_path)
    grid = read_grid(made["records"])
    assert grid.sizes["record"] == RECORDS + CANARIES
    assert (grid.membership.values.sum(0) == MODELS / 2).all()
    assert load_file(made["weights"]) == {}
    printed = capsys.readouterr().out
    assert f"{RECORDS + CANARIES} records of 2 classes, {round(NOISE * RECORDS)} with another label" in printed


def test_small_language_models_get_the_same_pretrained_weights_again(table, tmp_path):
    setting = text_setting({"pretraining": {"steps": 20, "batch": 4, "learning_rate": 0.01}})
    weights = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        weights.append(load_file(prepared(table, tmp_path / name, setting)["weights"]))
    assert weights[0].keys() == weights[1].keys() != set()
    for name in weights[0]:
        np.testing.assert_array_equal(weights[0][name], weights[1][name])
