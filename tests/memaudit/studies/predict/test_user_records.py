"""A user's records and the recommended setting: read, checked and ranked."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common.errors import AuditError
from memaudit.common.io import write_json
from memaudit.studies.predict.user_records import (
    learned_scores,
    of_checkpoints,
    ranked_records,
    read_records,
    read_setting,
    stacked,
)

RATE = {"estimate": 0.5, "low": 0.4, "high": 0.6, "n": 10, "null": 0.1}
SETTING = {"profile": "practitioners", "predictor": "psmi", "threshold": 0.0, "chosen": "fixed", "layer": "last"}
SETTING |= {"tpr": RATE, "fpr": RATE, "memorized": RATE, "case": "toy", "targets": 2, "models": 16}
SETTING |= {"drop": 0.95, "least_drop": 0.94, "most_drop": 0.96}


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"threshold": 0}, "holds no recommended setting"),
        ([SETTING, SETTING], "holds no recommended setting"),
        ([SETTING | {"tpr": 0.5}], "error rates without their intervals"),
        ([SETTING | {"tpr": RATE | {"n": 0}}], "no record was memorized there"),
        ([SETTING | {"memorized": RATE | {"null": 0.45}}], "no more was memorized there than by chance"),
    ],
)
def test_settings_without_known_error_rates_are_refused(settings, line, tmp_path):
    write_json([SETTING, {"profile": "researchers"}], tmp_path / "good.json")
    assert read_setting(str(tmp_path / "good.json")) == SETTING
    write_json(settings, tmp_path / "bad.json")
    with pytest.raises(AuditError, match=line):
        read_setting(str(tmp_path / "bad.json"))


def test_states_are_read_from_the_column_or_from_their_file(tmp_path):
    states = np.arange(6.0).reshape(3, 2)
    table = pd.DataFrame({"id": list("abc"), "label": ["x", "y", "x"], "hidden": list(states)})
    table.to_parquet(tmp_path / "all.parquet")
    table.drop(columns="hidden").to_parquet(tmp_path / "plain.parquet")
    np.save(tmp_path / "states.npy", states)
    for path, file in (("all.parquet", None), ("plain.parquet", str(tmp_path / "states.npy"))):
        records, observed = read_records(str(tmp_path / path), file)
        assert records["id"].tolist() == list("abc")
        np.testing.assert_array_equal(observed, states)
    with pytest.raises(AuditError, match="has no column 'hidden'"):
        read_records(str(tmp_path / "plain.parquet"), None)


def test_lists_of_one_length_are_stacked():
    assert stacked(pd.Series([[1, 2], [3, 4]], name="logits"), "f").tolist() == [[1, 2], [3, 4]]
    with pytest.raises(AuditError, match="f: column logits must hold lists of numbers, all of one length; fix"):
        stacked(pd.Series([[1, 2], [3]], name="logits"), "f")


def test_records_are_ranked_by_the_recommended_predictor_and_near_ones_are_marked():
    scores = {"psmi": np.array([-0.5, 0.1, 0.0, 2.0]), "loss": np.array([4.0, 3.0, 2.0, 1.0])}
    error = np.full(4, 0.06)
    ranked = ranked_records(pd.Series(list("abcd")), scores, error, SETTING)
    assert ranked["id"].tolist() == list("dbca")
    assert ranked["rank"].tolist() == [1, 2, 3, 4]
    assert ranked["flagged"].tolist() == [True, True, True, False]
    assert ranked["near_threshold"].tolist() == [False, True, True, False]
    by_loss = ranked_records(pd.Series(list("abcd")), scores, error, SETTING | {"predictor": "loss", "threshold": 2.5})
    assert by_loss["id"].tolist() == list("abcd")
    assert by_loss["flagged"].tolist() == [True, True, False, False]
    assert not by_loss["near_threshold"].any()


def test_a_learned_predictors_setting_is_that_of_its_name(tmp_path):
    learned = SETTING | {"profile": "learned", "predictor": "learned", "features": ["loss"], "weights": [1.0]}
    write_json([SETTING, learned], tmp_path / "both.json")
    assert read_setting(str(tmp_path / "both.json"), "learned") == learned
    with pytest.raises(AuditError, match="holds no recommended setting for learned_checkpoints"):
        read_setting(str(tmp_path / "both.json"), "learned_checkpoints")


def test_columns_of_checkpoints_give_the_last_losses_and_the_course():
    records = pd.DataFrame({"losses": [[2.0, 1.0], [0.5, 0.1]], "gaps": [[-1.0, 1.0], [2.0, -3.0]]})
    found = of_checkpoints(records, "r.parquet")
    np.testing.assert_array_equal(found["loss"], [1.0, 0.1])
    np.testing.assert_array_equal(found["logit_gap"], [-1.0, 3.0])
    np.testing.assert_array_equal(found["share_wrong"], [0.5, 0.5])
    np.testing.assert_array_equal(found["forgetting_events"], [0, 1])
    assert of_checkpoints(records[["losses"]], "r.parquet") == {}
    with pytest.raises(AuditError, match="2 losses and 1 gaps of a record"):
        of_checkpoints(records.assign(gaps=[[1.0], [2.0]]), "r.parquet")
    with pytest.raises(AuditError, match="that of record 0 is -2"):
        of_checkpoints(records.assign(losses=[[-2.0, 1.0], [0.5, 0.1]]), "r.parquet")


def test_learned_scores_come_with_what_they_combine():
    rng = np.random.default_rng(0)
    states, labels, scores = (
        rng.normal(size=(20, 2)),
        np.arange(20) % 2,
        {"loss": rng.random(20), "psmi": rng.random(20)},
    )
    setting = {"predictor": "learned", "features": ["loss", "neighbour_value", "gradient_norm"], "weights": [1, 1, 0]}
    found = learned_scores(setting, "r.json", states, labels, scores)
    assert list(found)[:3] == ["learned", "loss", "psmi"]
    assert {*found} > {"neighbour_disagreement", "neighbour_value", "gradient_norm"}
    np.testing.assert_array_equal(found["loss"], scores["loss"])
