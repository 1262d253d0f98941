"""The strongest score is chosen on other contexts than report it: no leak is claimed where there is none."""

from dataclasses import replace

import numpy as np
import pytest

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.registry import on_confidence
from memaudit.data import membership_matrices
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics import roc, strongest_score
from memaudit.statistics.strongest_score import Panel

MODELS, RECORDS = 32, 40
SCHEME = Scheme("columns", 8)
NAMES = ["lira", "lira shared variance", "rmia", "signal alone"]


def panel(rng, leak, persons=1):
    """Signals of records with levels and spreads of their own; presence adds |t_3| deviations times `leak`."""
    units = np.arange(RECORDS) // persons
    drawn = membership_matrices.balanced(MODELS, units.max() + 1, rng, block=8)
    member = membership_matrices.expand(drawn, units)
    effect = leak * np.abs(rng.standard_t(3, RECORDS))
    noise = np.exp(rng.normal(0, 0.4, RECORDS)) * rng.standard_t(4, member.shape)
    signals = rng.normal(0, 2, RECORDS) + noise + effect * member
    population = rng.normal(0, 2, 40) + rng.standard_t(4, (MODELS, 40))
    attacks = on_confidence({name: name for name in NAMES}, signals, population, {"gamma": 1.0, "offline_a": 0.3})
    return (Panel.of_units if persons > 1 else Panel.of_records)(attacks, member, units, SCHEME)


def judged(rng, made):
    chosen = strongest_score.choose(made, 0.1)
    return strongest_score.judge_strongest(made, chosen, fprs=[0.1], rng=rng, replicates=40, permutations=19)


@pytest.mark.parametrize("persons", [1, 2])
def test_without_a_leak_the_choice_finds_none(persons):
    rng, found = np.random.default_rng(persons), []
    for _ in range(20):
        auc, _ = judged(rng, panel(rng, 0.0, persons))
        found.append([auc.estimate, auc.low <= auc.null <= auc.high, auc.detected])
    estimates, covered, detected = np.array(found, float).T
    assert abs(estimates.mean() - 0.5) < 4 * estimates.std() / np.sqrt(len(estimates))
    assert covered.sum() >= 18
    assert detected.sum() <= 3  # 1 is expected; more than 3 happen by chance in 2 of 100 such tests


def test_with_a_leak_the_interval_covers_what_the_procedure_finds_on_average():
    rng = np.random.default_rng(5)
    found = [judged(rng, panel(rng, 0.8))[0] for _ in range(10)]
    truth = np.mean([one.estimate for one in found])
    assert truth > 0.52
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.9
    assert np.mean([one.detected for one in found]) > 0.8


def test_the_choice_for_a_fold_does_not_see_its_contexts():
    rng = np.random.default_rng(0)
    made = panel(rng, 0.5)
    folds = strongest_score.context_folds(MODELS, SCHEME)
    assert all((folds[first : first + 8] == folds[first]).all() for first in range(0, MODELS, 8))
    chosen = strongest_score.choose(made, 0.1)
    attacks = {}
    for name, one in made.attacks.items():
        signals = one.signals.copy()
        signals[folds == 1] = rng.random((8, RECORDS))  # of the second fold alone
        attacks[name] = one._replace(signals=signals)
    changed = Panel(attacks, made.membership, made.target, made.groups, SCHEME)
    again = strongest_score.choose(changed, 0.1)
    assert [again[key][1] for key in again] == [chosen[key][1] for key in chosen]


def test_the_better_score_is_chosen_by_each_criterion():
    rng = np.random.default_rng(1)
    member = membership_matrices.balanced(MODELS, RECORDS, rng, block=8)
    noise = rng.normal(size=member.shape)
    few = member & (rng.random(member.shape) < 0.3)
    attacks = {"many": Attack(noise + 0.8 * member, "raw"), "few": Attack(noise * 0.1 + 5 * few, "raw")}
    made = Panel.of_records(attacks, member, np.arange(RECORDS), SCHEME)
    chosen = strongest_score.choose(made, 0.01)
    assert chosen == {"auc": ["many"] * 4, "tpr": ["few"] * 4}
    assert strongest_score.shares(chosen["auc"]) == {"many": 1.0}
    auc, tpr = strongest_score.judge_strongest(made, chosen, fprs=[0.01], rng=rng, replicates=20, permutations=19)
    assert auc.estimate == pytest.approx(roc.auc(attacks["many"].signals, member))
    assert tpr.estimate == pytest.approx(roc.tpr_at_fpr(attacks["few"].signals, member, [0.01])[0])
    each = strongest_score.judge_each(made, ["few"], fprs=[0.01], rng=rng, replicates=20)
    assert list(each) == ["few"]
    assert np.isnan(each["few"][0].p_value)


def test_the_p_value_is_that_of_all_scores_and_not_of_the_chosen_one():
    made = panel(np.random.default_rng(6), 0.4)
    alone, other = ({"auc": [name] * 4, "tpr": [name] * 4} for name in ("rmia", "signal alone"))
    nulls = [
        strongest_score.null_of_strongest(made, chosen, np.random.default_rng(7), 19, [0.1])
        for chosen in (alone, other)
    ]
    np.testing.assert_array_equal(nulls[0]["auc"].p_values, nulls[1]["auc"].p_values)
    assert not np.array_equal(nulls[0]["auc"].values, nulls[1]["auc"].values)
    # A leak in one score among many without information is found.
    noise = np.random.default_rng(9).normal(size=(11, *made.membership.shape))
    attacks = {f"noise {number}": Attack(values, "raw") for number, values in enumerate(noise[1:])}
    attacks["leak"] = Attack(noise[0] + 0.6 * made.membership, "raw")
    chosen = {"auc": ["noise 1"] * 4, "tpr": ["noise 1"] * 4}
    many = Panel.of_records(attacks, made.membership, np.arange(RECORDS), SCHEME)
    assert (
        strongest_score.null_of_strongest(many, chosen, np.random.default_rng(7), 39, [0.1])["auc"].p_values[0] <= 0.05
    )


def test_redraws_of_models_of_fixed_size_have_shadow_models_for_every_record():
    rng, member = np.random.default_rng(4), np.zeros((12, RECORDS), bool)
    while (np.minimum(member.sum(0), 12 - member.sum(0)) < 3).any():
        member = membership_matrices.fixed_size(12, RECORDS, RECORDS // 2, rng)
    signals = rng.normal(size=member.shape)
    attacks = on_confidence({"lira": "lira"}, signals, signals[:, :5], {"gamma": 1.0, "offline_a": 0.3})
    made = Panel.of_records(attacks, member, np.arange(RECORDS), Scheme("rows"))
    null = strongest_score.null_of_strongest(made, {"auc": ["lira"] * 4}, rng, 19, [0.1])["auc"]
    assert null.values.shape == (19, 2)


def test_a_large_matrix_has_the_fewest_redraws(monkeypatch):
    made, chosen = panel(np.random.default_rng(6), 0.0), {"auc": ["lira"] * 4}
    monkeypatch.setattr(strongest_score, "LARGE", MODELS * RECORDS - 1)
    null = strongest_score.null_of_strongest(made, chosen, np.random.default_rng(0), 39, [0.1])["auc"]
    assert null.values.shape == (19, 2)


def test_an_exchanged_panel_gives_each_person_the_membership_of_another_one():
    made = panel(np.random.default_rng(3), 0.0, persons=2)
    exchanged = made.exchanged(np.random.default_rng(0))
    assert not (exchanged.membership == made.membership).all(0).any()
    assert {column.tobytes() for column in exchanged.membership.T} == {one.tobytes() for one in made.membership.T}


@pytest.mark.parametrize(("blocks", "folds"), [(2, 2), (3, 3), (4, 4), (8, 4)])
def test_folds_are_whole_blocks(blocks, folds):
    found = strongest_score.context_folds(8 * blocks, SCHEME)
    assert len(np.unique(found)) == folds
    assert (found.reshape(blocks, 8) == found[::8, None]).all()
    assert len(np.unique(strongest_score.context_folds(32, Scheme("columns", 32)))) == 4


def test_different_choices_are_ranked_within_their_folds():
    rng = np.random.default_rng(2)
    member = membership_matrices.balanced(MODELS, RECORDS, rng, block=8)
    signals = rng.normal(size=member.shape) + member
    attacks = {"small": Attack(signals, "raw"), "large": Attack(1000 + 50 * signals, "raw")}
    made = Panel.of_records(attacks, member, np.arange(RECORDS), SCHEME)
    mixed = strongest_score.composite(made, ["small", "large", "small", "large"])
    assert roc.auc(mixed, member) == pytest.approx(roc.auc(signals, member), abs=0.01)


def test_log_likelihood_ratios_of_a_persons_records_are_summed():
    made = panel(np.random.default_rng(3), 0.4, persons=2)
    assert made.membership.shape == (MODELS, RECORDS // 2)
    signals, method, options = made.attacks["lira"]
    rows = calibrate(signals, made.membership.repeat(2, axis=1), method, **options)
    np.testing.assert_allclose(made.scores("lira"), rows[:, ::2] + rows[:, 1::2])
    rows_auc = roc.auc(rows, made.membership.repeat(2, axis=1))
    assert roc.auc(made.scores("lira"), made.membership) > rows_auc


def test_scores_of_units_of_one_record_have_the_order_of_the_units():
    rng = np.random.default_rng(8)
    member = membership_matrices.balanced(MODELS, 6, rng, block=8)
    attacks = {"signal alone": Attack(member + 0.1 * rng.normal(size=member.shape), "raw", {})}
    made = Panel.of_units(attacks, member, np.array([5, 3, 1, 0, 2, 4]), SCHEME)
    assert roc.area(*roc.curve(roc.rank(made.scores("signal alone"), made.membership))) == 1


def test_one_model_without_a_leak_is_judged_as_a_panel_of_redrawn_members():
    made, options = panel(np.random.default_rng(3), 0.8), {"replicates": 40, "permutations": 19}
    (found,) = strongest_score.judge_redrawn(made, 1, fpr=0.1, rng=np.random.default_rng(4), **options)
    rng = np.random.default_rng(4)
    assert found == judged(rng, replace(made, membership=made.redrawn(rng)))


def test_panels_whose_units_have_other_numbers_of_models_share_no_null(monkeypatch):
    made = panel(np.random.default_rng(3), 0.8)
    shared = []
    nulls = strongest_score._shared_nulls
    monkeypatch.setattr(
        strongest_score, "_shared_nulls", lambda panels, *rest: shared.append(len(panels)) or nulls(panels, *rest)
    )
    turned, fewer = made.membership[:, ::-1], made.membership.copy()
    fewer[np.flatnonzero(fewer[:, 0])[0], 0] = False
    for other, times in ((turned, [2]), (fewer, [1, 1])):
        panels = [made, replace(made, membership=other)]
        options = {"fprs": [0.1], "rng": np.random.default_rng(4), "replicates": 10, "permutations": 19}
        strongest_score.judge_alike(panels, [strongest_score.choose(one, 0.1) for one in panels], **options)
        assert shared == times
        shared.clear()


def test_models_without_a_leak_that_share_a_null_are_rarely_found():
    rng, options = np.random.default_rng(6), {"replicates": 40, "permutations": 19}
    found = []
    for _ in range(12):
        judgements = strongest_score.judge_redrawn(panel(rng, 0.8), 3, fpr=0.1, rng=rng, **options)
        found.append([auc.detected for auc, _ in judgements])
    assert np.sum(found) <= 6  # of 36, where 1.8 are expected
    assert not np.all(found, axis=1).any()
