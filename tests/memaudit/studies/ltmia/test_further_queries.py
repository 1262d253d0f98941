"""Further passes of texts: likelihoods by definition, prefixes and pieces, neighbours, generated texts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from ltmia_pipeline import BASELINES, LENGTH, documents

from memaudit.models.language_models import encode, logits, losses, open_model, open_tokenizer
from memaudit.models.language_training import Settings
from memaudit.statistics.roc import auc
from memaudit.studies.ltmia import further_queries as further
from memaudit.studies.ltmia.model_pair_queries import open_pair

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def texts(made, pair):
    """Tokens and mask of the pair's texts; the last is shorter than the others."""
    ids, mask = encode(open_tokenizer(made / "base"), [*pair[1][:-1], pair[1][-1][:20]], LENGTH)
    return ids, mask


@pytest.fixture(scope="module")
def both(made, pair):
    return open_pair(pair[0], made / "base", LENGTH)


def knowledge(made, names=BASELINES, **changes):
    tokenizer = open_tokenizer(made / "base")
    known, others, public = (
        encode(tokenizer, part, LENGTH)
        for part in (documents("letters", 2), documents("signs", 2), documents("digits", 9))
    )
    return replace(further.Knowledge.of(names, known, others, public, len(tokenizer)), **changes)


def scored_of(mask):
    return mask & (np.arange(mask.shape[1]) > 0)


def test_likelihoods_of_tokens_are_those_of_the_losses(both, texts):
    ids, mask = texts
    each = further.token_likelihoods(both.target, ids)
    assert (each[:, 0] == 0).all()
    with torch.inference_mode():
        expected = losses(both.target, *map(torch.from_numpy, texts))
    np.testing.assert_allclose(further.mean(each, scored_of(mask)), -expected.numpy(), rtol=1e-4)


def test_a_text_is_read_after_a_prefix_in_as_many_pieces_as_fit(both, texts):
    """With a prefix of 16 of 24 tokens a text is read in three pieces, each right after the prefix."""
    ids, mask = texts
    prefix, scored, pieces = ids[3, :16], scored_of(mask), []
    for start in (0, 8, 16):
        joined = np.concatenate([np.tile(prefix, (len(ids), 1)), ids[:, start : start + 8]], 1)
        with torch.inference_mode():
            chances = logits(both.target, torch.from_numpy(joined))[:, 15:-1].log_softmax(-1).numpy()
        pieces.append(np.take_along_axis(chances, ids[:, start : start + 8, None], 2)[..., 0])
    expected = (np.concatenate(pieces, 1) * scored).sum(1) / scored.sum(1)
    np.testing.assert_allclose(further.after_prefix(both.target, prefix, ids, scored), expected, rtol=1e-4)


def test_neighbours_differ_in_a_share_of_the_scored_tokens(both, texts):
    ids, mask = texts
    scored = scored_of(mask)
    for share in (0.001, 0.3):
        versions = further.neighbours(both.reference, ids, scored, 3, share, 1)
        assert len(versions) == 3
        for version in versions:
            changed = version != ids
            np.testing.assert_array_equal(changed.sum(1), np.maximum(1, np.round(share * scored.sum(1))))
            assert not (changed & ~scored).any()
        assert (versions[0] != versions[1]).any()
    again = further.neighbours(both.reference, ids, scored, 3, share, 1)
    np.testing.assert_array_equal(again[2], versions[2])


def test_neighbours_are_drawn_from_the_predictions_of_the_base(made, both, texts):
    """Drawn tokens are more likely to the base than tokens drawn evenly."""
    ids, mask = (part[:40] for part in texts)
    scored = scored_of(mask)
    near = further.neighbours(both.reference, ids, scored, 1, 1.0, 2)[0]
    even = np.where(scored, np.random.default_rng(0).integers(400, size=ids.shape), ids)
    chances = [further.mean(further.token_likelihoods(both.reference, one), scored).mean() for one in (near, even)]
    assert chances[0] > chances[1]


def test_generated_texts_start_with_their_prompts_and_are_reproducible(both, texts):
    prompts = texts[0][:5, :6]
    made = further.generated(both.target, prompts, LENGTH, 3)
    assert made.shape == (5, LENGTH)
    np.testing.assert_array_equal(made[:, :6], prompts)
    np.testing.assert_array_equal(made, further.generated(both.target, prompts, LENGTH, 3))
    assert (made != further.generated(both.target, prompts, LENGTH, 4)).any()


def test_further_scores_detect_members_of_a_strongly_tuned_target_and_nothing_of_the_base(
    made, pair, both, texts, tmp_path
):
    ids, mask = texts
    settings = Settings(epochs=2, batch=8, learning_rate=1e-2)
    prompts = encode(open_tokenizer(made / "base"), documents("letters", 80)[60:], LENGTH)[0][:, :6]
    own = further.self_reference(both, made / "base", prompts, LENGTH, settings, 1, tmp_path / "state")
    known = knowledge(made, neighbours=20, self_reference=own)
    each = further.token_likelihoods(both.target, ids)
    scores = further.further_scores(further.FURTHER, both, ids, mask, each, known, 1)
    assert scores.shape == (len(ids), len(further.FURTHER))
    assert np.isfinite(scores).all()
    found = dict(zip(further.FURTHER, (auc(one, pair[2]) for one in scores.T), strict=True))
    assert min(found["neighbourhood"], found["spv"], found["self_loss"], found["con_recall"]) > 0.6, found
    few = further.further_scores(("recall", "dc_pdd"), both, ids, mask, each, known, 1)
    np.testing.assert_allclose(few, scores[:, [1, 0]], rtol=1e-6)
    base = open_model(made / "base")
    alike = further.further_scores(
        ("spv", "self_loss"), type(both)(base, base), ids, mask, each + 1e-6, replace(known, self_reference=base), 1
    )
    assert (alike == 0).all()


def test_known_texts_are_the_first_of_the_selection_pool_and_take_no_part_in_it():
    ids, mask = np.arange(14).reshape(7, 2), np.ones((7, 2), bool)
    inside, outside, rest = further.split_known((ids, mask), 4)
    assert [part[0][:, 0].tolist() for part in (inside, outside, rest)] == [[0, 2], [4, 6], [8, 10, 12]]
    assert rest[1].shape == (3, 2)


def test_a_prefix_has_as_many_tokens_of_each_known_text(made):
    known = knowledge(made, BASELINES | {"prefix": 8})
    tokenizer = open_tokenizer(made / "base")
    ids, _ = encode(tokenizer, documents("letters", 2), LENGTH)
    assert known.member.tolist() == [*ids[0, :4], *ids[1, :4]]
