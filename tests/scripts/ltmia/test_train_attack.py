"""The classifier: trained, validated and tested on other texts."""

import numpy as np
import pytest
from ltmia_pipeline import HELD_OUT, TRAINING

from memaudit.attacks.learned_classifier import load, odds_of_rows
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
