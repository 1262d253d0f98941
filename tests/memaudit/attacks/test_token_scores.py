"""Scores without training: recorded numbers of the published codes, closed forms, and limiting values."""

import json
import math
import zlib
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import PROJECT

from memaudit.attacks import token_scores
from memaudit.attacks.token_scores import Tokens, all_scores, likelihoods, tokens
from memaudit.common.errors import AuditError
from memaudit.statistics import roc

pytestmark = pytest.mark.usefixtures("one_thread")
VECTOR = json.loads((PROJECT / "tests/vectors/lm_scores_small.json").read_text(encoding="utf-8"))


def recorded(name, masked=False):
    """The vector's one text, as a model gives it: its last position predicts nothing."""
    logits = torch.tensor([[*VECTOR[name], [0.0] * 9]])
    mask = torch.tensor([[1, *(VECTOR["mask"] if masked else [1] * 12)]])
    return tokens(logits, torch.tensor([VECTOR["input_ids"]]), mask)


def made(log_probability, right=None):
    """Tokens with given log-probabilities (text, T), all of them scored but the last."""
    values = np.array(log_probability, float)
    mask = np.ones(values.shape, bool)
    mask[:, -1] = False
    right = np.zeros(values.shape, bool) if right is None else np.array(right, bool)
    return Tokens(values, mask, standardised=values, right=right)


def drawn(texts=40, seed=0):
    draw = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(texts, 12, 30, generator=draw)
    other = logits + 0.5 * torch.randn(logits.shape, generator=draw)
    ids, mask = torch.randint(30, (texts, 12), generator=draw), torch.ones(texts, 12)
    return tokens(logits, ids, mask), tokens(other, ids, mask)


def test_tokens_are_the_published_ones():
    observed = recorded("logits_target")
    np.testing.assert_allclose(observed.log_probability[0, :12], VECTOR["token_logp_target"], rtol=1e-5)
    np.testing.assert_allclose(observed.standardised[0, :12], VECTOR["minkpp_token"], rtol=1e-5)
    other = recorded("logits_ref")
    np.testing.assert_allclose(other.log_probability[0, :12], VECTOR["token_logp_ref"], rtol=1e-5)
    np.testing.assert_array_equal(observed.mask[0], [True] * 12 + [False])


@pytest.mark.parametrize("share", [0.1, 0.2, 0.4, 1.0])
def test_min_k_is_the_published_one(share):
    target = recorded("logits_target")
    assert token_scores.min_k(target, share)[0] == pytest.approx(VECTOR[f"mink_{share}"], rel=1e-5)
    assert token_scores.min_k_plus_plus(target, share)[0] == pytest.approx(VECTOR[f"minkpp_{share}"], rel=1e-5)


def test_min_k_plus_plus_weighs_with_the_predicted_probabilities():
    """The unweighted variant of another benchmark is another attack."""
    observed = token_scores.min_k_plus_plus(recorded("logits_target"))[0]
    assert abs(observed - VECTOR["minkpp_unweighted_variant_0.2"]) > 4


def test_loss_and_zlib_are_the_published_ones():
    target = recorded("logits_target")
    assert -token_scores.loss(target)[0] == pytest.approx(VECTOR["loss_mean"], rel=1e-6)
    text = VECTOR["zlib"]["text"]
    assert len(zlib.compress(text.encode())) == VECTOR["zlib"]["len_zlib_bytes"]
    expected = VECTOR["zlib"]["carlini_ll_over_bytes"]
    assert token_scores.zlib_ratio(target, [text])[0] == pytest.approx(expected, rel=1e-6)


def test_ez_is_the_published_one():
    masked = [recorded(name, masked=True) for name in ("logits_target", "logits_ref")]
    assert token_scores.ez_published(*masked)[0] == pytest.approx(VECTOR["ez_mask_ignore_bos"], rel=1e-5)
    whole = [recorded(name) for name in ("logits_target", "logits_ref")]
    observed = token_scores.ez_published(*whole, drop_first=False)[0]
    assert observed == pytest.approx(VECTOR["ez_nomask_keep_bos"], rel=1e-5)
    assert token_scores.ez(*masked)[0] == pytest.approx(math.log(VECTOR["ez_mask_ignore_bos"]), rel=1e-5)


def test_corrected_ez_ranks_as_the_published_one_where_that_is_defined():
    target, reference = drawn()
    published, corrected = token_scores.ez_published(target, reference), token_scores.ez(target, reference)
    assert (published > 0).all()
    np.testing.assert_allclose(corrected, np.log(published), rtol=1e-9)


def test_a_clear_member_has_the_least_published_score_and_the_highest_corrected_one():
    """The first text rises everywhere; the second is predicted without an error; the third is ordinary."""
    target = made([[-1, -1, -1, -1, 0], [-0.1, -0.1, -0.1, -0.1, 0], [-2, -2, -3, -3, 0]], [[0] * 5, [1] * 5, [0] * 5])
    reference = made([[-3, -3, -3, -3, 0], [-2, -2, -2, -2, 0], [-3, -3, -2, -2.5, 0]])
    assert token_scores.ez_published(target, reference).tolist() == pytest.approx([0, 0, 1 / 1.5])
    corrected = token_scores.ez(target, reference)
    assert corrected[0] > corrected[1] > corrected[2]
    assert corrected[2] == pytest.approx(math.log(1 / 1.5))


def test_ez_drops_the_first_prediction_with_padding_on_the_left_too():
    target, reference = made([[-1, -2, -2, -2, 0]]), made([[-9, -3, -1.5, -2, 0]])
    assert token_scores.ez_published(target, reference)[0] == pytest.approx(1 / 0.5)
    left = np.array([[False, True, True, True, False]])
    moved = [replace(one, mask=left) for one in (target, reference)]
    assert token_scores.ez_published(*moved)[0] == 0, "one fall, no rise"
    assert token_scores.ez_published(*moved, drop_first=False)[0] == pytest.approx(1 / 0.5)


def test_a_share_of_less_than_one_token_takes_the_least_likely():
    short = made([[-1, -4, -2, 0], [-3, -1, -5, 0]])
    for share in (0.0, 0.1, 0.33):
        assert token_scores.min_k(short, share).tolist() == [-4, -5]
        assert token_scores.min_k_plus_plus(short, share).tolist() == [-4, -5]
    assert token_scores.min_k(short, 0.67).tolist() == [-3, -4]


def test_min_k_counts_the_tokens_of_each_text():
    some = made([[-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, 0]] * 2)
    some.mask[1, 5:] = False
    assert token_scores.min_k(some, 0.4).tolist() == [-8.5, -4.5]


def test_an_even_prediction_has_a_standardised_value_of_zero():
    """Its deviation is 0; a certain one is not far from it either."""
    logits = torch.zeros(1, 3, 50_257)
    logits[0, 1, 7] = 40
    observed = tokens(logits, torch.tensor([[1, 7, 7]]), torch.ones(1, 3))
    assert observed.standardised[0, 0] == 0
    assert abs(observed.standardised[0, 1]) < 1e-3


def test_reference_loss_and_ez_of_equal_models_are_constant():
    target = drawn()[0]
    member = np.arange(40) < 20
    for score in (token_scores.reference_loss, token_scores.ez_published, token_scores.ez):
        scores = score(target, target)
        assert (scores == 0).all()
        assert roc.auc(scores, member) == 0.5


def test_members_whose_tokens_all_rise_have_high_scores_except_for_the_published_ez():
    ids = torch.randint(30, (40, 12), generator=torch.Generator().manual_seed(5))
    logits = 2 * torch.randn(40, 12, 30, generator=torch.Generator().manual_seed(6))
    tuned = logits + 0.3 * torch.randn(logits.shape, generator=torch.Generator().manual_seed(7))
    member = np.arange(40) < 20
    tuned[:20, :-1].scatter_add_(-1, ids[:20, 1:, None], torch.full((20, 11, 1), 2.0))
    target, reference = (tokens(one, ids, torch.ones(40, 12)) for one in (tuned, logits))
    scores = all_scores(target, reference, ["the same text"] * 40)
    assert list(scores) == ["loss", "min_k", "min_k_plus_plus", "zlib", "ref_loss", "ez_published", "ez"]
    assert roc.auc(scores.pop("ez_published"), member) == 0, "no fall, so no score"
    for name, score in scores.items():
        assert roc.auc(score, member) > 0.8, name


def test_a_prefix_that_is_masked_out_leaves_the_tokens_of_the_text():
    draw = torch.Generator().manual_seed(3)
    logits, ids = torch.randn(2, 9, 30, generator=draw), torch.randint(30, (2, 9), generator=draw)
    alone = tokens(logits[:, 4:], ids[:, 4:], torch.ones(2, 5))
    mask = torch.ones(2, 9)
    mask[:, :4] = 0
    after = tokens(logits, ids, mask)
    np.testing.assert_allclose(token_scores.loss(after), token_scores.loss(alone), rtol=1e-6)


def test_log_probabilities_of_half_precision_logits_are_computed_in_single_precision():
    logits = (4 * torch.randn(2, 6, 400, generator=torch.Generator().manual_seed(0))).bfloat16()
    ids, mask = torch.arange(12).view(2, 6), torch.ones(2, 6)
    half, single = tokens(logits, ids, mask), tokens(logits.float(), ids, mask)
    np.testing.assert_array_equal(half.log_probability, single.log_probability)
    exact = logits.double().log_softmax(-1)[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]
    np.testing.assert_allclose(half.log_probability[:, :-1], exact, rtol=1e-5)


def test_tokens_do_not_depend_on_the_memory_given():
    """With none every position is a chunk of its own."""
    draw = torch.Generator().manual_seed(0)
    logits, ids = torch.randn(3, 6, 400, generator=draw), torch.randint(400, (3, 6), generator=draw)
    whole, single = (tokens(logits, ids, torch.ones(3, 6), memory=memory) for memory in (64, 0))
    for name in ("log_probability", "standardised", "right", "mask"):
        np.testing.assert_allclose(getattr(single, name), getattr(whole, name), rtol=1e-5)


def test_likelihoods_of_a_reference_are_those_of_its_tokens():
    draw = torch.Generator().manual_seed(2)
    logits, ids = torch.randn(3, 9, 50, generator=draw), torch.randint(50, (3, 9), generator=draw)
    mask = torch.arange(9) < torch.tensor([[9], [5], [2]])
    whole, alone = tokens(logits, ids, mask), likelihoods(logits, ids, mask)
    np.testing.assert_array_equal(alone.log_probability, whole.log_probability)
    np.testing.assert_array_equal(alone.mask, whole.mask)


def test_a_label_that_ties_for_the_largest_logit_is_no_error():
    logits = torch.tensor([[[1.0, 1.0, 0.0], [1.0, 1.0, 2.0], [0.0, 0.0, 0.0]]])
    assert tokens(logits, torch.tensor([[0, 1, 1]]), torch.ones(1, 3)).right.tolist() == [[True, False, False]]


@pytest.mark.parametrize("mask", [[[1, 1, 1], [0, 0, 0]], [[1, 1, 1], [1, 0, 0]], [[1, 1, 1], [1, 0, 1]]])
def test_a_text_without_a_token_to_predict_is_named(mask):
    with pytest.raises(AuditError, match="text 1 has no token to predict"):
        tokens(torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.long), torch.tensor(mask))


def test_logits_that_are_not_numbers_are_named_but_not_those_of_padding():
    logits, ids = torch.zeros(2, 4, 5), torch.zeros(2, 4, dtype=torch.long)
    logits[0, 2:] = torch.nan
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])
    assert np.isfinite(token_scores.loss(tokens(logits, ids, mask))).all()
    with pytest.raises(AuditError, match="reference model's logits of text 0 at position 2 are not all finite"):
        tokens(logits, ids, torch.ones(2, 4), whose="reference")
