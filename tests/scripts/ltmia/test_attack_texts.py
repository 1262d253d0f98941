"""Verdicts on a model pair that was made outside the workflow."""

import numpy as np
import pandas as pd
import pytest
from ltmia_pipeline import HELD_OUT, LENGTH, call, documents

from memaudit.common.errors import AuditError
from memaudit.common.io import read_table, write_table
from memaudit.statistics.conformal_p_values import conformal_p_values
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.target_combinations import error_rates
from memaudit.studies.ltmia.transfer_bootstrap import is_combination

pytestmark = pytest.mark.usefixtures("one_thread")


def measured(made, folder, outside):
    """Scores of held-out texts, with this share of features outside the range."""
    table = read_table(made / "transformer.parquet")
    write_table(table.assign(outside=outside), folder / "held_out.parquet")
    return folder / "held_out.parquet"


def verdicts_on(made, pair, folder, target=None, known=None, rate=None, outside=1.0, texts=None):
    own, theirs, _ = pair
    texts = texts or [*theirs, " ".join(theirs)]
    pd.DataFrame({"own": texts}).to_csv(folder / "mine.csv", index=False)
    inputs = [f"target={target or own}", f"base={made}/base/config.json", f"texts={folder}/mine.csv"]
    inputs += [f"weights={made}/transformer.safetensors", f"card={made}/transformer.json"]
    if known is not None:
        pd.DataFrame({"own": known}).to_csv(folder / "known.csv", index=False)
        inputs.append(f"nonmembers={folder}/known.csv")
    params = {"columns": ["own"], "rate": rate, "held_out": HELD_OUT}
    outputs = [folder / "out" / f"verdicts.{kind}" for kind in ("csv", "txt")]
    call("ltmia_attack_texts", [*inputs, f"held_out={measured(made, folder, outside)}"], outputs, folder, params)
    return pd.read_csv(outputs[0]), outputs[1].read_text(encoding="utf-8")


def test_verdicts_on_a_pair_that_was_made_elsewhere(made, pair, tmp_path, capfd):
    (table, said), member = verdicts_on(made, pair, tmp_path), pair[2]
    assert table["text"].tolist() == list(range(1, 62))
    assert table["cut"].iloc[60]
    assert table["tokens"].iloc[60] == LENGTH
    assert auc(table["ref_loss"].to_numpy()[:60], member) > 0.9
    known = read_table(made / "transformer.parquet")
    expected = error_rates(table["score"].to_numpy(), known[is_combination(known, HELD_OUT)])
    for name in expected:
        np.testing.assert_allclose(table[name], expected[name])
    assert (table["score"] != 0).all()
    assert not {"probability", "p_value", "detected"} & set(table)
    assert said.startswith(f"61 texts, of which {table['cut'].sum()} were cut after {LENGTH} tokens.\nNo known non-mem")
    assert said.splitlines()[1] in capfd.readouterr().err


def test_known_non_members_give_p_values_by_their_own_scores(made, pair, tmp_path):
    """Their scores are those that they have as texts in question."""
    fresh = documents("letters", 100, 12)[60:]
    own, _ = verdicts_on(made, pair, tmp_path, texts=fresh)
    table, said = verdicts_on(made, pair, tmp_path, known=fresh, rate=0.3)
    expected = conformal_p_values(table["score"].to_numpy(), own["score"].to_numpy())
    np.testing.assert_allclose(table["p_value"], expected, atol=1.5 / 41)  # scores differ by rounding in other batches
    assert "40 known non-members: the smallest possible p-value is 0.0244." in said
    assert table["detected"].dtype == bool


def test_a_text_that_is_also_a_known_non_member_is_named(made, pair, tmp_path):
    with pytest.raises(AuditError, match=r"mine.csv: text 4 is also one of .*known.csv; leave it out of one"):
        verdicts_on(made, pair, tmp_path, known=[pair[1][3], "l1 l2 l3"])


def test_a_run_whose_texts_are_outside_the_training_range_is_refused(made, pair, tmp_path):
    with pytest.raises(AuditError, match=r"of the texts have features further outside the range of the classifier's"):
        verdicts_on(made, pair, tmp_path, outside=0.0)
    assert not (tmp_path / "out" / "verdicts.csv").exists()


def test_where_the_target_is_the_base_every_text_has_even_odds(made, pair, tmp_path, capfd):
    table, _ = verdicts_on(made, pair, tmp_path, made / "base", documents("letters", 90, 12)[60:])
    assert (table["score"] == 0).all()
    assert (table["rank"] == 1).all()
    assert (table["p_value"] == 1).all()
    assert "predicts every text as its base does" in capfd.readouterr().err
