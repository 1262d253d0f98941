"""Attention tells who is in a context of the shipped model or a planted TabPFN, and nothing about other records."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_wine
from small_tabicl import tabicl
from torch import nn

from memaudit.attacks.attention_signals import BLOCK
from memaudit.attacks.attention_statistics import GAP, STATISTICS
from memaudit.attacks.calibrate import calibrate
from memaudit.common.errors import AuditError
from memaudit.data.membership_matrices import balanced
from memaudit.models.batched_queries import Question, answer
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.models.tabicl import TabICLBranch
from memaudit.models.tabpfn import TabPFNBranch
from memaudit.rehearsal import small_tabpfn
from memaudit.statistics import roc
from memaudit.studies.attacks.attention_reader import reader


@pytest.fixture(scope="module")
def wine():
    """Statistics (context, record, statistic) of 16 contexts of the shipped model, and the membership matrix.

    The last 40 records are in no context. Record 0 has a value that no other has.
    """
    x, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(x))
    x, y = torch.from_numpy(x[order].astype(np.float32)), torch.from_numpy(y[order])
    x[0, 0] = 40.0
    membership = np.zeros((16, len(x)), bool)
    membership[:, :-40] = balanced(16, len(x) - 40, np.random.default_rng(1))
    model = reader(TabICLBranch.of_file(SHIPPED, SHIPPED_CARD, "cpu"), "model.json")
    return torch.stack(answer(model, [Question(x[row], y[row], x) for row in membership])).numpy(), membership


def test_attention_finds_members_without_and_with_shadow_contexts(wine):
    found, membership = (part[:, :-40] for part in wine)
    gap, largest = (found[..., STATISTICS.index(name)].astype(float) for name in (GAP, "largest"))
    assert roc.auc(gap, membership) > 0.7
    assert roc.auc(calibrate(largest, membership, "lira_shrunk"), membership) > 0.85


def test_a_record_with_a_unique_value_is_found_in_every_context(wine):
    found, membership = (part[:, 0] for part in wine)
    assert found[membership, 0].min() > found[~membership, 0].max()


def test_attention_finds_nothing_about_records_in_no_context(wine):
    found = wine[0][:, -40:].astype(float)
    drawn = balanced(16, 40, np.random.default_rng(2))
    for place, _ in enumerate(STATISTICS):
        assert abs(roc.auc(found[..., place], drawn) - 0.5) < 0.08
        assert abs(roc.auc(calibrate(found[..., place], drawn, "lira_shrunk"), drawn) - 0.5) < 0.08


def test_exchanged_memberships_are_not_found(wine):
    found, membership = (part[:, :-40] for part in wine)
    scores = calibrate(found[..., 0].astype(float), np.roll(membership, 1, 1), "lira_shrunk")
    assert abs(roc.auc(scores, np.roll(membership, 1, 1)) - 0.5) < 0.05


class SignsOfRows(nn.Module):
    """Queries and keys that are random signs of a row: long products of equal rows alone."""

    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, rows):
        directions = torch.randn(rows.shape[-1], self.size, generator=torch.Generator().manual_seed(0))
        signs = (100 * rows @ directions).sin().sign()
        return signs.repeat(*[1] * (rows.ndim - 1), rows.shape[-1] // self.size)


def planted_in_tabpfn(folder, version):
    """A small TabPFN whose first block attends to the row that equals the query: targets change no row."""
    file = small_tabpfn.write(folder / version, version, "classification")
    card = {"version": version, "options": {}, "task": "classification"}
    model = TabPFNBranch.load(file.parent, card, "cpu")
    for name, weight in model.module.named_parameters():
        if "target_embedder" in name or "y_encoder" in name:
            nn.init.zeros_(weight)
    layer = model._layers()[BLOCK]
    layer.q_projection = layer.k_projection = SignsOfRows(layer.head_dim)
    layer.softmax_scaling_layer = None  # random, it may prefer short products
    return model


@pytest.mark.parametrize("version", small_tabpfn.VERSIONS)
def test_a_lookup_planted_in_tabpfn_finds_members_and_no_record_in_no_context(version, tmp_path):
    rng, inside = np.random.default_rng(0), 24
    x, y = torch.from_numpy(rng.normal(size=(48, 9)).astype(np.float32)), torch.from_numpy(rng.integers(0, 2, 48))
    membership = np.zeros((16, len(x)), bool)
    membership[:, :inside] = balanced(16, inside, rng)
    model = reader(planted_in_tabpfn(tmp_path, version), "model.json")
    found = torch.stack(answer(model, [Question(x[row], y[row], x) for row in membership])).double().numpy()
    members, others = found[:, :inside], found[:, inside:]
    drawn = balanced(16, others.shape[1], rng)
    for place, _ in enumerate(STATISTICS):
        assert roc.auc(members[..., place], membership[:, :inside]) > 0.65
        assert abs(roc.auc(others[..., place], drawn) - 0.5) < 0.12
    largest = STATISTICS.index("largest")
    assert (
        roc.auc(calibrate(members[..., largest], membership[:, :inside], "lira_shrunk"), membership[:, :inside]) > 0.8
    )
    assert abs(roc.auc(calibrate(others[..., largest], drawn, "lira_shrunk"), drawn) - 0.5) < 0.12


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_classifiers_and_regressors_are_read_a_part_at_a_time_as_at_once(kind):
    x, y = torch.randn(30, 4), torch.arange(12) % 3 if kind == "classification" else torch.randn(12)
    question = Question(x[:12], y, x[12:])
    (whole,), (parts,) = (answer(reader(tabicl(kind), "-"), [question], memory) for memory in (2048, 0))
    assert whole.shape == (18, 3)
    torch.testing.assert_close(whole, parts, atol=1e-5, rtol=0)


def test_a_model_without_attention_on_its_context_is_refused_by_its_card():
    with pytest.raises(AuditError, match=r"forest/model.json: white-box attacks read .* TabICL and TabPFN"):
        reader(SimpleNamespace(), "forest/model.json")
