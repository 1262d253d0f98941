"""The learned attack: planted signals are learnt, chance stays chance, and what is saved is what was trained."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import expit

from memaudit.attacks import learned_training
from memaudit.attacks.learned_classifier import (
    Classifier,
    apply,
    load,
    log_odds,
    odds_of_rows,
    permuted_odds,
    save,
    score_rows,
)
from memaudit.attacks.learned_networks import Architecture, sinusoids
from memaudit.attacks.learned_training import ARMS, Combination, Settings, platt, train
from memaudit.attacks.token_features import TokenFeatures, channels, extract, groups, open_rows, pack, unpack
from memaudit.errors import AuditError
from memaudit.statistics import roc
from memaudit.statistics.attack_performance import judge

KINDS = ["transformer", "flat_mlp", "mean_mlp", "logistic"]
TINY = Architecture(width=16, heads=2, feedforward=16, layers=1, hidden=(16,), dropout=0.0)
QUICK = Settings(epochs=8, batch=64, learning_rate=5e-3)
K, POSITIONS, WIDTH = 1, 8, 21
SIGNAL = channels(K).index("loss_difference")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    torch.set_num_threads(1)


def combination(name, seed, texts=160, signal=1.5, offset=0.0):
    """Half of the texts are members, whose loss difference is `signal` deviations lower; each model has its scale."""
    rng = np.random.default_rng(seed)
    values = rng.normal(offset, 1, (texts, POSITIONS, WIDTH)).astype(np.float32)
    member = rng.permutation(texts) < texts // 2
    values[member, :, SIGNAL] -= signal
    mask = np.arange(POSITIONS) < rng.integers(4, POSITIONS, texts)[:, None]
    values *= rng.uniform(0.8, 1.2, WIDTH) * mask[..., None]
    return Combination(name, pack(TokenFeatures(values.astype(np.float32), mask)), member)


def several(signal=1.5, seed=0):
    return [combination(f"model-{number}", 10 * seed + number, signal=signal) for number in range(3)]


def quickly(seed=0, architecture=TINY, settings=QUICK, auc=roc.auc, signal=1.5):
    return train(several(signal), [combination("held", 90, signal=signal)], auc, seed, architecture, settings)


@pytest.fixture(scope="module")
def trained():
    return quickly()


def state(classifier):
    return {name: value.numpy().tobytes() for name, value in classifier.state_dict().items()}


def test_the_networks_have_the_published_numbers_of_weights():
    """The paper: fewer than 500 thousand; its sizes give 310 thousand, those of the authors' repository 828."""
    counts = {
        arm: sum(weight.numel() for weight in Classifier(architecture, 128, 154).parameters())
        for arm, (architecture, _) in ARMS.items()
    }
    assert counts == {"paper": 310_018, "repository": 827_906}


@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_signal_is_learnt_and_transfers_to_other_models(kind):
    classifier = quickly(architecture=replace(TINY, kind=kind), signal=2.5)
    other = combination("other", 77, signal=2.5)
    assert roc.auc(score_rows(classifier, other.rows), other.member) > 0.95


def test_without_a_signal_the_interval_holds_a_half():
    classifier = quickly(signal=0.0)
    other = combination("other", 78, texts=300, signal=0.0)
    scores = score_rows(classifier, other.rows)
    estimate = judge(scores[None], other.member[None], rng=np.random.default_rng(0))[0]
    assert estimate.low < 0.5 < estimate.high
    assert estimate.high - estimate.low < 0.2
    assert scores.std() > 0


def test_position_counts_for_the_transformer_but_not_for_the_mean():
    one = combination("one", 5)
    features = unpack(one.rows)
    values, mask = features.values[:, :4], np.ones((len(features.mask), 4), bool)
    reversed_ = values[:, ::-1].copy()
    for kind, differs in {"transformer": True, "flat_mlp": True, "mean_mlp": False}.items():
        classifier = Classifier(replace(TINY, kind=kind), 4, WIDTH)
        gap = np.abs(apply(classifier, values, mask) - apply(classifier, reversed_, mask)).max()
        assert (gap > 1e-3) == differs, kind


def test_positional_encodings_are_sines_and_cosines():
    found = sinusoids(5, 6)
    for position in range(5):
        for pair in range(3):
            angle = position / 10_000 ** (2 * pair / 6)
            expected = [np.sin(angle), np.cos(angle)]
            np.testing.assert_allclose(found[position, 2 * pair : 2 * pair + 2], expected, atol=1e-6)


def test_what_stands_at_padding_changes_no_score(trained):
    features = unpack(combination("other", 77).rows)
    scores = apply(trained, features.values, features.mask)
    dirty = features.values.copy()
    dirty[~features.mask] = 1e6
    np.testing.assert_array_equal(apply(trained, dirty, features.mask), scores)
    longer = [np.concatenate([part, np.zeros_like(part[:, :3])], 1) for part in (features.values, features.mask)]
    np.testing.assert_allclose(apply(trained, *longer), scores, atol=1e-5)


def test_features_are_standardised_by_the_tokens_of_the_training_alone_each_model_alike():
    small, large = combination("small", 1, texts=20, offset=5.0), combination("large", 2, texts=200)
    large.rows["values"][:, :, 3] = 0
    small.rows["values"][:, :, 3] = 0
    held = combination("held", 3, offset=1000.0)
    classifier = train([small, large], [held], roc.auc, 0, replace(TINY, kind="mean_mlp"), replace(QUICK, epochs=1))
    tokens = [part.values[part.mask].astype(float) for part in (unpack(small.rows), unpack(large.rows))]
    mean = np.mean([part.mean(0) for part in tokens], 0)
    square = np.mean([(part**2).mean(0) for part in tokens], 0)
    deviation = np.sqrt(square - mean**2)
    deviation[3] = 1
    np.testing.assert_allclose(classifier.mean, mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(classifier.deviation, deviation, rtol=1e-4)


def test_outliers_are_clamped(trained):
    features = unpack(combination("other", 77).rows)
    far, farther = features.values.copy(), features.values.copy()
    far[..., 2], farther[..., 2] = 1e4, 1e8
    np.testing.assert_array_equal(apply(trained, far, features.mask), apply(trained, farther, features.mask))


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
    held = [combination("one", 91), combination("two", 92, texts=40)]
    seen = []
    once = replace(QUICK, epochs=1)
    classifier = train(several(), held, lambda s, m: seen.append(len(m)) or len(seen) / 2, 0, TINY, once)
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


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_classifier_comes_back_bit_for_bit(kind, tmp_path):
    classifier = quickly(architecture=replace(TINY, kind=kind), settings=replace(QUICK, epochs=1))
    for copy in ("a", "b"):
        save(classifier, tmp_path / f"{copy}.safetensors", tmp_path / f"{copy}.json")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    before = torch.random.get_rng_state()
    found = load(tmp_path / "a.safetensors", tmp_path / "a.json")
    assert torch.equal(torch.random.get_rng_state(), before)
    assert state(found) == state(classifier)
    assert (found.architecture, found.facts) == (classifier.architecture, classifier.facts)
    features = unpack(combination("other", 77).rows)
    scores = apply(classifier, features.values, features.mask)
    np.testing.assert_array_equal(apply(found, features.values, features.mask), scores)
    np.testing.assert_array_equal(log_odds(found, features), log_odds(classifier, features))
    card = json.loads((tmp_path / "a.json").read_text())
    assert card["parameters"] == sum(weight.numel() for weight in classifier.parameters())


def test_weights_that_are_not_the_cards_are_refused(trained, tmp_path):
    weights, card = tmp_path / "a.safetensors", tmp_path / "a.json"
    save(trained, weights, card)
    facts = json.loads(card.read_text())
    card.write_text(json.dumps(facts | {"channels": 20}))
    with pytest.raises(AuditError, match="no classifier of this attack"):
        load(weights, card)
    card.write_text(json.dumps({"sha256": facts["sha256"]}))
    with pytest.raises(AuditError, match="no classifier of this attack"):
        load(weights, card)
    card.write_text(json.dumps(facts))
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(AuditError, match="not the weights that"):
        load(weights, card)
    weights.unlink()
    with pytest.raises(AuditError, match="is not there"):
        load(weights, card)


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
    held = combination("held", 90, signal=0.3)
    scores = score_rows(classifier, held.rows)
    assert tuple(classifier.platt.tolist()) == platt(scores, held.member)
    assert expit(odds_of_rows(classifier, held.rows)).mean() == pytest.approx(0.5, abs=0.01)


def test_permuting_the_group_with_the_signal_costs_the_auc_and_no_other_does(trained):
    other = combination("other", 77)
    own, features = groups(K), unpack(other.rows)
    found = permuted_odds(trained, features, own, np.random.default_rng(0))
    whole = roc.auc(log_odds(trained, features), other.member)
    lost = {group: whole - roc.auc(odds, other.member) for group, odds in found.items()}
    assert SIGNAL in own["comparison"]
    assert lost["comparison"] == pytest.approx(0.48, abs=0.15)
    assert abs(lost["target"]) < 0.05
    assert abs(lost["reference"]) < 0.05


def test_a_group_is_dealt_as_a_whole(trained):
    """All channels in one group: every text has another's score."""
    features = unpack(combination("other", 77).rows)
    whole = TokenFeatures(features.values, np.ones_like(features.mask))
    found = permuted_odds(trained, whole, {"all": range(WIDTH)}, np.random.default_rng(4))["all"]
    dealt = log_odds(trained, whole)[np.random.default_rng(4).permutation(len(found))]
    np.testing.assert_allclose(found, dealt, atol=1e-4)


def test_where_target_is_reference_the_odds_are_even_exactly(trained):
    draw = torch.Generator().manual_seed(0)
    logits, ids = torch.randn(20, POSITIONS, 50, generator=draw), torch.randint(50, (20, POSITIONS), generator=draw)
    same = extract(logits, logits, ids, torch.ones(20, POSITIONS), k=K)
    assert (log_odds(trained, same) == 0).all()
    assert np.ptp(apply(trained, same.values, same.mask)) > 0, "the network alone would tell texts apart"
    nearly = extract(
        logits + 1e-3 * torch.randn(logits.shape, generator=draw), logits, ids, torch.ones(20, POSITIONS), k=K
    )
    assert (log_odds(trained, nearly) != 0).all()


def test_the_comparison_alone_tells_nothing_where_target_is_reference(trained):
    draw = torch.Generator().manual_seed(0)
    logits, ids = torch.randn(20, POSITIONS, 50, generator=draw), torch.randint(50, (20, POSITIONS), generator=draw)
    found = extract(logits, logits, ids, torch.ones(20, POSITIONS), k=K)
    values = np.zeros_like(found.values)
    comparison = groups(K)["comparison"]
    values[..., comparison] = found.values[..., comparison]
    scores = apply(trained, values, found.mask)
    assert np.ptp(scores) < 1e-5
    assert roc.auc(np.round(scores, 4), np.arange(20) < 10) == 0.5


def test_the_rate_rises_then_falls_as_a_cosine_where_so_wished():
    settings = Settings(epochs=30, warmup=10, cosine=True)
    rates = [learned_training._rate(epoch, settings) for epoch in (0, 5, 10, 20, 30)]
    assert rates == pytest.approx([0, 0.5, 1, 0.5, 0])
    assert {learned_training._rate(epoch, Settings()) for epoch in (0, 3.5, 29)} == {1}


def test_texts_without_a_token_to_predict_are_refused(trained):
    features = unpack(combination("other", 77).rows)
    features.mask[4] = False
    with pytest.raises(AuditError, match="text 4 has no token to predict"):
        apply(trained, features.values, features.mask)
    bad = combination("bad", 1)
    bad.rows["mask"][3] = False
    with pytest.raises(AuditError, match="bad has a text without a token"):
        train([bad], several(), roc.auc, 0, TINY, QUICK)


def test_what_does_not_fit_is_refused(trained):
    features = unpack(combination("other", 77).rows)
    with pytest.raises(AuditError, match=r"where a text should have \(8, 21\)"):
        apply(trained, features.values[..., 1:], features.mask)
    flat = Classifier(replace(TINY, kind="logistic"), POSITIONS, WIDTH)
    with pytest.raises(AuditError, match=r"where a text should have \(8, 21\)"):
        apply(flat, features.values[:, 1:], features.mask[:, 1:])
    one = combination("one", 1)
    with pytest.raises(AuditError, match="one has members or non-members alone"):
        train([replace(one, member=np.ones(160, bool))], several(), roc.auc, 0, TINY, QUICK)
    with pytest.raises(AuditError, match="0 to validate on"):
        train(several(), [], roc.auc, 0, TINY, QUICK)
    shorter = Combination("shorter", pack(TokenFeatures(features.values[:, 1:], features.mask[:, 1:])), one.member)
    with pytest.raises(AuditError, match="of 2 shapes"):
        train([one, shorter], several(), roc.auc, 0, TINY, QUICK)


def test_a_training_that_diverges_says_so():
    with pytest.raises(AuditError, match="the loss of epoch 0 is not a number"):
        quickly(settings=replace(QUICK, learning_rate=1e30), architecture=replace(TINY, kind="mean_mlp"))


def test_no_texts_have_no_scores(trained):
    assert apply(trained, np.zeros((0, POSITIONS, WIDTH), np.float32), np.zeros((0, POSITIONS), bool)).shape == (0,)
