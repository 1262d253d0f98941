"""Settings chosen by transfer to left-out models and corpora, seeds averaged, and classifiers of shuffled labels."""

import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch
from planted_token_features import QUICK, TINY, combination

from memaudit.attacks import learned_selection
from memaudit.attacks.learned_classifier import (
    from_bytes,
    load,
    log_odds,
    members_of,
    odds_by_seed,
    save,
    score_rows,
    to_bytes,
)
from memaudit.attacks.learned_selection import (
    Candidates,
    choose,
    folds,
    shuffled,
    train_seeds,
    train_shuffled,
)
from memaudit.attacks.learned_training import Combination, train
from memaudit.attacks.token_features import TokenFeatures, pack, unpack
from memaudit.common.errors import AuditError
from memaudit.statistics import roc

pytestmark = pytest.mark.usefixtures("one_thread")
MODELS, CORPORA = ("a", "b", "c"), ("x", "y", "z")
NAMES = [(model, corpus, "full") for model in MODELS for corpus in CORPORA]
LOCAL = 3  # a channel that betrays members of each corpus in a way of its own
LINEAR = (replace(TINY, kind="logistic", clamp=50.0), replace(QUICK, learning_rate=3e-2, weight_decay=0.0))


def part(corpus, seed, texts, signal=1.0, local=0.0):
    """Members have lower losses everywhere, and in each corpus a sign of its own at a second channel."""
    one = combination(corpus, seed, texts=texts, signal=signal)
    features = unpack(one.rows)
    sign = {"x": 1, "y": -1, "z": 0}[corpus]
    values = features.values.copy()
    values[..., LOCAL] += local * sign * np.where(one.member, 1, -1)[:, None] * features.mask
    return Combination(corpus, pack(TokenFeatures(values, features.mask)), one.member)


def grid(local=0.0, signal=1.0, texts=80):
    return {
        (model, corpus, tuning): tuple(
            part(corpus, 100 * at + 10 * place, size, signal, local) for place, size in enumerate((texts, texts // 2))
        )
        for at, (model, corpus, tuning) in enumerate(NAMES)
    }


def test_a_fold_keeps_neither_the_model_nor_the_corpus_that_it_leaves_out():
    found = folds([*NAMES, ("a", "x", "lora")], 9)
    assert len(found) == 9
    for left_out, kept in found:
        (model, corpus), *others = {name[:2] for name in left_out}
        assert not others
        assert {name[:2] for name in kept} == {
            (one, other) for one in MODELS for other in CORPORA if one != model and other != corpus
        }
    assert [name for name in found[0][0] if name[2] == "lora"] == [("a", "x", "lora")]
    first = [left_out[0] for left_out, _ in folds(NAMES, 3)]
    assert {name[0] for name in first} == set(MODELS)
    assert {name[1] for name in first} == set(CORPORA)
    with pytest.raises(AuditError, match="two models and two corpora"):
        folds([("a", "x", "full"), ("a", "y", "full")], 3)


def test_the_epochs_that_transfer_are_chosen_where_new_texts_of_the_same_combinations_prefer_others():
    """A replayed course of AUCs: on the same combinations it rises with the epochs, on left-out ones it falls."""
    parts = grid()
    left_out_sizes = {len(portion.member) for name in parts for portion in parts[name]}
    assert left_out_sizes == {80, 40}
    kept = {id(portion.member) for portions in parts.values() for portion in portions}
    calls = iter(range(1000))

    def falling(scores, member):
        assert id(member) in kept
        return 0.9 - 0.01 * (next(calls) // 2 % 4)  # two portions are scored after each of four epochs

    fitting, compared = choose(parts, Candidates(epochs=[2, 4, 1]), LINEAR, 3, falling, 0)
    assert fitting[1].epochs == 1
    assert [one["left_out_auc"] for one in compared] == pytest.approx([0.89, 0.87, 0.9])
    assert {one["folds"] for one in compared} == {3}


def test_a_clamp_that_hides_what_does_not_transfer_is_chosen_on_planted_features():
    """A second channel betrays members of one corpus only: validation on new texts prefers it, left-out corpora do not.

    Clamped near zero, both channels count by their sign alone, and the planted signal of few outliers is lost.
    """
    parts = grid(local=3.0, signal=0.5)
    choice = Candidates(epochs=[1, 12])
    (_, settings), compared = choose(parts, choice, LINEAR, 3, roc.auc, 0)
    reached = {one["epochs"]: one["left_out_auc"] for one in compared}
    names = [name for name in NAMES if name[0] != "c" and name[1] == "x"]
    training, validation = ([parts[name][place] for name in names] for place in (0, 1))
    same = train(training, validation, roc.auc, 0, LINEAR[0], replace(LINEAR[1], epochs=12)).facts["history"]
    assert same[-1]["validation_auc"] > same[0]["validation_auc"]  # new texts of the same corpus: more is better
    assert reached[1] > reached[12]
    assert settings.epochs == 1
    assert settings.best_epoch is False


def test_a_single_candidate_trains_no_fold_and_none_keeps_the_best_epoch():
    def refuse(scores, member):
        raise AssertionError

    fitting, compared = choose({}, Candidates(epochs=[7], clamp=[2.0]), LINEAR, 3, refuse, 0)
    assert (fitting[0].clamp, fitting[1].epochs, fitting[1].best_epoch, compared) == (2.0, 7, False, [])
    fitting, _ = choose({}, Candidates(), LINEAR, 3, refuse, 0)
    assert fitting == LINEAR
    assert fitting[1].best_epoch


def test_one_training_serves_all_epochs_of_a_constant_rate_and_each_has_its_own_of_a_cosine():
    seen = []
    for cosine in (False, True):
        calls = []
        fitting = (LINEAR[0], replace(LINEAR[1], cosine=cosine))
        choice = Candidates(epochs=[1, 3], clamp=[2.0, 6.0])
        choose(grid(), choice, fitting, 1, lambda scores, member, calls=calls: calls.append(1) or 0.5, 0)
        seen.append(len(calls) // 2)
    assert seen == [3 * 2, (1 + 3) * 2]


def test_the_chosen_number_of_epochs_is_what_a_training_of_that_many_gives():
    parts = grid()
    _, compared = choose(parts, Candidates(epochs=[2, 5]), LINEAR, 1, roc.auc, 4)
    (left_out, kept), *_ = folds(NAMES, 1)
    tested = [portion for name in left_out for portion in parts[name]]
    settings = replace(LINEAR[1], epochs=2, best_epoch=False)
    classifier = train([parts[name][0] for name in kept], tested, roc.auc, 4, LINEAR[0], settings)
    areas = [roc.auc(score_rows(classifier, one.rows), one.member) for one in tested]
    assert compared[0]["left_out_auc"] == pytest.approx(np.mean(areas))


def test_an_ensemble_averages_its_seeds_and_is_one_file(tmp_path):
    settings = replace(QUICK, epochs=1)
    classifier = train_seeds(grid(texts=20), (TINY, settings), 3, roc.auc, 0)
    features = unpack(combination("other", 77).rows)
    odds = odds_by_seed(classifier, features)
    assert odds.shape == (160, 3)
    assert np.ptp(odds, axis=1).min() > 0
    np.testing.assert_allclose(log_odds(classifier, features), odds.mean(1))
    save(classifier, tmp_path / "a.safetensors", tmp_path / "a.json")
    loaded = load(tmp_path / "a.safetensors", tmp_path / "a.json")
    for one in (loaded, from_bytes(to_bytes(classifier))):
        np.testing.assert_array_equal(odds_by_seed(one, features), odds)
        assert len(members_of(one)) == 3
        assert (one.positions, one.channels, one.facts) == (classifier.positions, classifier.channels, classifier.facts)


def test_shuffled_labels_are_as_frequent_among_members_as_among_others():
    parts = grid()
    dealt, quarter = shuffled(parts, 5), shuffled(parts, 5, 0.25)
    for name, portions in parts.items():
        for one, other, fewer in zip(portions, dealt[name], quarter[name], strict=True):
            assert (one.rows == other.rows).all()
            for value in (True, False):
                assert other.member[one.member == value].mean() == 0.5
            assert len(fewer.rows) == len(fewer.member) == len(one.rows) // 4
            assert abs(fewer.member.mean() - 0.5) <= 0.1
    assert (shuffled(parts, 6)[NAMES[0]][0].member != dealt[NAMES[0]][0].member).any()


def test_classifiers_of_shuffled_labels_are_at_one_half_where_that_of_the_labels_is_not():
    parts, one_epoch = grid(signal=1.5), (LINEAR[0], replace(LINEAR[1], epochs=2))
    other = combination("other", 78, texts=400, signal=1.5)
    nulls = train_shuffled(parts, one_epoch, 30, roc.auc, 0, "cpu")
    areas = np.array([roc.auc(score_rows(null, other.rows), other.member) for null in nulls])
    whole = train_seeds(parts, one_epoch, 1, roc.auc, 0)
    assert roc.auc(log_odds(whole, unpack(other.rows)), other.member) > 0.9
    assert np.std(areas, ddof=1) > 0.05  # each separates the texts by chance
    assert abs(areas.mean() - 0.5) < 3 * np.std(areas, ddof=1) / np.sqrt(30)


def test_labels_that_are_not_shuffled_are_detected_by_the_null(monkeypatch):
    """A positive control: with the labels themselves all nulls are far above one half."""
    parts = grid(signal=1.5)
    monkeypatch.setattr("memaudit.attacks.learned_selection.shuffled", lambda parts, seed, share: parts)
    other = combination("other", 78, texts=400, signal=1.5)
    nulls = train_shuffled(parts, LINEAR, 3, roc.auc, 0, "cpu")
    assert min(roc.auc(score_rows(null, other.rows), other.member) for null in nulls) > 0.9


def test_every_training_is_kept_by_its_own_name_and_what_is_kept_is_not_trained_again(monkeypatch):
    parts, kept = grid(texts=20), {}

    def keep(name, fit):
        if name not in kept:
            kept[name] = to_bytes(fit())
        return from_bytes(kept[name])

    def all_of(keep):
        fitting, compared = choose(
            parts, Candidates(epochs=[1, 2], clamp=[2.0, 6.0]), LINEAR, 2, roc.auc, 0, "cpu", keep
        )
        own = train_seeds(parts, fitting, 2, roc.auc, 0, "cpu", keep)
        return compared, [*own.members, *train_shuffled(parts, fitting, 2, roc.auc, 0, "cpu", keep)]

    made = all_of(learned_selection.anew)
    first = all_of(keep)
    assert len(kept) == 2 * 2 + 2 + 2
    monkeypatch.setattr(learned_selection, "train", None)
    monkeypatch.setattr(learned_selection, "moments_of", None)
    for found in (first, all_of(keep)):
        assert found[0] == made[0]
        for one, other in zip(found[1], made[1], strict=True):
            assert one.facts == other.facts
            assert all(torch.equal(value, other.state_dict()[name]) for name, value in one.state_dict().items())


def test_the_copied_texts_of_a_null_are_gone_before_the_next_is_made(monkeypatch):
    """A null of the paper's counts has 6 GB."""
    made, make = [], learned_selection.shuffled

    def counted(*given):
        assert not any(one() for one in made)
        found = make(*given)
        made.extend(weakref.ref(part.rows) for both in found.values() for part in both)
        return found

    monkeypatch.setattr(learned_selection, "shuffled", counted)
    train_shuffled(grid(texts=20), LINEAR, 3, roc.auc, 0, "cpu")
    assert made
