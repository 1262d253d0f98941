"""Positive controls: a signal that sees planted memory has fired, a blind one has not."""

from scipy.stats import binom
from simulated_runs import judged

from memaudit.common import tidy
from memaudit.studies.iclmem.positive_controls import positive_controls
from memaudit.studies.iclmem.run_metrics import IN_CONTEXT, SIGNALS


def table(fall, seed=0, splits=5):
    study = judged(fall, splits=splits, seed=seed, control="positive")
    return tidy.expand(tidy.frame(list(positive_controls(study))))


def test_a_signal_fires_where_members_are_planted_and_a_blind_one_does_not():
    found = table(3.0).set_index("signal")
    assert found.loc["loss", "fired"].eq("yes").all()
    assert found.loc[IN_CONTEXT, "fired"].eq("no").all()
    assert found["regime"].eq("single fixed positive").all()
    assert found["epoch"].eq(10).all()
    auc = found[found["metric"] == "positive control auc"]
    assert list(auc.index) == list(SIGNALS)
    assert auc.loc["loss", "low"] > 0.9
    shown = found[found["metric"] == "smallest detectable control auc"]
    assert shown.loc["loss", "estimate"] < auc.loc["loss", "estimate"]


def test_without_memory_a_signal_fires_in_a_twentieth_of_controls():
    trials = 60
    fired = sum((table(0.0, seed=seed, splits=2)["fired"] == "yes").any() for seed in range(trials))
    assert fired <= binom.ppf(0.999, trials, 0.05)
