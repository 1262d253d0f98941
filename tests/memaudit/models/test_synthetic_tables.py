"""The prior of synthetic tables: what a batch promises, and that every family can be learnt."""

import numpy as np
import pytest
import torch
from sklearn.ensemble import ExtraTreesClassifier

from memaudit.models.synthetic_tables import FAMILIES, Shape, tables

SETTINGS = {"max_classes": 10, "binary": 0.45, "families": dict.fromkeys(FAMILIES, 1.0)}


def only(family):
    return {**SETTINGS, "families": {**dict.fromkeys(FAMILIES, 0.0), family: 1.0}}


@pytest.mark.parametrize("shape", [Shape(7, 40, 30, 5), Shape(1, 30, 8, 1), Shape(3, 64, 48, 64)])
def test_batch_has_the_requested_shape_and_no_infinity(shape):
    x, y = tables(shape, SETTINGS, seed=0)
    assert x.shape == (shape.tables, shape.context + shape.query, shape.features)
    assert y.shape == x.shape[:2]
    assert not x.isinf().any()
    assert x.dtype == torch.float32
    assert y.dtype == torch.int64


def test_context_classes_are_contiguous_and_unseen_query_classes_are_ignored():
    sizes, ignored = set(), 0
    for seed in range(60):
        _, y = tables(Shape(8, 32, 32, 4), SETTINGS, seed)
        for row in y:
            context = set(row[:32].tolist())
            assert context == set(range(len(context)))
            assert set(row[32:].tolist()) <= context | {-1}
            sizes.add(len(context))
            ignored += int((row == -1).sum())
    assert sizes >= set(range(2, 11))
    assert ignored > 0


def test_batch_is_a_function_of_its_seed():
    first, again, other = (tables(Shape(4, 32, 32, 6), SETTINGS, seed) for seed in (1, 1, 2))
    assert all(torch.equal(a.nan_to_num(9e9), b.nan_to_num(9e9)) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[1], other[1])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_ties_the_classes_to_the_features(family):
    gains = []
    for seed in range(12):
        x, y = tables(Shape(4, 150, 100, 6), only(family), seed)
        for table, label in zip(x.nan_to_num(0).numpy(), y.numpy(), strict=True):
            model = ExtraTreesClassifier(30, random_state=0).fit(table[:150], label[:150])
            majority = np.bincount(label[:150]).argmax()
            gains.append((model.predict(table[150:]) == label[150:]).mean() - (label[150:] == majority).mean())
    assert np.mean(gains) > 0.08


def test_tables_show_what_real_ones_have():
    binned = gaps = heavy = constant = columns = 0
    for seed in range(40):
        x, _ = tables(Shape(8, 100, 50, 8), SETTINGS, seed)
        for column in x.transpose(1, 2).flatten(0, 1):
            seen = column[~column.isnan()]
            scaled = (seen - seen.mean()) / (seen.std() + 1e-6)
            columns += 1
            binned += len(seen.unique()) <= 20
            constant += len(seen.unique()) == 1
            gaps += len(seen) < len(column)
            heavy += bool(scaled.abs().max() > 6)
    assert 0.1 < binned / columns < 0.7
    assert 0.005 < gaps / columns < 0.2
    assert 0.02 < heavy / columns < 0.4
    assert constant / columns < 0.1


def test_two_classes_have_the_requested_frequencies():
    counts = [int(y.max()) + 1 for seed in range(60) for y in tables(Shape(8, 200, 8, 3), SETTINGS, seed)[1]]
    assert 0.4 < np.mean(np.array(counts) <= 2) < 0.7
