"""Language models that read tables as text (TabLLM, Hegselmann et al. 2023): a record is sentences, a class its name.

Any causal language model of `transformers` serves, from a local folder. The context is read once and its keys and
values are kept; every question goes on from there as if it were alone. Only questions of equal length share a forward
pass and only answers are padded, at their end, where causal attention does not look: padding changes nothing.

A class scores the log-probability of all tokens of its name (and of the end of the line) after the question.
Regression is refused: a language model has no head for numbers, and to score the context's own targets as candidates
would give a member's exact target a bin of its own, so that the candidates and not the model would tell membership.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import CausalLMOutputWithPast

from memaudit.errors import AuditError
from memaudit.models.protocol import Limits, Mode
from memaudit.models.serialise import Serialiser

OPTIONS: dict[str, tuple[type, Any]] = {"serialisation": (str, "template"), "normalise": (bool, False)}
OPTIONS["max_tokens"] = (int, None)
TOKENS = 16384  # tokens of a forward pass, those that are kept included: bounds memory
Layers = list[tuple[Tensor, Tensor]]  # keys and values (b, heads, tokens, size) of every layer


@dataclass(frozen=True)
class Question:
    """keep: leading tokens that it shares with the context. tail: its other tokens. answers: tokens of each class."""

    keep: int
    tail: list[int]
    answers: list[list[int]]


class TextBranch:
    """A causal language model, fp32, without dropout. One view and nothing drawn: both modes are the same.

    Options: `serialisation`, template or list; `normalise`, divide a score by its number of tokens; `max_tokens`, a
    limit under the model's own.
    """

    task = "classification"
    limits = Limits(None, None, None)  # the tokens of a prompt are limited: see `forward`

    def __init__(
        self,
        module: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        serialiser: Serialiser,
        device: str,
        mode: Mode = "raw",
        normalise: bool = False,
        max_tokens: int | None = None,
    ):
        self.module = module.eval().to(device)
        self.device, self.mode = device, mode
        self.serialiser, self.normalise = serialiser, normalise
        own = getattr(module.config.get_text_config(), "max_position_embeddings", None)
        self.most = min((most for most in (own, max_tokens) if most), default=None)
        self._tokenizer = tokenizer
        empty = tokenizer("")["input_ids"]
        self._start = empty[:1] if empty[:1] == [tokenizer.bos_token_id] else []

    @classmethod
    def load(cls, weights: Path, card: Mapping[str, Any], device: str, schema: Mapping[str, Any] | None) -> "TextBranch":
        """See TabularModel. `weights`: config.json, tokenizer.json and *.safetensors; nothing else is opened.

        Raises AuditError also for regression, for a missing schema and for a table that cannot be read as text.
        """
        if card["task"] != "classification":
            raise AuditError(f"{card['name']}: a language model has no head for numbers; choose a tabular model")
        if schema is None:
            raise AuditError(f"{card['name']}: a language model reads names and categories; give the table's schema")
        options = _options(card)
        serialiser = Serialiser.of(schema, options.pop("serialisation"))
        return cls(_module(weights), _tokenizer(weights), serialiser, device, card["mode"], **options)

    @torch.no_grad()
    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel. Numbers are read as text: no gradient goes to them."""
        return self.forward(context_x, context_y, query_x)

    def forward(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Scores (B, m, C) in nats, log-probabilities of the classes' names, differentiable in the weights.

        Raises AuditError for a prompt that is longer than the model takes.
        """
        return torch.stack([self._scores(*table) for table in zip(context_x, context_y, query_x, strict=True)])

    def loss(self, outputs: Tensor, context_y: Tensor, query_y: Tensor) -> Tensor:
        """Cross-entropy (B, m) of the true class among the context's classes, in nats."""
        return nn.functional.cross_entropy(outputs.transpose(1, 2), query_y.to(outputs.device), reduction="none")

    @torch.no_grad()
    def embeddings(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Last hidden state of every question's last token, before its answer: (B, m, e)."""
        return torch.stack([self._states(*table) for table in zip(context_x, context_y, query_x, strict=True)])

    @torch.no_grad()
    def attention(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Attention of every question's last token on the tokens of each context row: (B, m, n), sums to 1 over rows.

        Last layer, mean over heads; what falls on the instruction and the question itself is left out. Only plain
        ("eager") attention says its weights: the model is switched to it meanwhile.
        """
        with _eager(self.module):
            return torch.stack([self._weights(*table) for table in zip(context_x, context_y, query_x, strict=True)])

    def _scores(self, x: Tensor, y: Tensor, queries: Tensor) -> Tensor:
        classes = y.unique().to(self.device)
        scores = torch.full((len(queries), len(self.serialiser.classes)), -torch.inf, device=self.device)
        for rows, questions, said in self._ask(x, y, queries):
            scores[rows[:, None], classes] = self._answers(questions, said)
        return scores

    def _states(self, x: Tensor, y: Tensor, queries: Tensor) -> Tensor:
        asked = list(self._ask(x, y, queries, output_hidden_states=True))
        states = torch.cat([said.hidden_states[-1][:, -1] for _, _, said in asked])
        return states[torch.cat([rows for rows, _, _ in asked]).argsort()]

    def _weights(self, x: Tensor, y: Tensor, queries: Tensor) -> Tensor:
        examples = self._examples(x, y)
        starts = np.cumsum([len(self.serialiser.instruction()), *map(len, examples[1:])])
        _, offsets = self._tokens(self.serialiser.instruction() + "".join(examples[1:]))
        raise NotImplementedError

    def _answers(self, questions: list[Question], said: CausalLMOutputWithPast) -> Tensor:
        """Scores (b, classes of the context) of the answers to b questions, of which the model has read the last token."""
        answers = [torch.tensor(answer) for question in questions for answer in question.answers]
        lengths = torch.tensor([len(answer) for answer in answers], device=self.device)
        tokens = nn.utils.rnn.pad_sequence(answers, batch_first=True).to(self.device)
        owners = torch.arange(len(questions), device=self.device).repeat_interleave(len(questions[0].answers))
        scores = said.logits[:, -1].log_softmax(-1)[owners, tokens[:, 0]]
        layers = _layers(said)
        size = max(1, TOKENS // (layers[0][0].shape[2] + tokens.shape[1]))
        follow = [self._follow(layers, *part) for part in zip(owners.split(size), tokens.split(size), strict=True)]
        inside = torch.arange(1, tokens.shape[1], device=self.device) < lengths[:, None]
        scores = scores + torch.where(inside, torch.cat(follow), 0).sum(1)
        return (scores / lengths if self.normalise else scores).view(len(questions), -1)

    def _follow(self, layers: Layers, owners: Tensor, tokens: Tensor) -> Tensor:
        """Log-probabilities (p, length - 1) of every token of p answers but the first, after their owners' questions."""
        if tokens.shape[1] == 1:
            return torch.empty(len(tokens), 0, device=self.device)
        past = DynamicCache([(keys[owners], values[owners]) for keys, values in layers])
        logits = self.module(input_ids=tokens[:, :-1], past_key_values=past, use_cache=True).logits
        return logits.log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0]
