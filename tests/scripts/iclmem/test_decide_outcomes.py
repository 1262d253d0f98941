"""Tests over all runs from end to end, on planted probe results of a few records."""

import pytest
from conftest import PROJECT, load
from planted_probes import EPOCHS, SPLITS
from result_rows import chosen, only

from memaudit.common import tidy
from memaudit.common.io import read_table
from memaudit.plotting.result_tables import arrange
from memaudit.studies.iclmem.outcome_rules import OUTCOMES
from memaudit.studies.iclmem.run_metrics import SIGNALS
from memaudit.studies.iclmem.setting_summaries import KEYS
from memaudit.workflow.study_catalogue import prepare


def test_the_memorizer_is_detected_and_the_idle_condition_is_not(judged):
    tasks, outcomes = judged
    runs = read_table(tasks["prices"]["runs"])
    late = chosen(runs, arm="memorizer", epoch=10)
    assert (late["query_loss_auc"] > 0.99).all()
    assert (late[["outcome_as_written", "outcome_as_tabulated", "outcome_null_calibrated"]] == "detectable").all(
        axis=None
    )
    assert (late["loss_p"] == 1 / 200).all()
    decided = chosen(outcomes, metric="auc detected", signal="loss", dataset="prices", epoch=10).set_index("arm")[
        "estimate"
    ]
    assert decided[["memorizer", "together", "idle", "memorizer_shuffled"]].tolist() == [1, 1, 0, 0]
    assert "diverged" not in decided
    assert (late["context_loss_auc"] - 0.5).abs().mean() < 0.2  # context rows are a group of their own, and not planted


def test_shares_of_outcomes_add_up_and_survival_counts_the_memorizer(judged):
    _, outcomes = judged
    pooled = chosen(outcomes, metric="outcome share", by="queries", regime="single fixed")
    sums = pooled.groupby("rule")["estimate"].sum()
    assert sums.to_dict() == pytest.approx({"as_written": 1, "as_tabulated": 1, "null_calibrated": 1})
    assert set(pooled["outcome"]) == set(OUTCOMES)
    outcomes = chosen(outcomes, labels="all")
    detections = only(outcomes, metric="detections", rule="null_calibrated", of="run")["estimate"]
    survivors = only(outcomes, metric="surviving share", rule="null_calibrated", check="p-value")
    assert detections >= 2 * 2 * SPLITS  # memorizer and joint condition at epoch 10, of both data sets
    assert survivors["estimate"] == 1
    written = only(outcomes, metric="surviving share", rule="as_written", of="run", check="setting on loss")
    assert 0.3 < written["estimate"] < 0.9
    settings = only(outcomes, metric="surviving share", rule="as_written", of="setting", check="setting on loss")
    assert settings["estimate"] * settings["n"] == 4


def test_the_signal_weakens_where_shuffled_labels_have_none(judged):
    _, outcomes = judged
    effect = only(outcomes, metric="auc difference", dataset="wine", epoch=10, signal="loss")
    assert effect["arm"] == "memorizer"
    assert effect["labels"] == "normal - shuffled_members"
    assert effect["low"] > 0.2
    early = only(outcomes, metric="auc difference", dataset="wine", epoch=1, signal="loss")
    assert early["low"] < 0 < early["high"]


def test_negative_controls_have_the_nominal_rate_and_permutations_are_flagged_by_the_published_criterion(judged):
    _, outcomes = judged
    rate = chosen(outcomes, metric="placebo rate", of="permutation", regime="single fixed", stage="criterion")
    assert set(rate["rule"]) == {"as_written", "as_tabulated"}
    assert (rate["estimate"] > 0.4).all()
    # A membership with a negative gap has the larger AUC above one half; the gap alone excludes about half of all.
    whole = chosen(outcomes, metric="placebo rate", of="permutation", regime="single fixed", stage="outcome")
    assert (whole["null"] == 0.05).all()
    assert (whole["estimate"] > 0.2).all()
    written, tabulated = (whole.set_index("rule").loc[rule, "estimate"] for rule in ("as_written", "as_tabulated"))
    assert (written >= tabulated).all()
    controls = chosen(outcomes, metric="placebo rate", of="run", stage="criterion", regime="single fixed placebo")
    ours = only(controls, rule="null_calibrated", signal="larger")
    assert ours["n"] == 2 * SPLITS * len(EPOCHS)
    assert ours["estimate"] < 0.25
    assert (controls["null"] == 0.05).all()
    assert only(outcomes, metric="placebo rate", of="setting", signal="loss")["estimate"] < 0.5
    powers = chosen(outcomes, metric="smallest detectable rate", of="run")
    assert (powers["n"] == 2 * SPLITS).all()
    assert powers["estimate"].between(0.2, 0.5).all()
    pooled = outcomes[~outcomes["metric"].isin(["placebo rate", "smallest detectable rate"])]
    assert not pooled["regime"].astype(str).str.contains("placebo").any(), "negative controls are in no other result"


def test_the_peak_of_a_condition_is_its_late_epoch_beside_matched_conditions(judged):
    _, outcomes = judged
    peak = chosen(outcomes, peak="arm", dataset="wine", arm="memorizer", regime="single fixed")
    assert set(peak["epoch"]) == {10}
    assert set(peak["outcome"]) == {"detectable"}
    assert only(peak, metric="auc normal")["estimate"] > 0.99
    assert only(peak, metric="auc shuffled_members")["estimate"] < 0.8
    assert only(peak, metric="auc max-T p-value")["estimate"] == pytest.approx(1 / 200)
    best = chosen(outcomes, peak="regime", dataset="wine", regime="single fixed", metric="auc")
    assert best["arm"].tolist() == ["memorizer"]  # not the broken condition, although that has the same AUC


def test_the_rows_have_keys_of_their_own(judged):
    _, outcomes = judged
    keys = [column for column in outcomes if column not in tidy.COLUMNS or column in ("metric", "unit")]
    twice = outcomes.duplicated(keys, keep=False)
    assert not twice.any(), outcomes[twice][keys].dropna(axis=1, how="all").head()
    assert set(KEYS) <= set(outcomes)
    effect = only(outcomes, metric="auc effect", runs="all", signal="loss", category="baseline")
    assert effect["estimate"] == 0


def test_printed_numbers_have_rows_of_their_own(judged):
    _, outcomes = judged
    printed = chosen(outcomes, source="paper", dataset="wine").set_index("metric")
    assert printed["estimate"].to_dict() == {"auc": 0.61, "tpr@0.1": 0.18}
    assert set(printed["table"]) == {"Table 1"}


def test_the_shipped_tables_arrange_the_outcomes_and_show_each_signal_and_its_power(judged):
    _, outcomes = judged
    layouts = {name: view["layout"] for name, view in prepare(load("config"), PROJECT)[2]["iclmem"].tables.items()}
    made = {
        name: arrange(outcomes, **layouts[f"iclmem_{name}"])
        for name in ("signals", "differences", "peaks", "tpr", "single_manipulations", "survival", "false_detections")
    }
    for name in ("signals", "differences", "peaks", "tpr"):
        assert set(SIGNALS) <= set(made[name]["signal"]), name
        powers = [column for column in made[name] if "smallest detectable" in column]
        assert powers, name
        assert (made[name][powers] != "").any(axis=None), name
    assert {"regime", "signal", "confounded regime"} == set(made["peaks"]["peak"])
    assert made["single_manipulations"]["manipulation"].str.startswith("skew true target: true_2").any()
    assert (made["survival"]["detected settings"] != "").sum() == len(SIGNALS) + 1


def test_conditions_of_an_axis_are_a_dose_response_on_every_table_that_has_them(judged):
    _, outcomes = judged
    doses = chosen(outcomes, metric="detected doses", axis="learning_rate", signal="loss")
    assert set(doses["dataset"]) == {"wine", "prices"}
    assert (doses[["estimate", "n", "epoch"]] == [2, 3, 10]).all(axis=None)  # all but the idle one
    idle = chosen(outcomes, metric="auc dose p-value", axis="learning_rate", signal="loss", dose=1e-4)
    assert (idle["estimate"] > 0.05).all()
