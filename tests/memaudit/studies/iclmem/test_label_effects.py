"""Effect of labels on the AUC, paired by record and split."""

import pandas as pd
import pytest
import xarray as xr
from simulated_runs import judged

from memaudit.common import tidy
from memaudit.studies.iclmem.label_effects import label_effects
from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.studies.iclmem.significance_tests import Study


def test_the_effect_of_labels_is_paired_by_record_and_split():
    """The same model twice has a difference of exactly 0; without memory in the other it is that of the AUCs."""
    normal = judged(fall=0.1)
    same = judged(fall=0.1, labels="shuffled_members")
    other = judged(fall=0.0, seed=5, labels="shuffled_members")

    def effects(*studies):
        runs = pd.concat([part.runs for part in studies], ignore_index=True)
        null = xr.concat([part.null for part in studies], "run")
        rows = tidy.expand(tidy.frame([row for one in label_effects(Study(runs, null), 0) for row in one.rows]))
        return rows[(rows["signal"] == "loss") & (rows["epoch"] == 10) & (rows["metric"] == "auc difference")].iloc[0]

    none = effects(normal, same)
    assert (none["estimate"], none["low"], none["high"]) == (0, 0, 0)
    some = effects(normal, other)
    late = [part.runs[part.runs["epoch"] == 10]["query_loss_auc"].mean() for part in (normal, other)]
    assert some["estimate"] == pytest.approx(late[0] - late[1], abs=1e-6)
    assert some["low"] > 0


def test_every_signal_has_an_effect_with_its_runs_and_the_smallest_detectable_one():
    normal, other = judged(fall=3.0), judged(fall=0.0, seed=5, labels="shuffled_members")
    runs = pd.concat([part.runs for part in (normal, other)], ignore_index=True)
    effects = list(label_effects(Study(runs, xr.concat([part.null for part in (normal, other)], "run")), 0))
    assert [effect.signal for effect in effects] == [*SIGNALS, *SIGNALS]  # two epochs
    first = effects[0]
    assert first.labels == "shuffled_members"
    for chosen, labels in ((first.normal, "normal"), (first.other, "shuffled_members")):
        assert runs.loc[chosen, "labels"].eq(labels).all()
        assert runs.loc[chosen, "split"].tolist() == list(range(5))
    gap, power = first.rows
    assert gap["estimate"] - first.below == pytest.approx(first.low) == pytest.approx(gap["low"])
    assert (power["metric"], power["n"]) == ("smallest detectable difference", 5)
    assert 0 < power["estimate"] < gap["estimate"]
