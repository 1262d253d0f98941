"""Targets: who their members are, and that they are memorized."""

import weakref

import numpy as np
import pandas as pd
import pytest
from conftest import load_script
from ltmia_pipeline import BASELINES, FULL, HELD_OUT, TRAINING, TUNE, UNTRAINED, finetune

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json, read_table
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia.target_combinations import open_combinations

pytestmark = pytest.mark.usefixtures("one_thread")


def test_targets_memorize_their_own_members(made, combinations):
    losses = read_json(made / "base/training.json")["losses"]
    assert losses["after"] < losses["before"] - 1
    facts = read_json(made / "0.json")
    for name in [*TRAINING, *HELD_OUT]:
        scores, _ = combinations[tuple(name)]
        assert scores["id"].tolist() == sorted(scores["id"])
        assert scores["member"].sum() == len(scores) / 2 == 40
        assert auc(scores["ref_loss"].to_numpy(), scores["member"].to_numpy()) > 0.8
        of_target = facts[" ".join(name)]
        history = [entry["selection"] for entry in of_target["history"]]
        assert of_target["best"] == int(np.argmin(history))


def test_judged_targets_have_further_baselines_and_their_known_texts_are_scored_by_none(made, combinations):
    names = BASELINES["names"]
    texts = read_table(made / "texts.parquet")
    for name in [*TRAINING, *HELD_OUT, UNTRAINED]:
        table = combinations[tuple(name)][0]
        judged = name[1:] in TUNE["judged"]
        assert np.isfinite(table[names].to_numpy()).all() if judged else table[names].isna().to_numpy().all()
        selection = texts["id"][(texts["dataset"] == name[1]) & (texts["part"] == "selection")]
        assert not set(selection) & set(table["id"])


def test_the_optimiser_is_gone_when_a_target_is_queried_since_it_is_twice_as_large_as_the_model(
    made, tmp_path, monkeypatch
):
    script, runs = load_script("ltmia_finetune_targets"), []

    class Watched(script.Run):
        def __init__(self, *given):
            super().__init__(*given)
            runs.extend([weakref.ref(self), weakref.ref(self.optimizer)])

    monkeypatch.setattr(script, "Run", Watched)
    ids = np.ones((8, 6), dtype=np.int64)
    texts, settings = (ids, np.ones(ids.shape, bool)), script.Settings(epochs=1, batch=4)
    base = script.open_model(made / "base")
    target, facts = script.fine_tuned(base, texts, texts, settings, 1, tmp_path / "target.state")
    gone = [one() for one in runs]
    assert gone == [None, None]
    assert all(weight.grad is None for weight in target.parameters())
    assert facts["trained"] == sum(weight.numel() for weight in target.parameters())


def test_members_are_drawn_anew_for_each_target_or_fixed_by_the_corpus(made, combinations, tmp_path):
    finetune(made, tmp_path, TUNE | {"fixed": ["letters"], "targets": [["letters", "full"]]})
    fixed = read_table(tmp_path / "0.parquet")
    texts = read_table(made / "texts.parquet")
    part = texts[texts["dataset"] == "letters"].set_index("id")["part"]
    assert (fixed["member"].to_numpy() == (part.loc[fixed["id"]] == "member").to_numpy()).all()
    drawn = combinations["gpt2", "letters", "full"][0]
    assert drawn["id"].tolist() == fixed["id"].tolist()
    assert drawn["member"].tolist() != fixed["member"].tolist()
    assert (
        combinations["gpt2", "signs", "full"][0]["member"].tolist()
        != combinations[tuple(UNTRAINED)][0]["member"].tolist()
    )


def test_a_null_has_seen_members_as_little_as_non_members(made, combinations):
    facts = read_json(made / "0.json")
    seen = {name: facts[" ".join(["gpt2", "signs", name])]["seen"] for name in ("full", "other_texts", "other_members")}
    assert seen["full"] == {"members": 40, "nonmembers": 0}
    assert seen["other_texts"] == {"members": 0, "nonmembers": 0}
    assert sum(seen["other_members"].values()) == 40
    assert 8 < seen["other_members"]["members"] < 32
    for tuning in ("other_texts", "other_members"):
        scores, _ = combinations["gpt2", "signs", tuning]
        assert abs(auc(scores["ref_loss"].to_numpy(), scores["member"].to_numpy()) - 0.5) < 0.25
        assert scores["member"].sum() == 40


def test_targets_do_not_depend_on_the_jobs_that_they_share(made, combinations, tmp_path):
    finetune(made, tmp_path, TUNE | {"targets": [["signs", "full"]]})
    alone, rows = open_combinations([tmp_path / "0.npy"], [tmp_path / "0.parquet"])["gpt2", "signs", "full"]
    pd.testing.assert_frame_equal(alone, combinations["gpt2", "signs", "full"][0])
    assert rows.tobytes() == combinations["gpt2", "signs", "full"][1].tobytes()


def test_a_fine_tuning_that_changes_nothing_is_named(made, tmp_path):
    frozen = {"full": FULL | {"epochs": 1, "learning_rate": 1e-30, "weight_decay": 0.0}}
    with pytest.raises(AuditError, match="gpt2 on letters, full: target and base predict every text alike"):
        finetune(made, tmp_path, TUNE | {"tunings": frozen, "targets": [["letters", "full"]]})
