"""Language models of every family: built, opened, written, their texts, and refusals in one line."""

import numpy as np
import pytest
import torch
from small_language_models import FAMILIES, model, same
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from memaudit.common.errors import AuditError
from memaudit.models.language_models import (
    END,
    FILES,
    build,
    check_length,
    encode,
    folder_of,
    in_main_memory,
    logits,
    losses,
    mean_loss,
    open_model,
    open_tokenizer,
    token_starts,
    write_model,
)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_built_small_and_ignores_padding_and_the_future(family, tmp_path):
    entry = FAMILIES[family]
    found = build(entry, 2048, 64, 1)
    assert 4e5 < found.num_parameters() < 1.05e6
    ids = torch.randint(1, 2048, (2, 40), generator=torch.Generator().manual_seed(0))
    padded = torch.cat([ids[:1, :20], torch.zeros(1, 20, dtype=torch.long)], 1)
    with torch.inference_mode():
        whole, alone, beside = (logits(found, part) for part in (ids, ids[:1, :20], padded))
        assert torch.equal(logits(found.train(), ids), whole), "dropout"
    torch.testing.assert_close(beside[:, :20], alone, rtol=0, atol=1e-4)
    torch.testing.assert_close(whole[:1, :20], alone, rtol=0, atol=1e-4)
    assert whole.shape == (2, 40, 2048)
    assert (whole[0] - whole[1]).abs().max() > 0.01
    found.save_pretrained(tmp_path)
    assert same(open_model(tmp_path), found)
    assert same(build(entry, 2048, 64, 1), found)
    assert not same(build(entry, 2048, 64, 2), found)


def test_the_table_has_transformers_and_models_without_softmax_attention():
    types = {entry["model_type"] for entry in FAMILIES.values()}
    other = {entry["model_type"] for entry in FAMILIES.values() if "family" in entry}
    assert other == {"mamba2", "rwkv", "recurrent_gemma", "xlstm"}
    assert len(types - other) >= 15


@pytest.mark.parametrize(
    "entry", [{"model_type": "gpt9", "config": {}}, {"model_type": "gpt2", "config": {"n_embd": 30, "n_head": 4}}]
)
def test_a_model_that_transformers_does_not_build_is_refused_in_one_line(entry):
    with pytest.raises(AuditError, match=f"language model of type {entry['model_type']}: .*correct its entry"):
        build(entry, 300, 64, 0)


def test_the_tokenizer_takes_every_text_and_gives_it_back(tokenizer):
    text = "Größe/米\n  a\tb is -0.5e-07. 🍷 w1 w2 <|end|"
    ids = tokenizer(text)["input_ids"]
    assert tokenizer.decode(ids) == text
    assert 0 not in ids
    assert (len(tokenizer), tokenizer.pad_token, tokenizer.convert_tokens_to_ids(END)) == (300, END, 0)
    starts = token_starts(tokenizer, text)
    assert "".join(text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)) == text
    assert len(starts) <= len(ids)


def test_texts_are_padded_and_cut_at_their_end(tokenizer):
    short, long = "w1 w2", " ".join(["w3"] * 50)
    ids, mask = encode(tokenizer, [short, long], 8)
    own = tokenizer(short)["input_ids"]
    assert ids[0].tolist() == own + [0] * (8 - len(own))
    assert mask.sum(1).tolist() == [len(own), 8]
    assert ids[1].tolist() == tokenizer(long)["input_ids"][:8]
    assert encode(tokenizer, [], 8)[0].shape == (0, 8)


def test_no_padding_token_is_needed(tokenizer):
    bare = PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer)
    assert bare.pad_token is None
    for found, wanted in zip(encode(bare, ["w1 w2", "w3"], 8), encode(tokenizer, ["w1 w2", "w3"], 8), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1)])
def test_a_text_in_which_nothing_is_predicted_is_named(tokenizer, text, tokens):
    with pytest.raises(AuditError, match=f"text 2 has {tokens} tokens, at least two are needed"):
        encode(tokenizer, ["w1 w2", text], 8)


def test_the_loss_is_the_mean_over_predicted_tokens(tokenizer):
    ids, mask = (torch.from_numpy(part) for part in encode(tokenizer, ["w1 w2 w3", "w4 w5"], 9))
    found = losses(model(), ids, mask)
    for row, length in enumerate(mask.sum(1).tolist()):
        logs = model()(input_ids=ids[row : row + 1, :length]).logits[0].log_softmax(-1)
        wanted = -sum(logs[at, ids[row, at + 1]] for at in range(length - 1)) / (length - 1)
        assert found[row].item() == pytest.approx(wanted.item(), rel=1e-5)
    assert mean_loss(model(), ids.numpy(), mask.numpy(), batch=1) == pytest.approx(found.mean().item(), rel=1e-6)


def test_a_longer_text_than_the_model_takes_is_refused():
    check_length(model(), 64, "here")
    with pytest.raises(AuditError, match="here: takes 64 tokens, not 65"):
        check_length(model(), 65, "here")
    check_length(build(FAMILIES["mamba2"], 300, 64, 0), 1000, "a recurrent model has no limit")


def test_a_written_model_opens_as_every_language_model_does(tokenizer, tmp_path):
    paths = [tmp_path / "own" / name for name in FILES]
    write_model(model(), tokenizer, paths)
    assert sorted(path.name for path in (tmp_path / "own").iterdir()) == sorted(FILES)
    assert same(AutoModelForCausalLM.from_pretrained(tmp_path / "own"), model())
    assert open_tokenizer(tmp_path / "own")("w1 w2")["input_ids"] == tokenizer("w1 w2")["input_ids"]
    assert folder_of(paths[0]) == folder_of(tmp_path / "own") == tmp_path / "own"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"), "no pickle is read"),
        (lambda folder: (folder / "adapter_config.json").write_text("{}"), "an adapter, not a model"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"1234"), "no causal language model"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "vit"}'), "no causal language model"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "there is no tokenizer.json"),
    ],
)
def test_a_folder_that_is_no_model_is_refused_in_one_line(tokenizer, tmp_path, damage, said):
    write_model(model(), tokenizer, [tmp_path / name for name in FILES])
    damage(tmp_path)
    opened = open_tokenizer if "tokenizer" in said else open_model
    with pytest.raises(AuditError, match=said) as error:
        opened(tmp_path)
    assert "\n" not in str(error.value)


def test_a_model_is_off_its_gpu_while_another_is_trained_and_comes_back_after_an_error_too():
    class Moved:
        device, places = "cuda", ()

        def to(self, place):
            self.places += (place,)

    models = [Moved(), Moved()]
    off = in_main_memory(*models)
    off.__enter__()
    assert [one.places for one in models] == [("cpu",)] * 2
    off.__exit__(AuditError, AuditError("the other is not trained"), None)
    assert [one.places for one in models] == [("cpu", "cuda")] * 2
