"""Effects of single manipulations: differences from the baseline, alone and by category."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.studies.iclmem.manipulation_effects import manipulation_rows
from memaudit.studies.iclmem.outcome_shares import SplitBootstrap
from memaudit.studies.iclmem.run_metrics import PROBED
from memaudit.studies.iclmem.significance_tests import Study

NAMES = ["Baseline: none", "skew: twice", "skew: thrice"]
AUCS = np.array([[0.5, 0.6, 0.8], [0.6, 0.8, np.nan], [0.9, 0.9, 0.9]])


def study(names=NAMES):
    runs = pd.DataFrame({"dataset": "wine", "split": range(3), "model": "m"})
    runs["outcome_as_written"] = ["detectable", "no signal", "collapse"]
    alone = np.stack([AUCS] * 3, axis=1)
    return Study(runs, xr.Dataset({"alone": (("run", "probe_signal", "manipulation"), alone)}, {
        "probe_signal": list(PROBED), "manipulation": names}))  # fmt: skip


def test_effects_are_means_of_differences_from_the_baseline_over_runs_that_did_not_collapse():
    observed = tidy.expand(tidy.frame(list(manipulation_rows(study(), SplitBootstrap(20, 0)))))
    observed = observed[(observed["signal"] == "loss") & (observed["runs"] == "all")]
    effects = observed[observed["metric"] == "auc effect"]
    alone = effects.dropna(subset="manipulation").set_index("manipulation")["estimate"]
    assert alone["skew: twice"] == pytest.approx(0.15)
    assert alone["skew: thrice"] == pytest.approx(0.3)  # of the one run that has it
    category = effects.dropna(subset="category").set_index("category")["estimate"]
    assert category["skew"] == pytest.approx(0.2)
    assert category["Baseline"] == 0
    assert observed[observed["metric"] == "auc of the baseline"]["estimate"].tolist() == pytest.approx([0.55])


def test_skewing_to_the_true_label_is_compared_with_other_categories_on_the_runs_that_have_both():
    names = ["Baseline: none", "skew_true_target: twice", "noise: one"]
    found = tidy.expand(tidy.frame(list(manipulation_rows(study(names), SplitBootstrap(20, 0)))))
    gaps = found[(found["metric"] == "auc effect difference") & (found["signal"] == "loss") & (found["runs"] == "all")]
    assert gaps["category"].tolist() == ["skew_true_target - noise"]
    assert gaps["estimate"].tolist() == pytest.approx([0.6 - 0.8])  # the second run lacks noise, the third collapsed
    assert gaps["n"].tolist() == [1]


def test_without_a_single_baseline_nothing_can_be_compared():
    with pytest.raises(AuditError, match="0 manipulations are of category baseline, not one; fix the suite"):
        list(manipulation_rows(study(["a: x", "b: y", "c: z"]), SplitBootstrap(20, 0)))
