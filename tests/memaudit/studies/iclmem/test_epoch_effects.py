"""The last epoch against the first, paired by split."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common import tidy
from memaudit.studies.iclmem.epoch_effects import COMMON, epoch_effects
from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.studies.iclmem.setting_summaries import summary


def runs(growth, epochs=(1, 10)):
    lucky, rng = np.linspace(-0.1, 0.1, 5), np.random.default_rng(0)
    auc = [0.5 + growth * (epoch - 1) / 9 + lucky + 0.005 * rng.normal(size=5) for epoch in epochs]
    columns = [f"query_{signal}_auc" for signal in SIGNALS]
    parts = [
        pd.DataFrame({"epoch": e, "split": range(5), **dict.fromkeys(columns, a)})
        for e, a in zip(epochs, auc, strict=True)
    ]
    return pd.concat(parts, ignore_index=True).assign(**dict.fromkeys(COMMON, "x"))


@pytest.mark.parametrize(("growth", "rises"), [(0.05, True), (0.0, False)])
def test_a_lucky_split_cancels(growth, rises):
    table = runs(growth, (1, 5, 10))
    found = tidy.expand(tidy.frame(list(epoch_effects(table))))
    assert found["signal"].value_counts().to_dict() == dict.fromkeys(SIGNALS, 2)
    row, power = found[found["signal"] == "confidence"].to_dict("records")
    assert (power["metric"], rises) == ("smallest detectable difference", row["estimate"] > power["estimate"])
    assert (row["epoch"], row["less"]) == (10, 1)
    assert row["estimate"] == pytest.approx(growth, abs=0.01)
    assert (row["low"] > 0) == rises
    alone = summary(table.loc[table["epoch"] == 10, "query_loss_auc"].to_numpy())
    assert row["high"] - row["low"] < 0.3 * (alone["high"] - alone["low"])


def test_a_single_epoch_has_no_difference():
    assert list(epoch_effects(runs(0.1, (10,)))) == []


def test_splits_without_one_of_the_epochs_do_not_count():
    table = runs(0.05)
    table.loc[table["split"] > 0, "query_loss_auc"] = np.nan
    row, power = (one for one in epoch_effects(table) if "signal=loss" in one["setting"])
    assert np.isnan(row["low"])
    assert np.isnan(power["estimate"])
