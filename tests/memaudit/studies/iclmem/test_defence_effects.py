"""Defences against the same arm without them: planted changes of signals and utility, paired by split."""

import numpy as np
import pandas as pd
import pytest
from simulated_runs import judged

from memaudit.common import tidy
from memaudit.studies.iclmem.defence_effects import FEWER, STOPPED, defence_effects

SPLITS = 5


def runs(fall, lucky=0.0, quality=0.8, **about):
    """Runs of one condition, epochs 1 and 10: members' losses fall at both, the held-out loss is lowest at epoch 1."""
    table = judged(fall, splits=SPLITS, common=lucky, **about).runs
    return table.assign(held_out_loss=table["epoch"].astype(float), quality=quality, loss_change_nonmembers=0.1)


def rows(*tables):
    return tidy.expand(tidy.frame(list(defence_effects(pd.concat(tables, ignore_index=True)))))


def of(table, defence, metric, **keys):
    chosen = table[(table["defence"] == defence) & (table["metric"] == metric)]
    for key, value in keys.items():
        chosen = chosen[chosen[key] == value]
    return chosen


def defended(fall, **about):
    return runs(fall, against="a", label_smoothing=0.2, quality=0.75, **about).assign(arm="b")


def test_a_defence_that_hides_members_lowers_the_signal_and_its_cost_is_paired_too():
    table = rows(runs(3.0), defended(0.0, seed=1))
    loss = of(table, "label smoothing", "defence auc difference", signal="loss")
    assert (loss["high"] < -0.3).all()
    assert loss[["arm", "against", "epoch", "n"]].values.tolist() == [["b", "a", 10, SPLITS]]
    quality = of(table, "label smoothing", "defence accuracy difference")
    assert quality["estimate"].item() == pytest.approx(-0.05)
    assert of(table, "label smoothing", "defence loss difference")["unit"].tolist() == ["nats"]
    assert len(of(table, "label smoothing", "smallest detectable defence difference")) == 6


def test_a_lucky_split_cancels_since_both_arms_have_it():
    lucky = np.random.default_rng(0).normal(size=(SPLITS, 2, 4)) * 0.1
    one, other = runs(0.0), defended(0.0)
    for place, signal in enumerate(("loss", "entropy", "confidence", "in-context loss")):
        for table in (one, other):
            table[f"query_{signal}_auc"] = 0.5 + lucky[:, :, place].ravel()
    loss = of(rows(one, other), "label smoothing", "defence auc difference")
    assert loss["estimate"].tolist() == pytest.approx([0.0] * 4)


def test_fewer_epochs_and_early_stopping_are_of_the_run_itself():
    table = rows(runs(3.0), defended(0.0))
    for kind in (FEWER, STOPPED):
        assert of(table, kind, "defence auc difference", signal="loss")[["arm", "against"]].values.tolist() == [
            ["a", "a"]
        ]
    stopped = of(table, STOPPED, "defence auc difference", signal="loss")["estimate"].item()
    assert stopped == pytest.approx(of(table, FEWER, "defence auc difference", signal="loss")["estimate"].item())


def test_early_stopping_at_the_last_epoch_changes_nothing():
    late = runs(3.0)
    late["held_out_loss"] = -late["epoch"]
    stopped = of(rows(late, defended(0.0)), STOPPED, "defence auc difference")
    assert stopped["estimate"].tolist() == [0.0] * 4


def test_without_held_out_records_nothing_is_said_of_early_stopping():
    table = rows(runs(3.0).assign(held_out_loss=np.nan), defended(0.0))
    assert of(table, STOPPED, "defence auc difference").empty
    assert rows_of_undefended() == []


def rows_of_undefended():
    return list(defence_effects(runs(3.0)))


def test_intervals_of_a_defence_without_effect_cover_zero():
    gaps = [
        of(rows(runs(0.0, seed=seed), defended(0.0, seed=seed + 500)), "label smoothing", "defence auc difference")
        for seed in range(40)
    ]
    covered = np.mean([((gap["low"] <= 0) & (gap["high"] >= 0)).mean() for gap in gaps])
    assert covered > 0.9
