"""The script that benchmarks a small TabICL: scores of all methods on every table, their means, and the card."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import load_script

from memaudit.common.io import read_json
from memaudit.models import tabicl_benchmark

pytestmark = pytest.mark.usefixtures("one_thread")


NAMES = ("credit-g", "kc1")


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Two small tables, in place of the benchmark's."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(tabicl_benchmark, "BUNDLED", {"classification": {}})
    monkeypatch.setattr(tabicl_benchmark, "TABLES", {"classification": NAMES})
    for name in NAMES:
        x = rng.normal(size=(48, 2))
        table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "target": np.where(x[:, 0] > 0, "yes", "no")})
        table.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    return tmp_path


def test_every_table_has_scores_of_every_method_and_the_card_shows_them(tables, project):
    script, folder = load_script("models_evaluate_tabicl"), project / "resources/tabicl-small"
    params = SimpleNamespace(csv_folder=str(tables), seed=0, splits=2, rows=40)
    inputs = [str(folder / "tabicl-small.ckpt"), str(folder / "model.json")]
    outputs = [str(tables / "benchmark.json"), str(tables / "README.md")]
    script.main(SimpleNamespace(input=inputs, output=outputs, params=params))
    benchmark = read_json(outputs[0])
    assert list(benchmark["data"]) == list(NAMES)
    for entry in benchmark["data"].values():
        assert (entry["rows"], entry["features"], entry["classes"]) == (40, 2, 2)
        assert set(entry["auc"]) == set(benchmark["mean_auc"])
        assert all(len(values) == 2 for values in entry["auc"].values())
    assert benchmark["mean_auc"]["TabICL small, raw"] > 0.9, "the first column separates the classes"
    assert "| credit-g | 40 | 2 | 2 |" in (tables / "README.md").read_text(encoding="utf-8")


def test_macro_auc_is_the_mean_over_classes_against_the_rest():
    macro_auc = load_script("models_evaluate_tabicl").macro_auc
    y = pd.Series([0, 1, 2, 0, 1, 2])
    assert macro_auc(y, np.eye(3)[y]) == 1
    assert macro_auc(y, np.full((6, 3), 1 / 3)) == 0.5
    probability = np.array([[0.6, 0.4, 0], [0.7, 0.3, 0], [0, 0, 1], [0.8, 0.2, 0], [0.5, 0.5, 0], [0, 0, 1]])
    assert macro_auc(y, probability) == pytest.approx((7 / 8 + 7 / 8 + 1) / 3)
