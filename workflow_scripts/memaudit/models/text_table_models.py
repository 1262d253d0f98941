"""Language models that read tables as text (TabLLM, Hegselmann et al. 2023): a record is sentences, a class its name.

Any causal language model of `transformers` in a local folder can be used. The context is read once and its keys and
values are kept; every question continues from there as if it were alone. Only questions of equal length share a forward
pass and only answers are padded, at their end, which causal attention ignores: padding has no effect.

The score of a class is the log-probability of all tokens of its name, and of the end of the line, after the question.
Regression is refused. A language model has no head for numbers, and scoring the context's own targets as candidates
would give a member's exact target a bin of its own: the candidates, not the model, would reveal membership.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import CausalLMOutputWithPast

from memaudit.common.errors import AuditError
from memaudit.models.model_files import reason
from memaudit.models.model_options import options_of
from memaudit.models.model_protocol import Limits, Mode
from memaudit.models.table_serialisation import Context, Prompter, Question, Serialiser

OPTIONS = {"serialisation": "template", "normalise": False, "max_tokens": 0}  # 0: the model's own limit
TOKENS = 16384  # most tokens of a forward pass, including the context's cached ones: bounds memory
Layers = list[tuple[Tensor, Tensor]]  # keys and values (b, heads, tokens, size) of every layer


class TextBranch:
    """A causal language model, fp32, without dropout. One view and nothing drawn: both modes are the same.

    Options: `serialisation`, template or list; `normalise`, whether a score is divided by its number of tokens;
    `max_tokens`, a limit below the model's own.
    """

    task = "classification"
    reads_text, alone = True, True
    limits = Limits(None, None, None)  # the limit is the number of a prompt's tokens: see `forward`

    def __init__(
        self,
        module: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        serialiser: Serialiser,
        device: str,
        mode: Mode = "raw",
        normalise: bool = False,
        max_tokens: int = 0,
    ):
        self.module = module.eval().to(device)
        self.device, self.mode = device, mode
        own = getattr(module.config.get_text_config(), "max_position_embeddings", None)
        most = min((most for most in (own, max_tokens) if most), default=None)
        self.prompter = Prompter(serialiser, tokenizer, most)
        self._normalise = normalise

    @classmethod
    def load(
        cls, weights: Path, card: Mapping[str, Any], device: str, schema: Mapping[str, Any] | None
    ) -> "TextBranch":
        """See TabularModel. `weights` holds config.json, tokenizer.json and *.safetensors; nothing is unpickled or run.

        Raises AuditError also for regression, a missing schema, and a table that cannot be read as text.
        """
        where = card["name"]
        if card["task"] != "classification":
            raise AuditError(
                f"{where}: a language model has no head for numbers; choose a tabular model for regression"
            )
        if schema is None:
            raise AuditError(f"{where}: a language model reads names and categories; give the table's schema")
        options = options_of(card, OPTIONS)
        serialiser = Serialiser.of(schema, options.pop("serialisation"))
        return cls(_module(weights), _tokenizer(weights), serialiser, device, card["mode"], **options)

    @torch.no_grad()
    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel. Numbers are read as text: no gradient goes to them."""
        return self.forward(context_x, context_y, query_x)

    def forward(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Log-probabilities (B, m, C) of the classes' names, in nats (a token, if normalised), with their gradients.

        Raises AuditError for a prompt that is longer than the model takes.
        """
        answers = self._per_context(context_x, context_y, query_x, self._answers)
        scores = [one.new_full((len(one), len(self.prompter.serialiser.classes)), -torch.inf) for one in answers]
        for one, labels, answer in zip(scores, context_y, answers, strict=True):
            one[:, labels.unique().to(one.device)] = answer
        return torch.stack(scores)

    def loss(self, outputs: Tensor, context_y: Tensor, query_y: Tensor) -> Tensor:
        """Cross-entropy (B, m) of the true class among the classes of the context, in nats."""
        return nn.functional.cross_entropy(outputs.transpose(1, 2), query_y.to(outputs.device), reduction="none")

    @torch.no_grad()
    def attention(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """Attention of every question's last token on the tokens of each context row: (B, m, n), sums to 1 over rows.

        Last layer, mean over heads, without the attention on the instruction and on the question itself. Only plain
        ("eager") attention returns its weights: the model is switched to it meanwhile. Raises AuditError where the last
        layer's window ends before the context.
        """
        with _eager(self.module):
            return torch.stack(self._per_context(context_x, context_y, query_x, _on_rows, output_attentions=True))

    def _per_context(
        self,
        context_x: Tensor,
        context_y: Tensor,
        query_x: Tensor,
        read: Callable[[Context, list[Question], CausalLMOutputWithPast], Tensor],
        **options: bool,
    ) -> list[Tensor]:
        """Apply `read` to the model's output at each question's last token, per context: (m, ...)."""
        results = []
        for x, y, queries in zip(context_x, context_y, query_x, strict=True):
            context = self.prompter.context(x.cpu().numpy(), y.cpu().numpy())
            all_questions = self.prompter.questions(context, queries.cpu().numpy())
            places, parts = [], []
            for rows, questions, output in self._read(context, all_questions, options):
                places += rows
                parts.append(read(context, questions, output))
            results.append(torch.cat(parts)[np.argsort(places)])
        return results

    def _read(
        self, context: Context, questions: list[Question], options: Mapping[str, bool]
    ) -> Iterator[tuple[list[int], list[Question], CausalLMOutputWithPast]]:
        """The model's output at the last token of each question, for batches of equal length, with their places."""
        tokens = torch.tensor([context.tokens], device=self.device)
        output = self.module(input_ids=tokens, past_key_values=DynamicCache(), use_cache=True, logits_to_keep=1)
        layers = _layers(output)
        alike = defaultdict(list)
        for place, question in enumerate(questions):
            alike[question.keep, len(question.tail)].append(place)
        for (keep, length), places in alike.items():
            size = max(1, TOKENS // (keep + length))
            for rows in (places[i : i + size] for i in range(0, len(places), size)):
                tails = torch.tensor([questions[row].tail for row in rows], device=self.device)
                kept = [[half[:, :, :keep].expand(len(rows), -1, -1, -1) for half in layer] for layer in layers]
                output = self.module(
                    input_ids=tails, past_key_values=DynamicCache(kept), use_cache=True, logits_to_keep=1, **options
                )
                yield rows, [questions[row] for row in rows], output

    def _answers(self, context: Context, questions: list[Question], output: CausalLMOutputWithPast) -> Tensor:
        """Scores (b, classes of the context) of the answers to b questions that were read to their last token."""
        answers = [torch.tensor(answer) for question in questions for answer in question.answers]
        lengths = torch.tensor([len(answer) for answer in answers], device=self.device)
        tokens = nn.utils.rnn.pad_sequence(answers, batch_first=True).to(self.device)
        owners = torch.arange(len(questions), device=self.device).repeat_interleave(len(context.classes))
        first = output.logits[:, -1].log_softmax(-1)[owners, tokens[:, 0]]
        layers = _layers(output)
        size = max(1, TOKENS // (layers[0][0].shape[2] + tokens.shape[1]))
        parts = zip(owners.split(size), tokens.split(size), strict=True)
        rest = torch.cat([self._rest(layers, *part) for part in parts])
        inside = torch.arange(1, tokens.shape[1], device=self.device) < lengths[:, None]
        scores = first + torch.where(inside, rest, 0).sum(1)
        return (scores / lengths if self._normalise else scores).view(len(questions), -1)

    def _rest(self, layers: Layers, owners: Tensor, tokens: Tensor) -> Tensor:
        """Log-probabilities (p, length - 1) of the tokens of p answers but for the first, after their questions."""
        if tokens.shape[1] == 1:
            return tokens.new_empty(len(tokens), 0, dtype=torch.float32)
        past = DynamicCache([(keys[owners], values[owners]) for keys, values in layers])
        logits = self.module(input_ids=tokens[:, :-1], past_key_values=past, use_cache=True).logits
        return logits.log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0]


def _on_rows(context: Context, questions: list[Question], output: CausalLMOutputWithPast) -> Tensor:
    """Attention (b, n) of the last token on the context's rows."""
    weights = output.attentions[-1][:, :, -1].mean(1)
    rows = torch.tensor(context.rows[: questions[0].keep], device=weights.device) + 1
    sums = weights.new_zeros(len(weights), max(context.rows) + 2).index_add(1, rows, weights[:, : len(rows)])[:, 1:]
    total = sums.sum(1, keepdim=True)
    if not total.all():
        raise AuditError("attention: the last layer's window ends before the context; choose a model without a window")
    return sums / total


def _layers(output: CausalLMOutputWithPast) -> Layers:
    return [(layer.keys, layer.values) for layer in output.past_key_values.layers]


@contextmanager
def _eager(module: PreTrainedModel) -> Iterator[None]:
    usual = module.config._attn_implementation
    module.set_attn_implementation("eager")
    try:
        yield
    finally:
        module.set_attn_implementation(usual)


def _tokenizer(weights: Path) -> PreTrainedTokenizerBase:
    # transformers opens an empty tokenizer where its file is missing.
    if not (weights / "tokenizer.json").is_file():
        raise AuditError(f"{weights}: there is no tokenizer.json; give the whole folder of the model")
    with _one_line_errors(weights):
        tokenizer = AutoTokenizer.from_pretrained(weights, local_files_only=True, trust_remote_code=False)
    if not tokenizer.is_fast:
        raise AuditError(
            f"{weights}: {type(tokenizer).__name__} does not return the positions of its tokens; choose another model"
        )
    return tokenizer


def _module(weights: Path) -> PreTrainedModel:
    if not (weights / "config.json").is_file() or not list(weights.glob("*.safetensors")):
        raise AuditError(f"{weights}: needs config.json and *.safetensors (no pickle is read); save the model as such")
    # Its base would be opened from elsewhere, outside the card's checksum.
    if (weights / "adapter_config.json").exists():
        raise AuditError(f"{weights}: an adapter, not a model; merge it into its base and save that")
    with _one_line_errors(weights):
        module, loading = AutoModelForCausalLM.from_pretrained(
            weights,
            dtype=torch.float32,
            attn_implementation="sdpa",
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    name = type(module).__name__
    if name not in (module.config.architectures or []):
        raise AuditError(f"{weights}: not a causal language model, config.json does not name {name}; choose one")
    if loading["missing_keys"]:
        raise AuditError(f"{weights}: the weights lack {min(loading['missing_keys'])}; give the whole model")
    if module._is_stateful:
        raise AuditError(
            f"{weights}: {name} keeps a state instead of the keys and values of a context; choose a transformer"
        )
    for layer in module.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0  # also after train()
    return module


@contextmanager
def _one_line_errors(weights: Path) -> Iterator[None]:
    """Turn the errors of `transformers` for a folder that it cannot open into an AuditError of one line."""
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError, StrictDataclassError) as error:
        why = reason(error)
        raise AuditError(f"{weights}: no causal language model ({why}); give a folder of `transformers`") from error
