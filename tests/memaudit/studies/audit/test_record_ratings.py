"""Vulnerability scores and posteriors of records with a planted effect."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from attack_grids import MEMBERS, passive

from memaudit.common import tidy
from memaudit.data import membership_matrices
from memaudit.statistics.rank_tests import detected_records
from memaudit.statistics.record_vulnerability import Population
from memaudit.statistics.strongest_score import AUC, choose, composite
from memaudit.studies.audit.audit_attacks import first_variant, on_members, panels, signals
from memaudit.studies.audit.record_ratings import agreement_rows, calibration_rows, rate

PROBABILITIES = ["probabilities"]


def strongest(grid, threats):
    panel = panels(grid, threats, {"gamma": 1.0, "offline_a": 0.3})["members"]
    return composite(panel, choose(panel, 0.1)[AUC])


def rated(members, located=None, threats=PROBABILITIES):
    ids = members.record.values
    located = pd.DataFrame({"id": ids, "row": np.arange(len(ids))}) if located is None else located
    scores = on_members(members, "main", threats).scores()
    return rate(members, located, [0.1, 0.5], np.random.default_rng(1), threats, scores)


def simulated(rng, contexts=32, records=100, share=0.0, shift=0.0, shift_sd=0.0, freedom=0, spread=0.0, context_sd=0.3):
    """Score matrix of members of two classes; a share of the records has a shift of their signal where they are in."""
    design = membership_matrices.balanced(contexts, records, rng, block=8)
    noise = rng.standard_t(freedom, design.shape) if freedom else rng.standard_normal(design.shape)
    own = np.where(rng.permutation(records) < share * records, shift + shift_sd * rng.standard_normal(records), 0.0)
    levels = rng.normal(0, 1, records) + context_sd * rng.standard_normal((contexts, 1))
    confidence = levels + np.exp(spread * rng.standard_normal(records)) * noise + own * design
    label = np.arange(records) % 2
    logits = np.where(np.arange(2) == label[:, None], confidence[..., None], 0)
    of_record = {"record": [f"{i:04x}" for i in range(records)], "unit": ("record", np.arange(records))}
    of_record |= {"label": ("record", label), "member": ("record", np.ones(records, bool))}
    matrices = {"logits": (("model", "record", "class"), logits), "design": (("model", "record"), design)}
    return xr.Dataset(matrices, of_record, {"dataset": "wine"}), own


REGIMES = {
    "null": {},
    "null, heavy tails": {"freedom": 3, "spread": 0.5},
    "null, contexts differ": {"context_sd": 1.0},
    "one record": {"share": 0.01, "shift": 8.0},
    "few leak": {"share": 0.05, "shift": 3.0},
    "few leak, heavy tails": {"share": 0.05, "shift": 3.0, "freedom": 3},
    "all leak weakly": {"share": 1.0, "shift": 0.5},
    "all leak unequally": {"share": 1.0, "shift": 1.0, "shift_sd": 0.7},
    "all leak": {"share": 1.0, "shift": 3.0},
    "presence lowers the signal": {"share": 0.1, "shift": -3.0},
}


@pytest.mark.parametrize("threats", [["probabilities"], ["labels"]], ids=["probabilities", "labels"])
@pytest.mark.parametrize("contexts", [16, 32])
@pytest.mark.parametrize("regime", REGIMES)
def test_presence_interval_and_posterior_never_contradict_each_other(regime, contexts, threats):
    members, _ = simulated(np.random.default_rng([contexts, len(regime)]), contexts, **REGIMES[regime])
    table = rated(members, threats=threats)
    above, below, shows = table["low"] > 0, table["high"] < 0, table["shows"]
    assert (shows == (above | below)).all()
    assert (table.loc[~shows, "posterior_0.5"] < 0.95).all()
    # Members of equally many contexts: who shows has a higher score and posterior than who does not.
    if above.any() and not shows.all():
        assert table.loc[above, "posterior_0.5"].min() >= table.loc[~shows, "posterior_0.5"].max()


@pytest.mark.parametrize("threats", [["probabilities"], ["labels"]], ids=["probabilities", "labels"])
@pytest.mark.parametrize("regime", ["few leak", "few leak, heavy tails", "all leak unequally"])
def test_few_of_those_who_show_have_no_effect(regime, threats):
    false = shown = 0
    for seed in range(8):
        rng = np.random.default_rng([seed, len(regime)])
        members, own = simulated(rng, **REGIMES[regime])
        values, design = signals(members, threats), members.design.values
        ends = Population.fit(values, design, rng).intervals(values, design)[:, 1:]
        above, below = ends[:, 0] > 0, ends[:, 1] < 0
        false += (above & (own <= 0) | below & (own >= 0)).sum()
        shown += (above | below).sum()
    assert shown > 0
    assert false <= 0.05 * shown


def test_a_record_that_leaks_completely_shows_from_few_contexts():
    members, own = simulated(np.random.default_rng(0), 16, share=0.01, shift=8.0)
    first = rated(members).iloc[0]
    assert own[first["row"]] > 0
    assert first["shows"]
    assert not detected_records(on_members(members, "main", PROBABILITIES).attack.signals, members.design.values).any()


def test_the_list_of_a_label_adversary_is_of_labels():
    members, _ = simulated(np.random.default_rng(0), share=0.3, shift=2.0)
    # The confidence grows without a change of the label.
    sure = members.assign(logits=members.logits + 50.0 * members.logits * (members.logits > 0))
    by_labels = [rated(one, threats=["labels"]).drop(columns="id") for one in (members, sure)]
    pd.testing.assert_frame_equal(*by_labels)
    assert not np.allclose(rated(members)["vulnerability"], rated(sure)["vulnerability"])


def test_as_many_records_are_compared_as_are_listed():
    members, _ = simulated(np.random.default_rng(0), records=30)
    for shown, compared in {20: 20, 99: 29}.items():
        rows = agreement_rows(members, {"dataset": "wine"}, shown, np.random.default_rng(1), PROBABILITIES)
        null = next(one["null"] for one in rows if one["metric"] == "overlap_listed")
        assert null == pytest.approx(compared / 30)


def test_a_planted_record_ranks_first_and_only_the_first_row_of_an_id_counts():
    grid = first_variant(passive(np.random.default_rng(0)))
    members = grid.isel(record=grid.member.values)
    own = np.arange(2) == members.label.values[:, None]
    shift = np.zeros(members.logits.shape, np.float32)
    shift[:, 4] = 5.0 * members.design.values[:, 4, None] * own[4]
    members = members.assign(logits=members.logits + shift)
    ids = members.record.values
    located = pd.DataFrame({"id": [*ids, ids[4]], "row": [*range(1, MEMBERS + 1), 999]})
    table = rated(members, located)
    assert (table["id"][0], table["row"][0], table["rank"][0]) == (ids[4], 5, 1)
    assert table["shows"][0]
    assert table["vulnerability"].is_monotonic_decreasing
    assert sorted(table["row"]) == list(range(1, MEMBERS + 1))
    assert (table["low"] <= table["vulnerability"]).all()
    assert (table["vulnerability"] <= table["high"]).all()
    assert (table["posterior_0.1"] < table["posterior_0.5"]).all()


def test_calibrated_posteriors_are_closer_to_the_share_of_members():
    grid = first_variant(passive(np.random.default_rng(0)))
    members = grid.isel(record=grid.member.values)
    keys, scores = {"dataset": "wine"}, strongest(grid, ["probabilities"])
    rows = pd.DataFrame(calibration_rows(members, keys, np.random.default_rng(1), ["probabilities"], scores))
    table = tidy.expand(tidy.frame(rows.to_dict("records")))
    errors = table[table["metric"] == "calibration error"].set_index("posterior")["estimate"]
    assert errors["calibrated"] < errors["lira"]
    bins = table[table["posterior"] == "calibrated"]
    entries = bins.loc[bins["metric"] == "share of members", "n"]
    assert entries.sum() == members.design.size
