"""Every attack is judged, and every member is rated."""

import pytest
from attack_grids import MEMBERS
from audit_examples import AUDIT

from memaudit.attacks import registry
from memaudit.auditing.summaries import summarize_results
from memaudit.common import tidy
from memaudit.common.io import read_table


def test_every_adversary_is_judged_and_has_its_own_key(folder):
    table = tidy.expand(read_table(folder / "threats.parquet"))
    inside = table["threat"].fillna("").str.startswith("white-box")
    aucs = table[(table["metric"] == "auc") & ~inside].set_index(["model", "records", "attack", "poison"])["estimate"]
    assert aucs.index.is_unique
    scores = set(aucs["main"]["members"].index.get_level_values(0))
    assert scores == {"strongest", *registry.of_one_query("probabilities")}
    assert {"perturbation", "lira", "lira poisoned", "brainwash"} <= set(
        aucs["main"]["targets"].index.get_level_values(0)
    )
    assert aucs["main", "members", "lira", 0] > 0.75  # planted: 1.5 deviations
    assert aucs["main", "members", "strongest", 0] > aucs["main", "members", "signal alone", 0]
    assert set(aucs["main"]["companions"].index.get_level_values(0)) == {"strongest"}  # by the headline's procedure
    for control in ("placebo", "companions"):
        assert 0.3 < aucs.loc[(aucs.index.get_level_values(1) == control)].iloc[0] < 0.7
    assert aucs["model_2", "main alike", "lira", 0] == aucs["model_2", "members", "lira", 0]


def test_precision_is_that_of_the_tpr_at_each_base_rate(folder):
    table = tidy.expand(read_table(folder / "threats.parquet"))
    rows = table[(table["model"] == "main") & (table["records"] == "members") & (table["attack"] == "lira")]
    tpr = rows.loc[rows["metric"] == "tpr@0.01", "estimate"].iloc[0]
    precision = rows[rows["metric"] == "precision"].set_index("base rate")["estimate"]
    nulls = rows[rows["metric"] == "precision"].set_index("base rate")["null"]
    assert list(nulls.index) == list(nulls)  # without a leak it is the base rate
    assert precision[0.5] == pytest.approx(tpr / (tpr + 0.01))
    assert precision[0.1] == pytest.approx(0.1 * tpr / (0.1 * tpr + 0.9 * 0.01))


def test_the_strongest_score_is_stated_for_one_deployment(folder):
    table = tidy.expand(read_table(folder / "threats.parquet"))
    rows = table[(table["attack"] == "strongest") & (table["threat"] == "probabilities passive")]
    shares = rows[rows["metric"] == "chosen"].groupby("criterion")["estimate"].sum()
    assert shares.to_dict() == {"auc": 1.0, "tpr": 1.0}
    one = rows[rows["metric"] == "precision in one context"].set_index(["fpr", "base rate"])
    # One in 1,000 of these non-members is none.
    assert set(one.index) == {(0.01, rate) for rate in AUDIT["base_rates"]}
    assert (one["low"] <= one["high"]).all()
    uneven = rows[rows["metric"] == "own fpr above twice the nominal"].iloc[0]
    assert 0 <= uneven["low"] <= uneven["estimate"] <= uneven["high"] <= 1


def test_every_member_is_rated_once_by_its_first_row(folder):
    risk = read_table(folder / "risk.parquet")
    assert sorted(risk["row"]) == list(range(1, MEMBERS + 1))
    assert list(risk["rank"]) == list(range(1, MEMBERS + 1))
    assert (risk["low"] <= risk["vulnerability"]).all()
    assert (risk["posterior_0.1"] <= risk["posterior_0.5"]).all()


def test_halves_of_the_contexts_agree_on_as_many_records_as_the_page_lists(folder):
    table = tidy.expand(read_table(folder / "threats.parquet")).set_index("metric")
    listed = table.loc["overlap_listed"]
    assert listed["null"] == pytest.approx(AUDIT["shown"] / MEMBERS)
    assert listed["low"] <= listed["estimate"] <= listed["high"]
    assert table.loc["overlap_listed extrapolated", "estimate"] >= listed["null"]
    detected = table.loc["overlap_listed p-value", "estimate"] <= 0.05
    assert table.loc["overlap_listed detected", "estimate"] == detected


def test_attention_has_a_headline_of_its_own_that_leaves_the_others(folder):
    summary = summarize_results.adversaries(read_table(folder / "threats.parquet"))
    best, *others = (one for one in summary if one.is_white_box())
    assert (best.attack, best.records, best.cells) == ("strongest", "members", 16 * MEMBERS)
    assert best.auc.estimate > 0.9
    assert best.auc.detected
    assert {one.records for one in others if one.attack == "strongest"} == {"placebo", "companions"}
    assert len(summarize_results.deployments(read_table(folder / "threats.parquet"))) == len(AUDIT["base_rates"])
