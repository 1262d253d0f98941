"""The classifier: trained, validated and tested on other texts."""

import numpy as np
import pytest
from ltmia_pipeline import HELD_OUT, TRAIN, TRAINING, call

from memaudit.attacks.learned_classifier import Ensemble, load, odds_of_rows
from memaudit.common.errors import AuditError
from memaudit.common.io import read_table
from memaudit.studies.ltmia.target_combinations import portions
from memaudit.studies.ltmia.transfer_bootstrap import is_combination

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_classifier_is_tested_on_new_texts(made, combinations):
    tested = read_table(made / "transformer.parquet")
    classifier = load(made / "transformer.safetensors", made / "transformer.json")
    for name in TRAINING:
        own, (table, rows) = tested[is_combination(tested, [name])], combinations[tuple(name)]
        places = portions(table["id"], 0.2, 0.2)
        assert own["id"].tolist() == table["id"][places["test"]].tolist()
        np.testing.assert_allclose(own["score"], odds_of_rows(classifier, rows[places["test"]]))
        for portion in ("training", "validation"):
            assert classifier.facts[portion][" ".join(name)] == len(table["id"][places[portion]])
    assert is_combination(tested, HELD_OUT).sum() == 80
    assert classifier.facts["settings"] | {"epochs": 3, "best_epoch": False} == classifier.facts["settings"]


def test_the_score_is_the_mean_of_the_seeds_log_odds_and_each_has_a_column(made):
    tested = read_table(made / "transformer.parquet")
    seeds = tested[["score seed 0", "score seed 1"]]
    assert (seeds["score seed 0"] != seeds["score seed 1"]).any()
    np.testing.assert_allclose(tested["score"], seeds.mean(axis=1))
    assert isinstance(load(made / "transformer.safetensors", made / "transformer.json"), Ensemble)
    assert "shuffled 3" not in tested


def test_classifiers_of_shuffled_labels_score_the_held_out_combinations_alone(made):
    tested = read_table(made / "transformer.parquet")
    nulls = tested[[f"shuffled {number}" for number in range(3)]].notna()
    assert nulls.eq(is_combination(tested, HELD_OUT), axis=0).all().all()


def test_held_out_targets_are_read_when_everything_is_chosen_and_saved(made, tmp_path):
    """Without the files of other targets the classifier is the same, bit for bit, and only then they are missed."""
    outputs = [f"weights={tmp_path}/a.safetensors", f"card={tmp_path}/a.json", f"scores={tmp_path}/a.parquet"]
    inputs = [f"rows={made}/0.npy", f"scores={made}/0.parquet"]
    inputs += [f"other_rows={tmp_path}/none.npy", f"other_scores={tmp_path}/none.parquet"]
    with pytest.raises(AuditError, match=r"none\.parquet"):
        call("ltmia_train_attack", inputs, outputs, tmp_path, TRAIN | {"shuffles": 0}, classifier="transformer")
    assert (tmp_path / "a.safetensors").read_bytes() == (made / "transformer.safetensors").read_bytes()
