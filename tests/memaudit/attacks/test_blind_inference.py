"""Without the model: what follows from other columns is inferred and linked, and nothing else."""

import numpy as np
import pytest

from memaudit.attacks import blind_inference, candidate_records
from memaudit.attacks.blind_inference import DOUBT


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr(blind_inference, "TREES", 20)


@pytest.mark.parametrize("related", [True, False])
def test_a_column_is_imputed_from_columns_that_are_related_to_it(related):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    bins = (x[:, 0] > 0).astype(int) if related else rng.integers(0, 2, 400)
    x[::50, 1] = np.nan
    found = blind_inference.imputed(x[:300], np.where(rng.random(300) < 0.1, -1, bins[:300]), x[300:], 3)
    accuracy = (found.argmax(1) == bins[300:]).mean()
    assert accuracy > 0.85 if related else accuracy < 0.65
    assert found.min() == pytest.approx(DOUBT / 3)  # a bin that no other record has
    assert found.sum(1) == pytest.approx(1)


def test_without_a_known_value_all_bins_are_alike():
    assert (blind_inference.imputed(np.zeros((4, 1)), np.full(4, -1), np.zeros((2, 1)), 2) == 0.5).all()


@pytest.mark.parametrize("related", [True, False])
def test_halves_are_linked_that_are_related(related):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(460, 2))
    x[:, 1] += 3 * x[:, 0] * related
    tries = candidate_records.joined(x[400:], np.arange(60), np.array([False, True]), rng)
    y = rng.normal(size=(460, 1))
    found = blind_inference.linked(x[:400], tries, np.array([False, True]), (y[:400], y[400:]), rng)
    accuracy = (found.argmax(1) == tries.truth).mean()
    assert accuracy > 0.3 if related else accuracy < 0.3
