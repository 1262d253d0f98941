"""Training of the learned attack: planted signals are learned, noise is not, and the best epoch is kept."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from planted_token_features import QUICK, TINY, combination, quickly, several, state
from scipy.special import expit

from memaudit.attacks import learned_training
from memaudit.attacks.learned_classifier import (
    Classifier,
    odds_of_rows,
    score_rows,
)
from memaudit.attacks.learned_training import Settings, platt, train
from memaudit.attacks.token_features import open_rows, unpack
from memaudit.common.errors import AuditError
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import judge

pytestmark = pytest.mark.usefixtures("one_thread")
KINDS = ["transformer", "flat_mlp", "mean_mlp", "logistic"]


@pytest.fixture(scope="module")
def trained():
    return quickly()


@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_signal_is_learned_and_transfers_to_other_models(kind):
    classifier = quickly(architecture=replace(TINY, kind=kind), signal=2.5)
    other = combination("other", 77, signal=2.5)
    assert roc.auc(score_rows(classifier, other.rows), other.member) > 0.95


def test_without_a_signal_the_interval_contains_one_half():
    classifier = quickly(signal=0.0)
    other = combination("other", 78, texts=300, signal=0.0)
    scores = score_rows(classifier, other.rows)
    estimate = judge(scores[None], other.member[None], rng=np.random.default_rng(0))[0]
    assert estimate.low < 0.5 < estimate.high
    assert estimate.high - estimate.low < 0.2
    assert scores.std() > 0


def test_features_are_standardised_by_the_tokens_of_the_training_alone_each_model_alike():
    small, large = combination("small", 1, texts=20, offset=5.0), combination("large", 2, texts=200)
    large.rows["values"][:, :, 3] = 0
    small.rows["values"][:, :, 3] = 0
    held_out = combination("held", 3, offset=1000.0)
    classifier = train([small, large], [held_out], roc.auc, 0, replace(TINY, kind="mean_mlp"), replace(QUICK, epochs=1))
    tokens = [part.values[part.mask].astype(float) for part in (unpack(small.rows), unpack(large.rows))]
    mean = np.mean([part.mean(0) for part in tokens], 0)
    square = np.mean([(part**2).mean(0) for part in tokens], 0)
    deviation = np.sqrt(square - mean**2)
    deviation[3] = 1
    np.testing.assert_allclose(classifier.mean, mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(classifier.deviation, deviation, rtol=1e-4)


def test_combinations_are_drawn_alike_whatever_their_size():
    one, two = combination("one", 1, texts=1800), combination("two", 2, texts=200)
    one.rows["values"], two.rows["values"] = 1, 2
    one.rows["exponent"], two.rows["exponent"] = 0, 0
    batches = list(learned_training._batches([one, two], 256, np.random.default_rng(0)))
    which = np.concatenate([features.values[:, 0, 0] for features, _ in batches])
    assert len(which) == 2000
    assert np.mean(which == 2) == pytest.approx(0.5, abs=0.04)
    assert {len(member) for _, member in batches} == {256, 2000 % 256}


def test_members_stay_with_their_texts_in_a_batch():
    one = combination("one", 1)
    one.rows["values"][..., 0] = np.where(one.member, 1, -1)[:, None]
    for features, member in learned_training._batches([one, one], 32, np.random.default_rng(0)):
        np.testing.assert_array_equal(features.values[:, 0, 0] > 0, member)


def test_the_epoch_with_the_best_validation_auc_is_kept():
    values = iter([0.6, 0.9, 0.7, 0.9])
    kept = quickly(settings=replace(QUICK, epochs=4), auc=lambda scores, member: next(values))
    values = iter([0.6, 0.9])
    second = quickly(settings=replace(QUICK, epochs=2), auc=lambda scores, member: next(values))
    assert state(kept) == state(second)
    assert [epoch["validation_auc"] for epoch in kept.facts["history"]] == [0.6, 0.9, 0.7, 0.9]


def test_training_stops_when_the_validation_auc_has_not_risen_for_long():
    values = iter([0.6, 0.7, 0.65, 0.7, 0.9])
    settings = replace(QUICK, epochs=5, patience=2)
    assert len(quickly(settings=settings, auc=lambda scores, member: next(values)).facts["history"]) == 4


def test_validation_is_the_mean_over_models_not_the_pool():
    held_out = [combination("one", 91), combination("two", 92, texts=40)]
    seen = []
    once = replace(QUICK, epochs=1)
    classifier = train(several(), held_out, lambda s, m: seen.append(len(m)) or len(seen) / 2, 0, TINY, once)
    assert seen == [160, 40]
    assert classifier.facts["history"][0]["validation_auc"] == 0.75


def test_training_is_a_function_of_its_seed(trained):
    assert state(trained) == state(quickly())
    assert state(trained) != state(quickly(seed=1))
    before = torch.random.get_rng_state()
    quickly(settings=replace(QUICK, epochs=1))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_rows_mapped_from_disk_train_the_same_classifier(trained, tmp_path):
    mapped = []
    for one in several():
        np.save(tmp_path / f"{one.name}.npy", one.rows)
        mapped.append(replace(one, rows=open_rows(tmp_path / f"{one.name}.npy")))
    assert state(trained) == state(train(mapped, [combination("held", 90)], roc.auc, 0, TINY, QUICK))


def test_platts_curve_is_the_log_odds_of_normal_scores():
    """N(1, 1) against N(-1, 1): log-odds of 2 s."""
    rng = np.random.default_rng(0)
    member = np.arange(40_000) < 20_000
    slope, intercept = platt(rng.normal(np.where(member, 1, -1)), member)
    assert slope == pytest.approx(2, abs=0.06)
    assert intercept == pytest.approx(0, abs=0.04)


def test_platts_curve_stays_finite_where_the_classes_do_not_overlap():
    member = np.arange(20) < 10
    slope, intercept = platt(np.where(member, 1.0, -1.0), member)
    assert expit(slope + intercept) == pytest.approx(11 / 12, abs=1e-3)
    assert expit(intercept - slope) == pytest.approx(1 / 12, abs=1e-3)


def test_probabilities_are_fitted_on_the_validation_texts():
    classifier = quickly(signal=0.3)
    held_out = combination("held", 90, signal=0.3)
    scores = score_rows(classifier, held_out.rows)
    assert tuple(classifier.platt.tolist()) == platt(scores, held_out.member)
    assert expit(odds_of_rows(classifier, held_out.rows)).mean() == pytest.approx(0.5, abs=0.01)


def test_the_learning_rate_rises_then_decays_as_a_cosine():
    settings = Settings(epochs=30, warmup=10, cosine=True)
    rates = [learned_training._rate(epoch, settings) for epoch in (0, 5, 10, 20, 30)]
    assert rates == pytest.approx([0, 0.5, 1, 0.5, 0])
    assert {learned_training._rate(epoch, Settings()) for epoch in (0, 3.5, 29)} == {1}


def test_a_training_that_diverges_is_an_error():
    with pytest.raises(AuditError, match="the loss of epoch 0 is not a number"):
        quickly(settings=replace(QUICK, learning_rate=1e30), architecture=replace(TINY, kind="mean_mlp"))


def test_a_batch_that_is_read_in_parts_has_the_gradients_and_the_loss_of_the_whole(monkeypatch):
    one = combination("a", 1)
    features, found = unpack(one.rows), []
    for texts in (len(one.rows), 7):
        monkeypatch.setattr(learned_training, "AT_ONCE", texts)
        torch.manual_seed(1)
        classifier = Classifier(replace(TINY, dropout=0.0), *features.values.shape[1:])
        loss = learned_training._add_gradients(classifier, features, one.member, 0.1)
        found.append([torch.tensor(loss), *(weight.grad for weight in classifier.parameters())])
    assert len(one.rows) % 7
    for whole, parts in zip(*found, strict=True):
        torch.testing.assert_close(parts, whole, rtol=1e-4, atol=1e-6)


def test_no_more_texts_than_a_gpu_holds_are_read_at_once(monkeypatch):
    sizes, read = [], learned_training.logits
    monkeypatch.setattr(learned_training, "AT_ONCE", 16)
    monkeypatch.setattr(learned_training, "logits", lambda own, part: sizes.append(len(part.values)) or read(own, part))
    train([combination("a", 1)], [combination("b", 2)], roc.auc, 0, TINY, replace(QUICK, epochs=1, batch=40))
    assert max(sizes) == 16
