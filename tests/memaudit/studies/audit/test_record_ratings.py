"""Vulnerability scores and posteriors of records with a planted effect."""

import numpy as np
import pandas as pd
from attack_grids import MEMBERS, passive

from memaudit.common import tidy
from memaudit.studies.audit.audit_attacks import first_variant
from memaudit.studies.audit.record_ratings import calibration_rows, rate


def test_a_planted_record_ranks_first_and_only_the_first_row_of_an_id_counts():
    grid = first_variant(passive(np.random.default_rng(0)))
    members = grid.isel(record=grid.member.values)
    own = np.arange(2) == members.label.values[:, None]
    shift = np.zeros(members.logits.shape, np.float32)
    shift[:, 4] = 5.0 * members.design.values[:, 4, None] * own[4]
    members = members.assign(logits=members.logits + shift)
    ids = members.record.values
    located = pd.DataFrame({"id": [*ids, ids[4]], "row": [*range(1, MEMBERS + 1), 999]})
    table = rate(members, located, [0.1, 0.5], np.random.default_rng(1))
    assert (table["id"][0], table["row"][0], table["rank"][0]) == (ids[4], 5, 1)
    assert table["shows"][0]
    assert table["exposure"].is_monotonic_decreasing
    assert sorted(table["row"]) == list(range(1, MEMBERS + 1))
    assert (table["low"] <= table["exposure"]).all()
    assert (table["exposure"] <= table["high"]).all()
    assert (table["belief_0.1"] < table["belief_0.5"]).all()


def test_calibrated_posteriors_are_closer_to_the_share_of_members():
    grid = first_variant(passive(np.random.default_rng(0)))
    members = grid.isel(record=grid.member.values)
    rows = pd.DataFrame(calibration_rows(members, {"dataset": "wine"}, np.random.default_rng(1)))
    table = tidy.expand(tidy.frame(rows.to_dict("records")))
    errors = table[table["metric"] == "calibration error"].set_index("posterior")["estimate"]
    assert errors["calibrated"] < errors["lira"]
    bins = table[table["posterior"] == "calibrated"]
    entries = bins.loc[bins["metric"] == "share of members", "n"]
    assert entries.sum() == members.design.size
