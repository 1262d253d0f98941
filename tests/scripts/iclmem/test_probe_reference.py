"""The probe of the base model on a tiny table: signals, canaries and free text."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from wine_probes import (
    call,
    log_probabilities,
    same,
    split_of,
)

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table, write_json, write_table

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_model_that_learns_nothing_has_the_signals_of_the_base_model(world, reference, tmp_path):
    grid = call(world, tmp_path / "0.nc", arm={"learning_rate": 0.0})
    for epoch in (1, 2):
        np.testing.assert_array_equal(grid.signals.sel(epoch=epoch).values, reference.signals.values[:1])
        np.testing.assert_array_equal(grid.vanilla.sel(stage=epoch).values, grid.vanilla.sel(stage=0).values)
    same(grid, reference.isel(split=[0]), ("id", "role", "label", "manipulation", "category", "signal"))
    assert np.isfinite(reference.signals.values[:, :, :2]).all()
    assert np.isnan(reference.signals.values[:, :, 2]).all()  # a manipulation that repeats another is not queried


def test_canaries_have_the_label_that_the_base_model_finds_least_probable(world, tmp_path):
    chosen = call(world, tmp_path / "canaries.nc", "reference", arm={"labels": "canaries"})
    split = split_of(world, 0)
    rows, in_context = split.targets(8, 4), split.rows("context")
    expected = log_probabilities(world, split, rows[:16], in_context).argmin(1).tolist()
    for row in rows[16:]:
        expected.append(log_probabilities(world, split, [row], in_context[in_context != row]).argmin().item())
    assert chosen.label.values[0].tolist() == expected
    assert (chosen.label.values[0] != split.true[rows].numpy()).mean() > 0.6
    grid = call(world, tmp_path / "0.nc", arm={"labels": "canaries", "epochs": [1]})
    assert (grid.label.values == chosen.label.values).all()
    # `relabelled` uses these labels, in the context too; `vanilla` the true ones.
    relabelled = split.true.clone()
    relabelled[rows] = torch.from_numpy(chosen.label.values[0]).to(relabelled.dtype)
    for name, labels in {"relabelled": relabelled, "vanilla": split.true}.items():
        logs = log_probabilities(world, replace(split, true=labels), rows, in_context)
        loss = -logs[torch.arange(20), labels[rows]].numpy()
        np.testing.assert_allclose(grid[name].sel(signal="loss", stage=0).values[0], loss, atol=1e-4)


def test_columns_of_free_text_are_left_out_on_request(world, reference, tmp_path):
    for kind in ("splits", "records"):
        write_table(read_table(world / f"wine.{kind}").assign(words="some words"), world / f"notes.{kind}")
    schema = read_json(world / "wine.schema")
    write_json(schema | {"columns": [*schema["columns"], {"name": "words", "type": "text"}]}, world / "notes.schema")
    with pytest.raises(AuditError, match="'words' holds texts that are no categories"):
        call(world, tmp_path / "0.nc", "reference", ("notes",))
    grid = call(world, tmp_path / "1.nc", "reference", ("notes",), free_text="leave_out")
    assert (grid.columns, grid.columns_left_out, reference.columns_left_out) == (13, 1, 0)
