"""Language models that read tables as text: every question is answered as if alone."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from small_text_settings import ROWS, SCHEMA
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    JambaConfig,
    JambaForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from memaudit.common.errors import AuditError
from memaudit.models import text_table_models
from memaudit.models.table_serialisation import Serialiser
from memaudit.models.text_table_models import TextBranch

CARD = {"name": "tiny", "family": "text", "task": "classification", "mode": "raw", "version": None, "options": {}}
Y = torch.tensor([0, 1, 2, 1, 0, 2])
SIZES = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
SIZES |= {"num_key_value_heads": 2, "max_position_embeddings": 512, "initializer_range": 0.3}


def tokenizer(whole=False, start=False):
    """A BPE tokenizer. whole: merges reach over words and lines. start: a text opens with <s>."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not whole)
    bpe.decoder = decoders.ByteLevel()
    special = trainers.BpeTrainer(
        vocab_size=320, special_tokens=["<s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    serialiser = Serialiser.of(SCHEMA, "template")
    bpe.train_from_iterator(["".join(serialiser.examples(ROWS.numpy(), Y.numpy()))] * 3, special)
    if start:
        bpe.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token="<s>")


def network(kind, window=40):
    torch.manual_seed(0)
    if kind == "gpt2":
        sizes = {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 512, "initializer_range": 0.3}
        return GPT2LMHeadModel(GPT2Config(vocab_size=320, **sizes))
    if kind == "mistral":
        return MistralForCausalLM(MistralConfig(vocab_size=320, sliding_window=window, **SIZES))
    return LlamaForCausalLM(LlamaConfig(vocab_size=320, **SIZES))


def opened(folder, module, cutter, schema=SCHEMA, **options):
    module.save_pretrained(folder)
    cutter.save_pretrained(folder)
    return TextBranch.load(folder, CARD | {"options": options}, "cpu", schema)


@pytest.fixture(params=["gpt2", "llama", "mistral"])
def branch(request, tmp_path):
    """A random model of each kind; Mistral's window is shorter than its prompt."""
    return opened(tmp_path, network(request.param), tokenizer(start=request.param == "llama"))


@pytest.fixture
def gpt2(tmp_path):
    return opened(tmp_path, network("gpt2"), tokenizer())


def asked(branch, context=slice(0, 4), queries=slice(4, 6), method="logits"):
    return getattr(branch, method)(ROWS[None, context], Y[None, context], ROWS[None, queries])[0]


def prompt(form="template", context=slice(0, 4), query=4, schema=SCHEMA):
    serialiser = Serialiser.of(schema, form)
    before = "".join(serialiser.examples(ROWS[context].numpy(), Y[context].numpy()))
    return serialiser.instruction() + before + serialiser.questions(ROWS[query][None].numpy())[0]


def plainly(branch, whole, **wanted):
    """The model's output for a text, read in one forward pass, and its tokens."""
    tokens = torch.tensor([branch.prompter.tokenizer(whole)["input_ids"]])
    return branch.module(input_ids=tokens, use_cache=False, **wanted), tokens


def log_probability(branch, whole, after):
    """Of all tokens of a text from place `after` on, in one plain forward pass."""
    said, tokens = plainly(branch, whole)
    each = said.logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:, None])[0, :, 0]
    return each[after - 1 :].sum()


@pytest.mark.parametrize("form", ["template", "list"])
def test_answers_are_those_of_a_plain_forward_pass(branch, form):
    branch.prompter.serialiser = Serialiser.of(SCHEMA, form)
    scores = asked(branch)
    for row, query in enumerate((4, 5)):
        question = prompt(form, query=query)
        after = plainly(branch, question)[1].shape[1]
        expected = [log_probability(branch, f"{question} {name}\n", after) for name in ("no", "not sure", "yes")]
        torch.testing.assert_close(scores[row], torch.stack(expected), atol=1e-4, rtol=0)


def test_what_the_tokenizer_merges_at_a_seam_is_read_as_merged(tmp_path):
    branch = opened(tmp_path, network("gpt2"), tokenizer(whole=True))
    question, names = prompt(), ("no", "not sure", "yes")
    cut = [
        branch.prompter.tokenizer(part)["input_ids"] for part in (question, *(f"{question} {name}\n" for name in names))
    ]
    assert any(tokens[: len(cut[0])] != cut[0] for tokens in cut), "nothing is merged at the seam: the test is void"
    whole = torch.stack([log_probability(branch, f"{question} {name}\n", 1) for name in names])
    scores = asked(branch)[0]
    torch.testing.assert_close(scores.diff(), whole.diff(), atol=1e-4, rtol=0)


def test_a_neighbour_does_not_change_my_prediction(branch, monkeypatch):
    together = asked(branch, queries=slice(0, 6))
    lengths = {len(branch.prompter.tokenizer(prompt(query=query))["input_ids"]) for query in range(6)}
    assert len(lengths) > 3
    alone = torch.cat([asked(branch, queries=slice(query, query + 1)) for query in range(6)])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
    monkeypatch.setattr(text_table_models, "TOKENS", 1)
    torch.testing.assert_close(together, asked(branch, queries=slice(0, 6)), atol=1e-5, rtol=0)


def test_queries_of_equal_length_share_a_forward_pass(gpt2):
    same, passes = ROWS[4].repeat(8, 1), []
    gpt2.module.register_forward_hook(lambda *_: passes.append(1))
    scores = gpt2.logits(ROWS[None, :4], Y[None, :4], same[None])[0]
    assert len(passes) == 3  # the context, the questions, the answers
    torch.testing.assert_close(scores, scores[:1].expand_as(scores), atol=1e-5, rtol=0)


def test_contexts_are_answered_one_by_one(gpt2):
    x, y = torch.stack([ROWS[:3], ROWS[2:5]]), torch.stack([Y[:3], Y[2:5]])
    both = gpt2.logits(x, y, ROWS[None, 5:].expand(2, -1, -1))
    second = gpt2.logits(x[1:], y[1:], ROWS[None, 5:])
    torch.testing.assert_close(both[1:], second, atol=1e-5, rtol=0)
    assert not torch.allclose(both[0], both[1])


def test_the_order_of_the_classes_does_not_matter(tmp_path):
    branch = opened(tmp_path, network("llama"), tokenizer())
    scores = asked(branch)
    order = torch.tensor([2, 0, 1])
    names = [SCHEMA["target"]["categories"][code] for code in order]
    turned = opened(
        tmp_path, network("llama"), tokenizer(), SCHEMA | {"target": SCHEMA["target"] | {"categories": names}}
    )
    codes = order.argsort()[Y]
    again = turned.logits(ROWS[None, :4], codes[None, :4], ROWS[None, 4:])[0]
    torch.testing.assert_close(again, scores[:, order], atol=1e-5, rtol=0)


def test_a_name_that_begins_another_is_not_favoured_for_it(tmp_path):
    """Answers end with their line: they exclude each other, and the longer one may win."""
    names = ["no", "no no", "no no no"]
    schema = SCHEMA | {"target": SCHEMA["target"] | {"categories": names}}
    branch = opened(tmp_path, network("gpt2"), tokenizer(), schema)
    scores = asked(branch)
    assert scores.exp().sum(1).max() < 1
    question = prompt(schema=schema)
    after = len(branch.prompter.tokenizer(question)["input_ids"])
    expected = torch.stack([log_probability(branch, f"{question} {name}\n", after) for name in names])
    torch.testing.assert_close(scores[0], expected, atol=1e-4, rtol=0)
    unended = [log_probability(branch, f"{question} {name}", after) for name in names]
    assert all(short > long for short, long in pairwise(unended)), "without the end the shortest always wins"


def test_normalised_scores_are_means_over_tokens(tmp_path):
    sums = asked(opened(tmp_path, network("gpt2"), tokenizer()))
    branch = opened(tmp_path, network("gpt2"), tokenizer(), normalise=True)
    lengths = [len(branch.prompter.tokenizer(f" {name}\n")["input_ids"]) for name in SCHEMA["target"]["categories"]]
    assert len(set(lengths)) > 1
    torch.testing.assert_close(asked(branch), sums / torch.tensor(lengths), atol=1e-5, rtol=0)


def test_a_class_that_the_context_lacks_is_impossible(branch):
    scores = asked(branch, context=slice(0, 2))
    assert torch.isneginf(scores[:, 2]).all()
    assert scores[:, :2].isfinite().all()


def test_a_mark_of_the_tokenizer_in_the_data_is_only_text(tmp_path):
    column = {"name": "a", "type": "categorical", "categories": ["<s>"]}
    branch = opened(tmp_path, network("llama"), tokenizer(start=True), SCHEMA | {"columns": [column]})
    tokens = branch.prompter.context(np.zeros((2, 1), np.float32), Y[:2].numpy()).tokens
    assert tokens.count(0) == 1
    assert tokens[0] == 0


def test_a_record_in_its_own_context_is_answered_otherwise(gpt2):
    inside, outside = asked(gpt2, slice(0, 4), slice(0, 1)), asked(gpt2, slice(1, 4), slice(0, 1))
    assert not torch.allclose(inside[:, 1:], outside[:, 1:])


@pytest.mark.parametrize("options", [{}, {"max_tokens": 60}])
def test_a_prompt_that_is_too_long_is_refused_and_not_cut(tmp_path, options):
    branch = opened(tmp_path, network("gpt2"), tokenizer(), **options)
    most = options.get("max_tokens", 512)
    rows = torch.arange(60) % 6 if most == 512 else torch.arange(4)
    with pytest.raises(AuditError, match=rf"a prompt has \d+ tokens, .* at most {most}; take fewer context rows"):
        branch.logits(ROWS[rows][None], Y[rows][None], ROWS[None, 4:])


# The network


def test_gradients_are_those_of_a_plain_forward_pass(gpt2):
    weights = [gpt2.module.transformer.wpe.weight, gpt2.module.transformer.h[0].mlp.c_fc.weight]
    scores = asked(gpt2, queries=slice(4, 5), method="forward")[0]
    ours = torch.autograd.grad(scores[0] - scores[1], weights)
    question = prompt()
    whole = log_probability(gpt2, f"{question} no\n", 1) - log_probability(gpt2, f"{question} not sure\n", 1)
    for mine, theirs in zip(ours, torch.autograd.grad(whole, weights), strict=True):
        assert mine.abs().max() > 0
        torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=1e-3)


def test_a_step_down_the_loss_lowers_it(gpt2):
    context, query = (ROWS[None, :4], Y[None, :4], ROWS[None, 4:]), Y[None, 4:]
    optimizer = torch.optim.SGD(gpt2.module.parameters(), 1e-3)
    loss = gpt2.loss(gpt2.forward(*context), Y[None, :4], query)
    assert loss.shape == (1, 2)
    torch.testing.assert_close(loss, -gpt2.logits(*context).log_softmax(-1).gather(-1, query[..., None])[..., 0])
    loss.mean().backward()
    optimizer.step()
    assert gpt2.loss(gpt2.logits(*context), Y[None, :4], query).mean() < loss.mean()


def test_nothing_is_dropped_at_random(gpt2):
    assert not gpt2.module.training
    assert {layer.p for layer in gpt2.module.modules() if isinstance(layer, torch.nn.Dropout)} == {0.0}


def test_attention_is_that_of_the_last_token_on_each_row(branch):
    attention = asked(branch, method="attention")
    assert branch.module.config._attn_implementation == "sdpa"
    torch.testing.assert_close(attention.sum(1), torch.ones(2))
    branch.module.set_attn_implementation("eager")
    said, _ = plainly(branch, prompt(), output_attentions=True)
    weights = said.attentions[-1][0, :, -1].mean(0)
    # Words are cut apart here: tokens of the text up to a row's end are the tokens of that beginning.
    serialiser = Serialiser.of(SCHEMA, "template")
    parts = [serialiser.instruction(), *serialiser.examples(ROWS[:4].numpy(), Y[:4].numpy())]
    ends = [len(branch.prompter.tokenizer("".join(parts[: i + 1]))["input_ids"]) for i in range(5)]
    sums = torch.stack([weights[begin:end].sum() for begin, end in pairwise(ends)])
    torch.testing.assert_close(attention[0], sums / sums.sum(), atol=1e-4, rtol=0)


def test_attention_of_a_window_that_ends_before_the_context_is_refused(tmp_path):
    branch = opened(tmp_path, network("mistral", window=8), tokenizer())
    with pytest.raises(AuditError, match="window ends before the context"):
        asked(branch, method="attention")
    assert branch.module.config._attn_implementation == "sdpa"


# What is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "regression"}, "tiny: a language model has no head for numbers"),
        ({"options": {"seed": 1}}, "unknown option 'seed'; known: serialisation, normalise, max_tokens"),
        ({"options": {"normalise": "yes"}}, "option normalise must be like False; it is 'yes'"),
        ({"options": {"serialisation": "json"}}, "'json' is unknown; set template or list"),
    ],
)
def test_a_card_that_asks_for_something_else_is_refused(tmp_path, change, message):
    with pytest.raises(AuditError, match=message):
        TextBranch.load(tmp_path, CARD | change, "cpu", SCHEMA)


def test_a_schema_is_needed(tmp_path):
    with pytest.raises(AuditError, match="give the table's schema"):
        TextBranch.load(tmp_path, CARD, "cpu", None)


def refusal(folder):
    with pytest.raises(AuditError) as caught:
        TextBranch.load(folder, CARD, "cpu", SCHEMA)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path):
    network("gpt2").save_pretrained(tmp_path)
    assert "there is no tokenizer.json" in refusal(tmp_path)


def test_a_tokenizer_without_places_is_refused(tmp_path):
    opened(tmp_path, network("gpt2"), tokenizer())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "ByT5Tokenizer"}))
    assert "ByT5Tokenizer does not return the positions of its tokens" in refusal(tmp_path)


def test_pickled_weights_are_not_opened(tmp_path):
    module = network("gpt2")
    module.config.save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    torch.save(module.state_dict(), tmp_path / "pytorch_model.bin")
    assert "no pickle is read" in refusal(tmp_path)


def test_an_adapter_without_its_base_is_refused(tmp_path):
    opened(tmp_path, network("gpt2"), tokenizer())
    (tmp_path / "adapter_config.json").write_text("{}")
    assert "an adapter, not a model" in refusal(tmp_path)


@pytest.mark.parametrize("kind", ["encoder", "encoder and decoder", "recurrent"])
def test_what_is_no_causal_transformer_is_refused(tmp_path, kind):
    small = {"vocab_size": 320, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    small |= {"intermediate_size": 16}
    if kind == "encoder":
        module, message = BertModel(BertConfig(**small)), "does not name BertLMHeadModel"
    elif kind == "encoder and decoder":
        config = T5Config(vocab_size=320, d_model=16, num_layers=1, num_heads=2, d_ff=16, d_kv=8)
        module, message = T5ForConditionalGeneration(config), "no causal language model"
    else:
        config = JambaConfig(**small, num_experts=2, num_key_value_heads=2, mamba_d_state=4)
        module, message = JambaForCausalLM(config), "keeps a state"
    module.save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    assert message in refusal(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_layer": 3}, "the weights lack transformer.h.2"),
        ({"n_embd": 32}, "no causal language model"),
        ({"n_layer": "two"}, "no causal language model"),
        ({"model_type": "mine", "auto_map": {"AutoConfig": "code.Mine"}}, "custom code"),
    ],
)
def test_weights_and_config_that_do_not_fit_are_refused(tmp_path, change, message):
    opened(tmp_path, network("gpt2"), tokenizer())
    (tmp_path / "code.py").write_text(f"open({str(tmp_path / 'owned')!r}, 'w')")
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | change))
    assert message in refusal(tmp_path)
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_broken_file_is_named(tmp_path, file):
    opened(tmp_path, network("gpt2"), tokenizer())
    (tmp_path / file).write_text("{broken")
    assert "no causal language model" in refusal(tmp_path)
