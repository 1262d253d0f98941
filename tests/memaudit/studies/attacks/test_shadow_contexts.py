"""Contexts of a membership matrix: rows with duplicates, targets, columns, queries to the model and its errors."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import xarray as xr
from scipy.stats import norm

from memaudit.common.errors import AuditError
from memaudit.models.model_protocol import Limits
from memaudit.models.predictive_distributions import Binned
from memaudit.studies.attacks import shadow_contexts
from memaudit.studies.attacks.shadow_contexts import Contexts

COUNTS = np.array([[1, 0, 2, 0], [0, 1, 0, 0], [3, 0, 0, 0]], dtype=np.uint8)


@pytest.fixture
def contexts():
    """Three contexts of four records, the last two of other variants; record 3 is in none."""
    columns = np.array([[True, True], [True, True], [False, True]])
    grid = xr.Dataset(
        {"counts": (("model", "record"), COUNTS), "columns": (("model", "feature"), columns)},
        {
            "variant": ("model", ["usual", "usual", "features 1"]),
            "rank": ("record", [1, 0, -1, 2]),
            "anonymity": ("model", [1, 1, 1]),
        },
        {"dataset": "toy"},
    )
    schema = {"task": "classification", "target": {"categories": ["0", "1"]}}
    schema |= {"columns": [{"name": name, "type": "numeric"} for name in "ab"]}
    return Contexts(grid, torch.arange(8.0).reshape(4, 2), torch.tensor([0, 1, 0, 1]), schema, "card", 1)


def test_rows_repeat_duplicates_and_columns_are_those_of_the_context(contexts):
    assert contexts.rows(0).tolist() == [0, 2, 2]
    assert contexts.columns(2).tolist() == [1]
    assert contexts.classes == 2


def test_first_contexts_are_of_the_first_variant(contexts):
    assert contexts.first(10).tolist() == [0, 1]
    assert contexts.first(1).tolist() == [0]


def test_targets_are_members_of_the_first_variants_contexts_by_rank(contexts):
    assert contexts.targets(10).tolist() == [1, 0]
    assert contexts.targets(1).tolist() == [1]


def test_the_model_is_queried_with_the_contexts_rows_and_columns_and_opened_once(contexts, monkeypatch):
    queried, opened = [], []

    def answer(model, questions, memory):
        queried.extend(questions)
        return [torch.zeros(len(questions[0].query_x), 2)]

    monkeypatch.setattr(
        shadow_contexts, "load", lambda *_: opened.append(1) or SimpleNamespace(limits=Limits(None, None, None))
    )
    monkeypatch.setattr(shadow_contexts, "answer", answer)
    for _ in range(2):
        assert contexts.query(2, contexts.x[:2], 100).shape == (2, 2)
    assert len(opened) == 1
    assert queried[0].context_x.tolist() == [[1.0]] * 3
    assert queried[0].context_y.tolist() == [0] * 3
    assert queried[0].query_x.tolist() == [[1.0], [3.0]]


def of_numbers(contexts):
    return replace(contexts, y=torch.tensor([0.0, 4.0, 1.0, 2.0]), schema=contexts.schema | {"task": "regression"})


def test_a_regressors_density_is_that_of_the_true_number(contexts, monkeypatch):
    binned = Binned.from_normal(torch.tensor([1.0, 2.0]).double(), torch.tensor([1.0, 0.5]).double())
    monkeypatch.setattr(shadow_contexts, "load", lambda *_: SimpleNamespace(limits=Limits(None, None, 0)))
    monkeypatch.setattr(shadow_contexts, "answer", lambda *_: [binned])
    numbers = of_numbers(contexts)
    found = numbers.densities(0, numbers.x[:2], torch.tensor([1.5, 2.0]), 100)
    np.testing.assert_allclose(found[:, 0], norm.logpdf([1.5, 2.0], [1, 2], [1, 0.5]), atol=6e-3)  # of the bins' width
    np.testing.assert_allclose(found[:, 1], [1, 2], atol=1e-6)


def test_a_regressor_of_points_has_no_density(contexts, monkeypatch):
    def points(x, y, queries):
        assert y.tolist() == [[0, 1, 1]]
        return torch.full(queries.shape[:2], 7.0)

    model = SimpleNamespace(limits=Limits(None, None, 0), points_alone=True, points=points)
    monkeypatch.setattr(shadow_contexts, "load", lambda *_: model)
    numbers = of_numbers(contexts)
    assert numbers.classes == 0
    found = numbers.densities(0, numbers.x[:2], numbers.y[:2], 100)
    assert found[:, 0].isnan().all()
    assert found[:, 1].tolist() == [7, 7]


@pytest.mark.parametrize(("context", "line"), [([], "a context has no record"), ([0, 1], "an answer is not a number")])
def test_an_empty_context_and_an_answer_that_is_no_number_are_errors_of_one_line(contexts, monkeypatch, context, line):
    monkeypatch.setattr(shadow_contexts, "load", lambda *_: SimpleNamespace(limits=Limits(None, None, None)))
    monkeypatch.setattr(shadow_contexts, "answer", lambda *_: [torch.full((3, 2), torch.nan)])
    with pytest.raises(AuditError, match=f"card, data set toy, variant 'usual': .*{line}"):
        contexts.query(0, torch.zeros(3, 2), 100, context=np.array(context, dtype=int))
