"""Attacks of four threat models: planted effects come out, discrete signals stay finite, differences are paired."""

import numpy as np
import pytest
import xarray as xr
from attack_grids import MEMBERS, RECORDS, SETS, TARGETS, passive, perturbed, poisoned
from scipy.special import ndtr

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.registry import PASSIVE, on_confidence
from memaudit.attacks.score_matrices import confidence, variant
from memaudit.data import membership_matrices
from memaudit.statistics import roc, threat_models

KEYS = {"dataset": "wine", "arm": "main", "model": "m", "records": "targets"}


def planted(shape=(64, 100), leak=1.0, seed=0):
    rng = np.random.default_rng(seed)
    design = rng.random(shape).argsort(0) < shape[0] // 2
    return rng.normal(size=shape) + 3 * rng.normal(size=shape[1]) + leak * design, design, rng


def case(name, attack, design, **facts):
    coordinates = {"unit": ("record", np.arange(design.shape[1]))}
    grid = xr.Dataset({"design": (("model", "record"), design)}, coordinates, {"block": len(design)})
    return threat_models.case(KEYS, name, attack, grid, **facts)


def auc(one):
    return roc.auc(one.scores(), one.membership)


def test_a_gaussian_shift_gives_the_auc_of_its_distance():
    """A shift of one deviation: Phi(1 / sqrt 2) = .760; fits on 128 sets cost a hundredth at most."""
    signals, design, _ = planted((128, 200))
    rmia = {"gamma": 1.0, "offline_a": 0.3}
    compared = on_confidence({name: name for name in PASSIVE}, signals, signals[:, :20], rmia)
    for name, attack in compared.items():
        if name.startswith("lira"):
            assert auc(case(name, attack, design)) == pytest.approx(ndtr(2**-0.5), abs=0.015), name


def test_fractions_that_hardly_vary_do_not_score_near_infinity():
    """One of 50 copies changed in every set without the record: without a floor all deviations are 0."""
    _, design, _ = planted((16, 10))
    stable = np.where(design, 1.0, 0.98)
    scores = case("perturbation", threat_models.label_robustness(stable, 50), design).scores()
    # The floor is a step over the root of 12: a step is 3.5 floors, and the ratio half its square.
    np.testing.assert_allclose(np.abs(scores), 6)
    bare = case("perturbation", Attack(stable, "lira"), design).scores()
    assert np.abs(bare).min() > 1e6


def test_a_censored_record_counts_as_more_than_the_cap():
    _, design, _ = planted((16, 10))
    one = case("brainwash", threat_models.fewest_poisons(np.where(design, 33, 32)), design)
    assert auc(one) == 1.0
    # One copy is a step, too: as for fractions.
    np.testing.assert_allclose(np.abs(one.scores()), 6)


def test_brainwash_counts_that_are_all_tied_are_guessing():
    _, design, _ = planted((16, 10))
    assert auc(case("brainwash", threat_models.fewest_poisons(np.full(design.shape, 33)), design)) == 0.5


def test_brainwash_finds_counts_that_members_raise():
    _, design, rng = planted((64, 60))
    copies = rng.poisson(6 + 6 * design)
    out, inside = rng.poisson(6, 10**5), rng.poisson(12, 10**5)
    best = np.mean((inside > out) + (inside == out) / 2)
    assert auc(case("brainwash", threat_models.fewest_poisons(copies), design)) == pytest.approx(best, abs=0.03)


def less(first, second, rng):
    """The row of the difference of both AUCs."""
    return next(iter(threat_models.against(first, second, {"fpr": [0.1], "replicates": 100}, rng)))


def test_a_difference_is_that_of_the_aucs_and_that_of_an_attack_with_itself_is_none():
    signals, design, rng = planted()
    strong, weak = (
        case(name, threat_models.ratio(signals + gain * design), design)
        for name, gain in (("lira poisoned", 1.0), ("lira", 0.0))
    )
    found = less(strong, weak, rng)
    assert found["metric"] == "auc difference"
    assert "attack=lira poisoned - lira" in found["setting"]
    assert found["estimate"] == pytest.approx(auc(strong) - auc(weak))
    assert 0 == found["null"] < found["low"] < found["estimate"] < found["high"]
    none = less(weak, weak._replace(keys={**weak.keys, "attack": "again"}), rng)
    assert (none["estimate"], none["low"], none["high"]) == (0.0, 0.0, 0.0)


def test_a_difference_is_paired():
    """Two attacks that err on the same cells: alone each is uncertain, their difference is much less so."""
    signals, design, rng = planted((32, 20))
    first = case("lira", threat_models.ratio(signals), design)
    second = case("lira", threat_models.ratio(signals + 0.1 * rng.normal(size=design.shape)), design)
    other = case(
        "lira", threat_models.ratio(planted((32, 20), seed=1)[0] + design - planted((32, 20), seed=1)[1]), design
    )
    close, far = (less(first, one, rng) for one in (second, other))
    assert close["high"] - close["low"] < (far["high"] - far["low"]) / 3


def test_attacks_on_different_sets_have_no_paired_difference():
    signals, design, rng = planted()
    first, second = (case("lira", threat_models.ratio(signals), chosen) for chosen in (design, ~design))
    with pytest.raises(ValueError, match="same targets and shadow contexts"):
        less(first, second, rng)


def test_active_attacks_are_compared_with_lira_on_their_own_arm():
    signals, design, _ = planted((16, 10))
    names = ["lira", "lira poisoned", "brainwash"]
    cases = [
        case(name, threat_models.ratio(signals), design)._replace(
            keys={"arm": arm, "records": "targets", "attack": name, "poison": 5 * (name == "lira poisoned")}
        )
        for arm in ("main", "text")
        for name in names
    ]
    members = [
        case(name, threat_models.ratio(signals), design)._replace(
            keys={"arm": "main", "records": "members", "attack": name, "poison": 0}
        )
        for name in ("lira", *threat_models.THRESHOLDS)
    ]
    found = threat_models.pairs(cases + members)
    assert [(one.name, other.name, one.keys["arm"] == other.keys["arm"]) for one, other in found] == [
        ("lira poisoned", "lira", True), ("brainwash", "lira", True),
        ("lira poisoned", "lira", True), ("brainwash", "lira", True),
        *(("lira", threshold, True) for threshold in threat_models.THRESHOLDS),
    ]  # fmt: skip
    assert [one.keys["records"] for one in found[-1]] == ["members", "members"]


def test_a_table_and_its_text_are_compared_on_the_same_records():
    signals, design, rng = planted((16, 10))
    forms = [
        case("brainwash", threat_models.ratio(signals + gain * design), design)._replace(
            keys={"arm": arm, "model": model, "records": "targets", "attack": "brainwash", "poison": 0}
        )
        for arm, model, gain in (("tabular", "small", 1.0), ("text", "words", 0.0))
    ]
    others = [
        case(name, threat_models.ratio(signals), design)._replace(
            keys={"arm": arm, "model": "m", "records": records, "attack": name, "poison": 0}
        )
        for arm, records, name in [
            *(("main", "members", name) for name in ("lira", *threat_models.THRESHOLDS)),
            *((arm, "targets", "lira") for arm in ("tabular", "text")),
        ]
    ]
    pair = threat_models.pairs([*others, *forms])[-1]
    assert "arm=tabular - text, model=small - words" in less(*pair, rng)["setting"]
    elsewhere = forms[1]._replace(membership=~design)
    assert threat_models.pairs([*others, forms[0], elsewhere])[-1][1].name in threat_models.THRESHOLDS


def test_searches_are_counted_and_checks_keep_an_interval_when_all_pass():
    rng = np.random.default_rng(0)
    copies = np.array([[0, 3, 9], [9, 4, 9]])
    scanned = np.array([[-1, 3, 9], [-1, 5, -1]])
    monotone = np.where(scanned >= 0, 1, -1)
    facts = {
        one.metric: one
        for one in threat_models.searches(copies, scanned, monotone, 8, np.arange(3), rng=rng, replicates=20)
    }
    assert facts["censored"].estimate == 0.5
    assert facts["already wrong"].estimate == pytest.approx(1 / 6)
    assert facts["censored"].n == 6
    assert facts["bisection agrees"].estimate == pytest.approx(2 / 3)
    assert facts["bisection agrees"].n == 3
    # Clopper and Pearson, 3 of 3.
    assert facts["monotone"].low == pytest.approx(0.025 ** (1 / 3))
    assert facts["monotone"].high == 1.0


def test_searches_that_nobody_checked_say_nothing_of_checks():
    none = np.full((2, 3), -1)
    facts = threat_models.searches(none + 1, none, none, 8, np.arange(3), rng=np.random.default_rng(0), replicates=20)
    assert [one.metric for one in facts] == ["censored", "already wrong"]


def test_searches_that_all_end_alike_are_not_certain():
    copies = np.ones((16, 12), int)
    none = np.full_like(copies, -1)
    units = np.repeat(np.arange(6), 2)
    facts = threat_models.searches(copies, none, none, 8, units, rng=np.random.default_rng(0), replicates=20)
    # Clopper and Pearson, 0 of the 6 units.
    assert (facts[0].estimate, facts[0].low) == (0, 0)
    assert facts[0].high == pytest.approx(1 - 0.025 ** (1 / 6))
    assert "6 sets or units" in facts[0].method


def test_a_curve_names_the_rates_below_two_non_members():
    signals, design, rng = planted((16, 10))
    one = case("lira", threat_models.ratio(signals), design)
    found = list(threat_models.curve(one, rng, replicates=20))
    below = [row["method"].endswith("FPR below 2/80 non-members: interpolated") for row in found]
    assert below == [float(row["setting"].rpartition("fpr=")[2]) < 2 / 80 for row in found]


def test_a_tpr_difference_below_one_non_member_is_named():
    signals, design, rng = planted((16, 10))
    one = case("lira", threat_models.ratio(signals), design)
    auc, resolved, below = threat_models.against(one, one, {"fpr": [0.1, 0.01], "replicates": 20}, rng)
    assert "interpolated" not in auc["method"] + resolved["method"]
    assert below["method"].endswith("interpolated")


def test_attacks_on_targets_state_their_poisons_and_queries():
    grid = variant(passive(np.random.default_rng(0)), "usual")
    rng = np.random.default_rng(1)
    noisy = threat_models.perturbation_case(KEYS, perturbed(grid, rng), {"scale": 0.1, "count": 20})
    assert (noisy.name, noisy.queries, noisy.membership.shape) == ("perturbation", 21, (SETS, TARGETS))
    matrix = poisoned(grid, rng)
    cases = list(threat_models.poisoning_cases(KEYS, matrix))
    assert [(case.name, case.keys["poison"]) for case in cases] == [("lira", 0), ("lira poisoned", 2), ("brainwash", 0)]
    assert cases[-1].queries == float(matrix.passes.mean())


def test_the_negative_controls_draw_membership_by_unit():
    grid = variant(passive(np.random.default_rng(0)), "usual")
    units = np.where(grid.member, grid.unit, grid.unit // 2)
    grid = grid.assign_coords(unit=("record", units)).assign_attrs(block=8)
    outside, companions = threat_models.negative_controls(KEYS, grid, np.random.default_rng(2))
    assert outside.membership.shape == (SETS, RECORDS - MEMBERS)
    assert (outside.membership[:, ::2] == outside.membership[:, 1::2]).all()
    drawn = membership_matrices.balanced(SETS, (RECORDS - MEMBERS) // 2, np.random.default_rng(2))
    np.testing.assert_array_equal(outside.membership[:, ::2], drawn)
    assert (outside.scheme.block, companions.scheme.block) == (None, 8)
    assert companions.keys["records"] == "companions"
    np.testing.assert_array_equal(companions.attack.signals, confidence(grid.isel(record=grid.member.values)))
    columns = {column.tobytes() for column in grid.design.values[:, :MEMBERS].T}
    assert {column.tobytes() for column in companions.membership.T} == columns
    assert not (companions.membership == grid.design.values[:, :MEMBERS]).all(0).any()


def controlled(signal, seed):
    """p-value of the AUC of the control with exchanged memberships; 48 contexts of 18 members."""
    rng = np.random.default_rng(seed)
    member = membership_matrices.balanced(48, 24, rng, 8) & (np.arange(24) < 18)
    signals = signal(member, rng)
    logits = np.stack([np.zeros_like(signals), signals], axis=-1)
    coordinates = {"unit": np.arange(24), "member": np.arange(24) < 18, "label": np.ones(24, int)}
    grid = xr.Dataset(
        {"logits": (("model", "record", "class"), logits), "design": (("model", "record"), member)},
        {name: ("record", values) for name, values in coordinates.items()},
        {"block": 8},
    )
    *_, control = threat_models.negative_controls(KEYS, grid, rng)
    settings = {"fpr": [0.1], "replicates": 20, "permutations": 19}
    return threat_models.estimates(control, settings, rng)[0].p_value


def test_exchanged_memberships_find_companion_effects_and_no_own_effects():
    def own(member, rng):
        return rng.normal(size=member.shape) + 1.5 * member

    def companions(member, rng):
        return rng.normal(size=member.shape) / 2 + member.sum(1, keepdims=True) - member

    found = [np.mean([controlled(signal, seed) <= 0.05 for seed in range(40)]) for signal in (own, companions)]
    assert found[0] <= 0.15
    assert found[1] >= 0.7
