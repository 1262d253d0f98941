"""The script of the attack on predictions: its results and the order in which members are accused."""

import numpy as np
import pandas as pd
import pytest
from attack_grids import call
from prediction_examples import FEW, predictions

from memaudit.attacks.prediction_scores import TREES
from memaudit.auditing.predictions.prediction_summary import Area, Control, Planted
from memaudit.common.io import read_json, read_table, write_table


def test_results_and_risk_are_those_of_the_table(tmp_path, project, monkeypatch):
    monkeypatch.setitem(TREES, "max_iter", 3)
    rng = np.random.default_rng(0)
    found, member = predictions(rng, 80, 80, leak=True, references=1)
    table = pd.DataFrame({"member": member, "row": [*range(1, 81)] * 2, "unit": np.arange(160), "label": found.labels})
    table[["p0", "p1"]], table["r0"] = found.probabilities, found.references[0]
    table[["c0", "c1", "c2", "c3"]] = found.features
    table["c4_category"] = rng.integers(0, 3, 160) * 1.0
    write_table(table.sample(frac=1, random_state=0), tmp_path / "predictions.parquet")
    outputs = [f"scores={tmp_path / 'scores.json'}", f"risk={tmp_path / 'risk.parquet'}"]
    settings = FEW | {"offline_a": 0.3}
    call(project, "audit_attack_predictions", [f"table={tmp_path / 'predictions.parquet'}"], outputs, seed=1,
         predictions=settings)  # fmt: skip
    facts, risk = read_json(tmp_path / "scores.json"), read_table(tmp_path / "risk.parquet")
    assert Area.model_validate(facts["auc"]).detected
    assert [Control.model_validate(one).name for one in facts["controls"]] == ["blind", "stand-in", "references"]
    assert Planted.model_validate(facts["planted"]).lookup.estimate == pytest.approx(1, abs=0.02)
    assert sorted(risk["row"]) == [*range(1, 81)]
    assert risk["false_positive_rate"].is_monotonic_increasing
    assert risk["false_positive_rate"].between(0, 1).all()
    assert 1 - risk["false_positive_rate"].mean() == pytest.approx(facts["auc"]["estimate"], abs=0.05)
    assert (tmp_path / "risk.parquet").stat().st_mode & 0o077 == 0
