"""The attacks' judgement from end to end, on planted grids of a few sets and records."""

import numpy as np
import pytest
from attack_grids import ARMS, ATTACKS, MEMBERS, MOST, OUTPUTS, RECORDS, SETS, call, only

from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import read_grid, read_table, write_grid
from memaudit.statistics import threat_models

KEYS = ["dataset", "arm", "model", "records", "threat", "attack", "poison"]


def test_every_row_has_every_key_and_none_stands_twice(results):
    table, _ = results
    assert table[KEYS].notna().all(axis=None)
    assert not table.duplicated([*KEYS, "metric"]).any()
    assert set(table["threat"]) == {
        "label-only passive", "label-only active", "probabilities passive", "probabilities active",
    }  # fmt: skip
    assert dict(zip(table["arm"], table["model"], strict=True)) == {"main": "small", "text": "words"}


def test_planted_leaks_come_out_and_the_placebo_holds_one_half(results):
    """A shift of 1.5 deviations: Phi(1.5 / sqrt 2) = .856, less what fits on 32 sets cost."""
    table, _ = results
    auc = table[(table["metric"] == "auc") & (table["arm"] == "main")]
    lira = only(auc, records="members", attack="lira")
    assert lira["estimate"] == pytest.approx(0.84, abs=0.03)
    assert lira["low"] > 0.75
    assert only(table, records="members", attack="lira", metric="auc detected")["estimate"] == 1
    placebo = only(auc, records="placebo")
    assert placebo["low"] < 0.5 < placebo["high"]
    assert placebo["n"] == SETS * (RECORDS - MEMBERS)
    best = only(auc, attack="lira poisoned", poison=2)["estimate"]
    assert best > only(auc, attack="lira", records="targets")["estimate"] + 0.05
    assert only(auc, attack="loss")["estimate"] < lira["estimate"] - 0.05


def test_on_two_classes_modified_entropy_is_the_loss_and_the_gap_too(results):
    table, _ = results
    auc = table[(table["metric"] == "auc") & (table["records"] == "members")].set_index("attack")["estimate"]
    for name in ("modified entropy", "prediction gap"):
        assert auc[name] == pytest.approx(auc["loss"], abs=1e-9)
        assert auc[f"{name} per class"] == pytest.approx(auc["loss per class"], abs=1e-9)
    assert auc["confidence"] == pytest.approx(auc["entropy"], abs=1e-9)
    assert auc["confidence"] != pytest.approx(auc["loss"], abs=1e-3)


def test_queries_are_those_of_one_target(results, grids):
    table, _ = results
    queries = table[table["metric"] == "queries"].set_index(["arm", "attack"])["estimate"]
    assert queries["main", "perturbation"] == 21
    assert (queries["main", "lira"] == 1).all()
    passes = np.concatenate([read_grid(grids[0] / f"poisoned-text{i}.nc").passes.values for i in range(2)])
    assert queries["text", "brainwash"] == pytest.approx(passes.mean())


def test_searches_are_stated_for_each_arm(results, grids):
    table, _ = results
    copies = np.concatenate([read_grid(grids[0] / f"poisoned-text{i}.nc").copies.values for i in range(2)])
    facts = table[(table["arm"] == "text") & (table["attack"] == "brainwash")].set_index("metric")["estimate"]
    assert facts["censored"] == pytest.approx((copies == MOST + 1).mean())
    assert 0 < facts["censored"] < 1
    assert facts["forward passes"] == 200
    assert facts["monotone"] == facts["bisection agrees"] == 1


def test_differences_are_between_the_rows_that_they_name(results):
    table, _ = results
    auc = table[(table["metric"] == "auc") & (table["arm"] == "text")].set_index(["attack", "poison"])["estimate"]
    found = table[table["metric"] == "auc difference"]
    ours = only(found, arm="text", attack="lira poisoned - lira", poison=2)
    assert ours["estimate"] == pytest.approx(auc["lira poisoned", 2] - auc["lira", 0])
    assert ours["null"] == 0
    assert ours["low"] > 0
    assert set(found.loc[found["arm"] == "main", "attack"]) == {
        "lira poisoned - lira", "brainwash - lira", "lira - perturbation", "brainwash - perturbation",
        *(f"lira - {threshold}" for threshold in threat_models.THRESHOLDS),
    }  # fmt: skip


def test_both_ends_of_the_comparison_of_labels_alone_are_stated(results):
    table = results[0][results[0]["arm"] == "main"]
    passive = only(table[table["metric"] == "passive auc"], attack="brainwash - perturbation")
    active = only(table[table["metric"] == "auc"], attack="brainwash")
    gap = only(table[table["metric"] == "auc difference"], attack="brainwash - perturbation")
    assert active["estimate"] - passive["estimate"] == pytest.approx(gap["estimate"])
    assert passive["n"] == active["n"]
    assert 0 < passive["null"] < 1


def test_rocs_are_those_of_the_threat_models(results):
    _, roc = results
    assert set(zip(roc["arm"], roc["attack"], roc["poison"], strict=True)) == {
        ("main", "lira", 0), ("main", "perturbation", 0), ("main", "brainwash", 0), ("main", "lira poisoned", 2),
        ("text", "brainwash", 0), ("text", "lira poisoned", 2),
    }  # fmt: skip
    assert (roc["metric"] == "roc_tpr").all()
    curve = roc[(roc["attack"] == "lira")].sort_values("fpr")
    assert len(curve) == 31
    assert curve["estimate"].is_monotonic_increasing
    assert curve["estimate"].iloc[-1] == 1


def test_perturbation_on_other_sets_is_not_paired_with_lira(project, grids, tmp_path):
    folder, inputs = grids
    other = read_grid(folder / "perturbed.nc")
    write_grid(other.assign(design=~other.design), tmp_path / "other.nc")
    inputs = [path for path in inputs if "perturbed" not in path] + [f"perturbed={tmp_path / 'other.nc'}"]
    outputs = [f"{name}={tmp_path / file}.parquet" for name, file in OUTPUTS.items()]
    call(project, "attacks_compare_attacks", inputs, outputs, seed=1, arms={"main": ARMS["main"]}, attacks=ATTACKS)
    table = tidy.expand(read_table(tmp_path / "attacks.parquet"))
    assert "brainwash - lira" in set(table["attack"])
    assert not {"lira - perturbation", "brainwash - perturbation"} & set(table["attack"])
    assert set(table["arm"]) == {"main"}


def test_an_arm_without_a_grid_is_named_in_one_line(project, grids, tmp_path):
    outputs = [f"{name}={tmp_path / file}.parquet" for name, file in OUTPUTS.items()]
    arms = ARMS | {"tabular": {"model": "small"}}
    with pytest.raises(AuditError, match="data set wine: no input is called poisoned_tabular") as error:
        call(project, "attacks_compare_attacks", grids[1], outputs, seed=1, arms=arms, attacks=ATTACKS)
    assert "\n" not in str(error.value)


def test_ablations_vary_one_thing_and_sizes_beyond_the_grid_are_left_out(grids, results):
    table = tidy.expand(read_table(grids[0] / "ablations.parquet"))
    auc = table[table["metric"] == "auc"].set_index(["arm", "ablation", "value"])
    assert set(auc.index) == {
        ("main", "perturbations", 10), ("main", "perturbations", 20),
        ("main", "perturbation scale", 0.1), ("main", "perturbation scale", 0.5),
        ("main", "shadow sets", 16), ("main", "shadow sets", 32),
        *((arm, "poison budget", k) for arm in ARMS for k in (0, 2)),
    }  # fmt: skip
    assert auc["low"].notna().all()
    gap = table[table["metric"] == "auc difference"].set_index("ablation")
    assert gap[["value", "less"]].astype(float).values.tolist() == [[20, 10], [0.5, 0.1], *([2, 0] for _ in ARMS)]
    ends = auc.loc[("main", "perturbations", 20), "estimate"] - auc.loc[("main", "perturbations", 10), "estimate"]
    assert gap.loc["perturbations", "estimate"] == pytest.approx(ends)
    compared = results[0][results[0]["metric"] == "auc"]
    whole = only(compared, records="members", attack="lira")
    assert auc.loc[("main", "shadow sets", 32), "estimate"] == pytest.approx(whole["estimate"])
    assert auc.loc[("main", "shadow sets", 16), "n"] == 16 * MEMBERS
    usual = only(compared, attack="perturbation")["estimate"]
    assert auc.loc[("main", "perturbations", 20), "estimate"] == pytest.approx(usual)
    assert auc.loc[("main", "perturbation scale", 0.1), "estimate"] == pytest.approx(usual)


def test_a_table_without_poisoned_contexts_has_the_rows_of_the_other_attacks(project, grids, results, tmp_path):
    inputs = [one for one in grids[1] if not one.startswith("poisoned_")]
    outputs = [f"{name}={tmp_path / file}.parquet" for name, file in OUTPUTS.items()]
    arms = {"main": ARMS["main"] | {"poisoned": False}}
    call(project, "attacks_compare_attacks", inputs, outputs, seed=1, arms=arms, attacks=ATTACKS)
    found = tidy.expand(read_table(tmp_path / "attacks.parquet"))
    found, usual = (table.set_index([*KEYS, "metric"]) for table in (found, results[0]))
    usual = usual.xs("main", level="arm", drop_level=False)
    assert found.index.isin(usual.index).all()
    assert set(found.reset_index()["attack"]) == {
        name
        for name in usual.reset_index()["attack"]
        if not any(word in name for word in ("poison", "brainwash"))
    }  # fmt: skip
    shared = usual.loc[found.index]
    np.testing.assert_array_equal(found["estimate"], shared["estimate"])
    np.testing.assert_array_equal(found["low"], shared["low"])


def test_a_table_without_noisy_copies_has_the_rows_of_the_other_attacks(project, grids, results, tmp_path):
    inputs = [one for one in grids[1] if not one.startswith("perturbed")]
    outputs = [f"{name}={tmp_path / file}.parquet" for name, file in OUTPUTS.items()]
    call(project, "attacks_compare_attacks", inputs, outputs, seed=1, arms=ARMS, attacks=ATTACKS)
    found = tidy.expand(read_table(tmp_path / "attacks.parquet")).set_index([*KEYS, "metric"])
    usual = results[0].set_index([*KEYS, "metric"])
    assert found.index.isin(usual.index).all()
    left_out = set(results[0]["attack"]) - set(found.reset_index()["attack"])
    assert {"perturbation", "lira - perturbation", "boundary", "copies correct"} <= left_out
    assert not any(name.startswith(("lira poisoned", "loss", "rmia")) for name in left_out)
    shared = usual.loc[found.index]
    np.testing.assert_array_equal(found["estimate"], shared["estimate"])
    np.testing.assert_array_equal(found["low"], shared["low"])
