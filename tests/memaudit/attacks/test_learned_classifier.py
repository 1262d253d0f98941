"""The learned classifier: scores, odds, permuted groups, and files that restore it bit for bit."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from planted_token_features import POSITIONS, QUICK, SIGNAL, TINY, WIDTH, K, combination, quickly, several, state

from memaudit.attacks.learned_classifier import (
    Classifier,
    apply,
    load,
    log_odds,
    permuted_odds,
    save,
)
from memaudit.attacks.learned_training import Combination, train
from memaudit.attacks.token_features import TokenFeatures, extract, groups, pack, unpack
from memaudit.common.errors import AuditError
from memaudit.statistics import roc

pytestmark = pytest.mark.usefixtures("one_thread")
KINDS = ["transformer", "flat_mlp", "mean_mlp", "logistic"]


@pytest.fixture(scope="module")
def trained():
    return quickly()


def test_values_at_padding_change_no_score(trained):
    features = unpack(combination("other", 77).rows)
    scores = apply(trained, features.values, features.mask)
    dirty = features.values.copy()
    dirty[~features.mask] = 1e6
    np.testing.assert_array_equal(apply(trained, dirty, features.mask), scores)
    longer = [np.concatenate([part, np.zeros_like(part[:, :3])], 1) for part in (features.values, features.mask)]
    np.testing.assert_allclose(apply(trained, *longer), scores, atol=1e-5)


def test_outliers_are_clamped(trained):
    features = unpack(combination("other", 77).rows)
    far, farther = features.values.copy(), features.values.copy()
    far[..., 2], farther[..., 2] = 1e4, 1e8
    np.testing.assert_array_equal(apply(trained, far, features.mask), apply(trained, farther, features.mask))


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_classifier_comes_back_bit_for_bit(kind, tmp_path):
    classifier = quickly(architecture=replace(TINY, kind=kind), settings=replace(QUICK, epochs=1))
    for copy in ("a", "b"):
        save(classifier, tmp_path / f"{copy}.safetensors", tmp_path / f"{copy}.json")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    before = torch.random.get_rng_state()
    observed = load(tmp_path / "a.safetensors", tmp_path / "a.json")
    assert torch.equal(torch.random.get_rng_state(), before)
    assert state(observed) == state(classifier)
    assert (observed.architecture, observed.facts) == (classifier.architecture, classifier.facts)
    features = unpack(combination("other", 77).rows)
    scores = apply(classifier, features.values, features.mask)
    np.testing.assert_array_equal(apply(observed, features.values, features.mask), scores)
    np.testing.assert_array_equal(log_odds(observed, features), log_odds(classifier, features))
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


def test_permuting_the_group_with_the_signal_costs_the_auc_and_no_other_group_does(trained):
    other = combination("other", 77)
    own, features = groups(K), unpack(other.rows)
    observed = permuted_odds(trained, features, own, np.random.default_rng(0))
    whole = roc.auc(log_odds(trained, features), other.member)
    lost = {group: whole - roc.auc(odds, other.member) for group, odds in observed.items()}
    assert SIGNAL in own["comparison"]
    assert lost["comparison"] == pytest.approx(0.48, abs=0.15)
    assert abs(lost["target"]) < 0.05
    assert abs(lost["reference"]) < 0.05


def test_a_group_is_permuted_as_a_whole(trained):
    """All channels in one group: every text has another's score."""
    features = unpack(combination("other", 77).rows)
    whole = TokenFeatures(features.values, np.ones_like(features.mask))
    observed = permuted_odds(trained, whole, {"all": range(WIDTH)}, np.random.default_rng(4))["all"]
    permuted = log_odds(trained, whole)[np.random.default_rng(4).permutation(len(observed))]
    np.testing.assert_allclose(observed, permuted, atol=1e-4)


def test_where_target_is_reference_the_odds_are_even_exactly(trained):
    draw = torch.Generator().manual_seed(0)
    logits, ids = torch.randn(20, POSITIONS, 50, generator=draw), torch.randint(50, (20, POSITIONS), generator=draw)
    same = extract(logits, logits, ids, torch.ones(20, POSITIONS), k=K)
    assert (log_odds(trained, same) == 0).all()
    assert np.ptp(apply(trained, same.values, same.mask)) > 0, "the network alone gives texts different scores"
    nearly = extract(
        logits + 1e-3 * torch.randn(logits.shape, generator=draw), logits, ids, torch.ones(20, POSITIONS), k=K
    )
    assert (log_odds(trained, nearly) != 0).all()


def test_the_comparison_alone_is_uninformative_where_target_is_reference(trained):
    draw = torch.Generator().manual_seed(0)
    logits, ids = torch.randn(20, POSITIONS, 50, generator=draw), torch.randint(50, (20, POSITIONS), generator=draw)
    observed = extract(logits, logits, ids, torch.ones(20, POSITIONS), k=K)
    values = np.zeros_like(observed.values)
    comparison = groups(K)["comparison"]
    values[..., comparison] = observed.values[..., comparison]
    scores = apply(trained, values, observed.mask)
    assert np.ptp(scores) < 1e-5
    assert roc.auc(np.round(scores, 4), np.arange(20) < 10) == 0.5


def test_texts_without_a_token_to_predict_are_refused(trained):
    features = unpack(combination("other", 77).rows)
    features.mask[4] = False
    with pytest.raises(AuditError, match="text 4 has no token to predict"):
        apply(trained, features.values, features.mask)
    bad = combination("bad", 1)
    bad.rows["mask"][3] = False
    with pytest.raises(AuditError, match="bad has a text without a token"):
        train([bad], several(), roc.auc, 0, TINY, QUICK)


def test_other_shapes_and_single_classes_are_refused(trained):
    features = unpack(combination("other", 77).rows)
    with pytest.raises(AuditError, match=r"where a text should have \(8, 21\)"):
        apply(trained, features.values[..., 1:], features.mask)
    flat = Classifier(replace(TINY, kind="logistic"), POSITIONS, WIDTH)
    with pytest.raises(AuditError, match=r"where a text should have \(8, 21\)"):
        apply(flat, features.values[:, 1:], features.mask[:, 1:])
    one = combination("one", 1)
    with pytest.raises(AuditError, match="one has only members or only non-members"):
        train([replace(one, member=np.ones(160, bool))], several(), roc.auc, 0, TINY, QUICK)
    with pytest.raises(AuditError, match="0 to validate on"):
        train(several(), [], roc.auc, 0, TINY, QUICK)
    shorter = Combination("shorter", pack(TokenFeatures(features.values[:, 1:], features.mask[:, 1:])), one.member)
    with pytest.raises(AuditError, match="of 2 shapes"):
        train([one, shorter], several(), roc.auc, 0, TINY, QUICK)


def test_no_texts_have_no_scores(trained):
    assert apply(trained, np.zeros((0, POSITIONS, WIDTH), np.float32), np.zeros((0, POSITIONS), bool)).shape == (0,)
