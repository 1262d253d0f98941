"""Verdicts on a model pair that was made outside the workflow."""

import numpy as np
import pandas as pd
import pytest
from ltmia_pipeline import HELD_OUT, LENGTH, call
from scipy.special import expit

from memaudit.common.io import read_table
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.target_combinations import error_rates
from memaudit.studies.ltmia.transfer_bootstrap import is_combination

pytestmark = pytest.mark.usefixtures("one_thread")


def verdicts_on(made, pair, folder, target=None):
    own, texts, _ = pair
    pd.DataFrame({"own": [*texts, " ".join(texts)]}).to_csv(folder / "mine.csv", index=False)
    inputs = [f"target={target or own}", f"base={made}/base/config.json", f"texts={folder}/mine.csv"]
    inputs += [f"weights={made}/transformer.safetensors", f"card={made}/transformer.json"]
    params = {"columns": ["own"], "held_out": HELD_OUT}
    outputs = [folder / "out" / "verdicts.csv"]
    call("ltmia_attack_texts", [*inputs, f"held_out={made}/transformer.parquet"], outputs, folder, params)
    return pd.read_csv(outputs[0])


def test_verdicts_on_a_pair_that_was_made_elsewhere(made, pair, tmp_path):
    table, member = verdicts_on(made, pair, tmp_path), pair[2]
    assert table["text"].tolist() == list(range(1, 62))
    assert table["cut"].iloc[60]
    assert table["tokens"].iloc[60] == LENGTH
    assert auc(table["ref_loss"].to_numpy()[:60], member) > 0.9
    known = read_table(made / "transformer.parquet")
    expected = error_rates(table["score"].to_numpy(), known[is_combination(known, HELD_OUT)])
    for name in expected:
        np.testing.assert_allclose(table[name], expected[name])
    np.testing.assert_allclose(table["probability"], expit(table["score"]))
    assert (table["score"] != 0).all()


def test_where_the_target_is_the_base_every_text_has_even_odds(made, pair, tmp_path, capfd):
    table = verdicts_on(made, pair, tmp_path, made / "base")
    assert (table["probability"] == 0.5).all()
    assert "predicts every text as its base does" in capfd.readouterr().err
