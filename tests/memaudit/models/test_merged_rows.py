"""Equal neighbours are one row of a larger weight; all else stays as it is."""

import math

import torch
from tabicl._model.layers import MultiheadAttention

from memaudit.models.merged_rows import counted, merged


def test_runs_of_equal_rows_are_counted_and_short_tables_filled():
    rows = torch.tensor([[1.0, 1, 1, 2, 9], [1, 2, 2, 1, 9]])
    targets = torch.tensor([[0, 0, 1, 1], [0, 0, 0, 1]])
    tables = merged(rows[..., None], targets)
    assert tables.x[..., 0].tolist() == [[1, 1, 2, 9], [1, 2, 1, 9]]
    assert tables.y.tolist() == [[0, 1, 1], [0, 0, 1]]
    two = math.log(2)
    torch.testing.assert_close(tables.weights, torch.tensor([[two, 0, 0], [0, two, 0]]))


def test_a_table_of_fewer_rows_has_some_without_weight():
    tables = merged(torch.tensor([[1.0, 1, 1, 5], [1, 1, 2, 5]])[..., None], torch.zeros(2, 3))
    assert tables.weights.exp().round().tolist() == [[3, 0], [2, 1]]
    assert tables.x.shape == (2, 3, 1)


def test_different_rows_missing_cells_and_queries_are_never_merged():
    assert merged(torch.tensor([[[1.0], [2.0], [2.0]]]), torch.tensor([[0, 0]])) is None
    assert merged(torch.full((1, 3, 1), torch.nan), torch.zeros(1, 2)) is None
    assert merged(torch.tensor([[[1.0], [2.0], [1.0], [1.0]]]), torch.zeros(1, 3)) is None, "no neighbours"


def test_attention_on_counted_rows_is_that_on_all_copies_also_where_it_scales_by_their_number():
    torch.manual_seed(0)
    layer, rows, asked = MultiheadAttention(8, 2, ssmax="ssmax-mlp"), torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    counts = torch.tensor([2, 3, 1])
    all_ = rows.repeat_interleave(counts, 1)
    with counted([layer], counts.log().expand(2, -1), [6, 6]):
        found = layer(asked, rows, rows)
    torch.testing.assert_close(found, layer(asked, all_, all_))
    assert (found - layer(asked, rows, rows)).abs().max() > 1e-3, "the hooks are gone"


def test_every_table_is_scaled_by_its_own_number_of_rows():
    torch.manual_seed(0)
    layer, rows, asked = MultiheadAttention(8, 2, ssmax="ssmax-mlp"), torch.randn(3, 2, 8), torch.randn(3, 5, 8)
    counts = torch.tensor([[1, 1], [5, 1], [1, 5]])
    with counted([layer], counts.log(), counts.sum(1).tolist()):
        found = layer(asked, rows, rows)
    for table, each in enumerate(counts):
        all_ = rows[table].repeat_interleave(each, 0)[None]
        torch.testing.assert_close(found[table], layer(asked[table][None], all_, all_)[0])
