"""Causal language models as classifiers that answer with one token (see `classifier_networks`), and small models.

Before fine-tuning, a small model learns on synthetic records to answer one synthetic question about all their cells,
and the question about the target at random: it then reads cells and knows the form of an answer. Without that, LoRA,
which does not train the embeddings of answers, hardly learns to give them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from transformers import (
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.models.classifier_networks import Outputs
from memaudit.models.model_files import UNREADABLE, reason
from memaudit.models.token_questions import END, Tokens, Words

OF_TARGET = 0.125  # share of the questions on synthetic records that are about the target
LETTER_GAPS = (" ", "\n")  # between a prompt and the letter of its answer
WARM = 0.1  # share of the steps over which the learning rate rises


class OneTokenClassifier(nn.Module):
    """A causal language model that answers a question with one token. Takes tokens (B, length), -1 after the end.

    Logits are of all tokens; hidden states are those of the question's last token.
    """

    def __init__(self, module: PreTrainedModel):
        super().__init__()
        self.module = module.eval()  # without dropout: no gradient is drawn

    def forward(self, tokens: Tensor) -> Outputs:
        last = (tokens >= 0).sum(1) - 1
        outputs = self.module.base_model(tokens.clamp(min=0), use_cache=False, output_hidden_states=True)
        rows = torch.arange(len(tokens), device=tokens.device)
        # The first is the embedding of the last token, which is the same for every question.
        layers = [*outputs.hidden_states[1:-1], outputs.last_hidden_state]
        hidden = [state[rows, last] for state in layers]
        return self.module.get_output_embeddings()(hidden[-1]), hidden


def language_model(
    family: Literal["llama", "gpt2"], vocabulary: int, length: int, width: int, layers: int, heads: int, inner: int
) -> PreTrainedModel:
    """Make a small causal language model with random weights; inner: width of the layers' inner part."""
    if family == "gpt2":
        sizes = {"n_embd": width, "n_layer": layers, "n_head": heads, "n_inner": inner, "n_positions": length}
        return GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, bos_token_id=None, eos_token_id=None, **sizes))
    sizes = {"hidden_size": width, "num_hidden_layers": layers, "intermediate_size": inner}
    sizes |= {"num_attention_heads": heads, "num_key_value_heads": heads, "max_position_embeddings": length}
    tied = {"tie_word_embeddings": True, "bos_token_id": None, "eos_token_id": None}
    return LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, **sizes, **tied))


def pretrain(
    module: PreTrainedModel, words: Words, steps: int, batch: int, learning_rate: float, rng: np.random.Generator
) -> float:
    """Train the module, in place, on synthetic records; return the synthetic question's mean loss over the last tenth.

    Bins are uniform. The synthetic question is in which quantile of the batch a record's sum (`Words.sums`, with random
    signs) lies; there are as many quantiles as classes of the target. In nats.
    """
    classifier, losses = OneTokenClassifier(module), []
    signs = rng.choice([-1, 1], words.known if words.shared else words.columns)
    signs = signs if words.shared else np.repeat(signs, words.bins)
    optimizer = torch.optim.AdamW(module.parameters(), learning_rate, weight_decay=0.0)
    for step in range(steps):
        cells = rng.integers(0, words.bins, (batch, words.columns))
        ranks = np.lexsort((rng.random(batch), words.sums(cells, signs))).argsort()
        synthetic = rng.random(batch) >= OF_TARGET
        codes = np.where(synthetic, ranks * words.classes // batch, rng.integers(0, words.classes, batch))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * min(1.0, (step + 1) / (WARM * steps)) * (1 - step / steps)
        logits, _ = classifier(torch.from_numpy(words.questions(cells, synthetic)))
        each = nn.functional.cross_entropy(logits, torch.from_numpy(words.answers[codes]), reduction="none")
        optimizer.zero_grad()
        each.mean().backward()
        optimizer.step()
        losses += each.detach().numpy()[synthetic].tolist() if step >= 0.9 * steps else []
    return float(np.mean(losses))


def tokenizer_of(weights: Path) -> tuple[PreTrainedTokenizerBase, int | None]:
    """Open the tokenizer in a model's folder; return it and the most tokens that the model takes (None: not stated).

    Raises AuditError for a folder without a tokenizer.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(weights, local_files_only=True, trust_remote_code=False)
    except UNREADABLE as error:
        raise AuditError(f"{weights}: no tokenizer can be read ({reason(error)}); fetch the model again") from error
    return tokenizer, read_json(weights / "config.json").get("max_position_embeddings")


def cut(
    tokenizer: PreTrainedTokenizerBase, prompts: Sequence[str], letters: str, most: int | None
) -> tuple[Tokens, Tokens]:
    """Return prompts as tokens (record, length), `END` after the end of each, and the token of every letter (letter,).

    They are separated by a space or, where a tokenizer has no such tokens, by a line break. Raises AuditError for a
    prompt of more than `most` tokens, and where letters are not tokens of their own after either separator.
    """

    def whole(prompt: str, answer: str) -> list[int]:
        # Tokenised as a whole: alone, a letter would get a token that does not follow a prompt. Marks are read as text.
        return tokenizer(f"{prompt}{answer}", split_special_tokens=True)["input_ids"]

    for gap in LETTER_GAPS:
        answers = [whole(prompts[0], gap + letter) for letter in letters]
        if len({tuple(one[:-1]) for one in answers}) == 1 and len({one[-1] for one in answers}) == len(letters):
            break
    else:
        raise AuditError("questions: the letters of the answers are not one token each; take another model")
    rows = [whole(prompt, gap + letters[0])[:-1] for prompt in prompts]
    longest = max(map(len, rows))
    if most and longest >= most:
        raise AuditError(
            f"questions: one has {longest + 1} tokens, the model takes at most {most}; leave out the longest questions"
        )
    tokens = np.full((len(rows), longest), END, np.int64)
    for place, row in enumerate(rows):
        tokens[place, : len(row)] = row
    return tokens, np.array([one[-1] for one in answers])
