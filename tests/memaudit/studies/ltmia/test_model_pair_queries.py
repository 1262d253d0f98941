"""Queries of a model pair: batches, vocabularies, tokenizers and precision."""

import shutil
import zlib

import numpy as np
import pytest
import torch
from ltmia_pipeline import (
    LENGTH,
    documents,
)

from memaudit.common.errors import AuditError
from memaudit.models.language_models import (
    FILES,
    build,
    encode,
    open_model,
    open_tokenizer,
    train_tokenizer,
    write_tokenizer,
)
from memaudit.studies.ltmia.further_queries import token_likelihoods
from memaudit.studies.ltmia.model_pair_queries import BASELINES, encode_for, open_pair, query_pair, scored_texts

pytestmark = pytest.mark.usefixtures("one_thread")


def test_features_and_scores_are_those_of_the_pair(made, pair):
    """Two texts alone have the features and scores that they have among all texts."""
    folder, texts, _ = pair
    few = [texts[7], texts[50]]
    observed = query_pair(
        open_pair(folder, made / "base", LENGTH), *encode_for(folder, made / "base", few, LENGTH), few
    )
    other = query_pair(
        open_pair(folder, made / "base", LENGTH), *encode_for(folder, made / "base", texts, LENGTH), texts
    )
    np.testing.assert_array_equal(observed["row"]["mask"], other["row"]["mask"][[7, 50]])
    np.testing.assert_allclose(observed["scores"], other["scores"][[7, 50]], rtol=1e-4, atol=1e-5)


def test_likelihoods_of_the_targets_tokens_are_those_of_a_pass_of_its_own(made, pair):
    folder, texts, _ = pair
    both, (ids, mask) = open_pair(folder, made / "base", LENGTH), encode_for(folder, made / "base", texts[:5], LENGTH)
    expected = token_likelihoods(both.target, ids) * mask
    observed = query_pair(both, ids, mask, texts[:5])["likelihoods"]
    np.testing.assert_allclose(observed, expected, rtol=1e-4, atol=1e-5)


TEXTS = ["l12 l7 l99", "l1 l2 l3 l4 l5 l6 l7"]


def copied(pair, tmp_path, change):
    """The target, changed: its folder."""
    folder = tmp_path / "changed"
    shutil.copytree(pair[0], folder)
    change(folder)
    return folder


def resize(folder):
    model = open_model(folder)
    torch.manual_seed(0)
    model.resize_token_embeddings(417)
    model.save_pretrained(folder)


def test_a_resized_vocabulary_is_cut_to_the_common_tokens(made, pair, tmp_path):
    larger = copied(pair, tmp_path, resize)
    encoded = encode_for(larger, made / "base", TEXTS, LENGTH)
    plain, resized = (
        query_pair(open_pair(target, made / "base", LENGTH), *encoded, TEXTS) for target in (pair[0], larger)
    )
    np.testing.assert_allclose(resized["scores"], plain["scores"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        resized["row"]["values"].astype(float), plain["row"]["values"].astype(float), rtol=2e-3, atol=1e-3
    )


def test_tokenizers_that_differ_are_refused_and_a_missing_one_is_that_of_the_base(made, pair, tmp_path):
    other = train_tokenizer(documents("digits"), 400)
    folder = copied(pair, tmp_path, lambda folder: write_tokenizer(other, [folder / name for name in FILES[2:]]))
    with pytest.raises(AuditError, match=r"its tokenizer and that of .* tokenize text 1 differently"):
        encode_for(folder, made / "base", TEXTS, LENGTH)
    for name in FILES[2:]:
        (folder / name).unlink()
    expected = encode(open_tokenizer(made / "base"), TEXTS, LENGTH)
    assert all(map(np.array_equal, encode_for(folder, made / "base", TEXTS, LENGTH), expected))


def test_models_that_are_no_pair_are_refused(made, pair, tmp_path):
    other = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    build({"model_type": "gpt_neox", "config": other}, 400, LENGTH, 1).save_pretrained(tmp_path)
    with pytest.raises(
        AuditError, match=r"is a gpt_neox, .* a gpt2; give the model that the target was fine-tuned from"
    ):
        open_pair(tmp_path, made / "base", LENGTH)
    with pytest.raises(AuditError, match=f"takes {LENGTH} tokens, not {LENGTH + 1}"):
        open_pair(pair[0], made / "base", LENGTH + 1)


def test_logits_that_half_precision_breaks_are_named_with_their_texts(made, pair):
    both = open_pair(pair[0], made / "base", LENGTH, dtype=torch.bfloat16)
    encoded = encode_for(pair[0], made / "base", TEXTS, LENGTH)
    assert np.isfinite(query_pair(both, *encoded, TEXTS)["scores"]).all()
    both.target.transformer.ln_f.weight.data *= 3e38
    with pytest.raises(
        AuditError, match=r"of texts 1 to 2: .* the target model's logits .* not all finite \(bfloat16\)"
    ):
        query_pair(both, *encoded, TEXTS)


def test_zlib_compresses_the_part_of_a_text_that_is_read(made, pair):
    """A text that goes on after the last token that fits has the scores of the text that ends there."""
    long = documents("letters", 1, 60)[0]
    tokenizer = open_tokenizer(made / "base")
    read = scored_texts(tokenizer, *encode(tokenizer, [long, TEXTS[0]], LENGTH))
    assert long.startswith(read[0])
    assert 0 < len(read[0]) < len(long)
    assert read[1] == TEXTS[0]
    assert len(encode(tokenizer, [read[0]], 2 * LENGTH)[1][0].nonzero()[0]) == LENGTH
    both = open_pair(pair[0], made / "base", LENGTH)
    ids, mask = encode(tokenizer, [long], LENGTH)
    scores = query_pair(both, ids, mask, read[:1])["scores"][0]
    assert scores[BASELINES.index("zlib")] == scores[BASELINES.index("loss")] / len(zlib.compress(read[0].encode()))


def test_scores_of_a_text_do_not_depend_on_the_batch(made, pair):
    both = open_pair(pair[0], made / "base", LENGTH)
    texts = [*TEXTS, *documents("letters", 4, 12)]
    encoded = encode_for(pair[0], made / "base", texts, LENGTH)
    whole = query_pair(both, *encoded, texts)
    single = query_pair(both, *encoded, texts, memory=0)  # one text at a time
    np.testing.assert_allclose(whole["scores"], single["scores"], rtol=1e-4, atol=1e-5)
    assert (whole["row"]["mask"] == single["row"]["mask"]).all()
