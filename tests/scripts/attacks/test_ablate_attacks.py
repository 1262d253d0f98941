"""Ablations of the attacks on planted score matrices."""

import pytest
from attack_grids import ARMS, ATTACKS, MEMBERS, call, only

from memaudit.common import tidy
from memaudit.common.io import read_table


def test_ablations_vary_one_thing_and_sizes_beyond_the_grid_are_left_out(project, grids, results, tmp_path):
    _, inputs = grids
    params = {"seed": 1, "sizes": [16, 32, 64], "arms": ARMS, "attacks": ATTACKS}
    call(project, "attacks_ablate_attacks", inputs, [str(tmp_path / "a.parquet")], **params)
    table = tidy.expand(read_table(tmp_path / "a.parquet"))
    auc = table[table["metric"] == "auc"].set_index(["arm", "ablation", "value"])
    assert set(auc.index) == {
        ("main", "perturbations", 10), ("main", "perturbations", 20),
        ("main", "perturbation scale", 0.1), ("main", "perturbation scale", 0.5),
        ("main", "shadow sets", 16), ("main", "shadow sets", 32),
        *((arm, "poison budget", k) for arm in ARMS for k in (0, 2)),
    }  # fmt: skip
    assert auc["low"].notna().all()
    gap = table[table["metric"] == "auc difference"].set_index("ablation")
    assert gap[["value", "less"]].astype(float).values.tolist() == [[20, 10], [0.5, 0.1]]
    ends = auc.loc[("main", "perturbations", 20), "estimate"] - auc.loc[("main", "perturbations", 10), "estimate"]
    assert gap.loc["perturbations", "estimate"] == pytest.approx(ends)
    compared = results[0][results[0]["metric"] == "auc"]
    whole = only(compared, records="members", attack="lira")
    assert auc.loc[("main", "shadow sets", 32), "estimate"] == pytest.approx(whole["estimate"])
    assert auc.loc[("main", "shadow sets", 16), "n"] == 16 * MEMBERS
    usual = only(compared, attack="perturbation")["estimate"]
    assert auc.loc[("main", "perturbations", 20), "estimate"] == pytest.approx(usual)
    assert auc.loc[("main", "perturbation scale", 0.1), "estimate"] == pytest.approx(usual)
