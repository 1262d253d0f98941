"""Joint against single fine-tuning, paired by split."""

import numpy as np
import pandas as pd
import pytest

from memaudit.common import tidy
from memaudit.studies.iclmem.regime_effects import regime_effects
from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.studies.iclmem.setting_summaries import summary


def runs(effect, splits=5):
    lucky, rng = np.linspace(-0.1, 0.1, splits), np.random.default_rng(0)
    keys = {"dataset": "wine", "model": "m", "labels": "normal", "learning_rate": 1e-3, "queries": 50, "epoch": 10}
    columns = [f"query_{signal}_auc" for signal in SIGNALS]
    parts = [
        pd.DataFrame(
            {"regime": regime, "split": range(splits), **dict.fromkeys(columns, 0.6 + gain + lucky + noise)}
        ).assign(**keys)
        for regime, gain in (("single fixed", 0.0), ("joint fixed", effect))
        for noise in [0.005 * rng.normal(size=splits)]
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(("effect", "weaker"), [(-0.05, True), (0.0, False)])
def test_a_lucky_split_cancels(effect, weaker):
    table = runs(effect)
    found = tidy.expand(tidy.frame(list(regime_effects(table))))
    assert found["signal"].value_counts().to_dict() == dict.fromkeys(SIGNALS, 2)
    row, power = found[found["signal"] == "entropy"].to_dict("records")
    assert (power["metric"], weaker) == ("smallest detectable difference", -row["estimate"] > power["estimate"])
    assert row["regime"] == "joint fixed - single fixed"
    assert row["estimate"] == pytest.approx(effect, abs=0.01)
    assert (row["high"] < 0) == weaker
    alone = summary(table.loc[table["regime"] == "single fixed", "query_loss_auc"].to_numpy())
    assert row["high"] - row["low"] < 0.3 * (alone["high"] - alone["low"])


def test_without_the_other_regime_there_is_no_row():
    table = runs(0.0)
    assert list(regime_effects(table[table["regime"] == "single fixed"])) == []
