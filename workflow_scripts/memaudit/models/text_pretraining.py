"""Pre-training of a small language model that reads tables as text, on one core (see `pretraining_run`).

Every row of a table is a question about the rows before it. The loss is that of the answers, plus a little of all other
tokens, from which a model first learns to look back.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from memaudit.common import seeds
from memaudit.models.pretraining_run import PretrainingRun, Settings, muon
from memaudit.models.synthetic_text_tables import Batch, Shape, batch, collate, parts_of, tokenizer_of

CELL = 9  # tokens of a cell, more or less
FAST = 4  # rotations that encode positions; the others are slow enough to carry content


def losses(model: LlamaForCausalLM, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the weighted loss of a batch, and the mean loss of its answers alone, in nats."""
    tokens, positions, answers, others = batch
    # With a mask of ones no skip between positions is read as the end of a text.
    hidden = model.model(tokens, torch.ones_like(tokens), positions, use_cache=False).last_hidden_state[:, :-1]
    each = nn.functional.cross_entropy(model.lm_head(hidden).transpose(1, 2), tokens[:, 1:], reduction="none")
    answered = (each * answers[:, 1:]).sum()
    return answered + (each * others[:, 1:]).sum(), answered.detach()


@torch.no_grad()
def prepare(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    """Set initial weights near a circuit that looks records up, which short training does not reach from random ones.

    After Olsson et al. (2022): induction heads, with a kernel between records. Heads of the first layer attend one,
    two, three ... tokens back and write what they read into a subspace each. Heads of the last layer but one gather,
    each at its own distance, the first digits of a cell. Heads of the last layer attend to tokens that follow an
    occurrence of the present token, in records with similar cells, and copy them. Digits lie on a curve, so that close
    digits have similar embeddings. For at most four heads per layer and 32 numbers per head. All weights are trained.
    """
    config, layers, embedding = model.config, model.model.layers, model.model.embed_tokens.weight
    width, heads, size = config.hidden_size, config.num_attention_heads, config.head_dim
    basis = torch.linalg.qr(torch.randn(width, width))[0]
    constant, word = basis[0], basis[1 : width * 5 // 16]
    near, *far = basis[width * 5 // 16 : width * 5 // 8].split([width // 8] + [width // 16] * 3)
    cells = basis[width * 5 // 8 :].view(heads, -1, width)
    embedding.copy_(0.11 * (width / len(word)) ** 0.5 * torch.randn(len(embedding), len(word)) @ word)
    embedding -= torch.outer(embedding @ word[4], word[4])
    embedding[tokenizer(" is ")["input_ids"][-1]] = 1.1 * word[4]
    for flag, mark in enumerate(("", ".")):
        for digit in range(10):
            waves = torch.cos(torch.arange(1, 4) * torch.pi * (digit + 0.5) / 10)
            place = torch.cat([waves, torch.tensor([flag - 0.5])])
            embedding[tokenizer(f"{mark}{digit}")["input_ids"][-1]] = 0.8 * place @ word[:4]
    embedding.copy_(0.1 * width**0.5 * (nn.functional.normalize(embedding, dim=1) + constant))
    for layer in layers:
        layer.mlp.down_proj.weight *= 0.2
        layer.self_attn.o_proj.weight *= 0.2
    slow = torch.arange(size).view(2, -1)[:, FAST:].flatten()
    half = len(slow) // 2
    first, gather, last = (layers[place].self_attn for place in (0, -2, -1))
    for head in range(heads):
        rows = slice(head * size, (head + 1) * size)
        seen = (near, *far)[head]
        _look_back(first, rows, 0.09 * constant, head + 1, (14.0, 14.0, 14.0), config)
        first.v_proj.weight[rows][: len(seen)] = word[: len(seen)]
        first.o_proj.weight[:, rows][:, : len(seen)] = 0.15 * seen.T
        _look_back(gather, rows, 0.13 * constant, 1.5 + CELL * head, (0.0, 48.0, 96.0), config)
        gather.q_proj.weight[rows][slow[-1]] = 1.5 * constant
        gather.k_proj.weight[rows][slow[-1]] = 3.0 * far[1][4]
        read = torch.cat([1.0 * far[0][:4], 0.7 * near[:4], 0.7 * 0.5 * word[:4]])
        gather.v_proj.weight[rows][: len(read)] = read
        gather.o_proj.weight[:, rows][:, : len(read)] = 0.15 * cells[head][: len(read)].T
        part = (torch.arange(half) + head * len(near) // heads) % len(near)
        for projection, sought in ((last.q_proj, word), (last.k_proj, near)):
            projection.weight[rows] = 0
            projection.weight[rows][slow] = torch.cat([4.5 * sought[part], 2.5 * cells[head][:half]])
        copied = word[head::heads]
        last.v_proj.weight[rows][: len(copied)] = copied
        last.o_proj.weight[:, rows][:, : len(copied)] = 0.5 * copied.T


def _look_back(
    attention: nn.Module, rows: slice, constant: Tensor, back: float, strength: tuple[float, ...], config: LlamaConfig
) -> None:
    """Let a head attend `back` tokens back: strength, in nats, of the rotations (Su et al. 2024), fastest first."""
    size = config.head_dim
    rotations = torch.arange(size // 2)
    angle = back * config.rope_parameters["rope_theta"] ** (-2 * rotations / size)
    gain = torch.zeros(size // 2)
    gain[: len(strength)] = (torch.tensor(strength) * size**0.5).sqrt()
    attention.q_proj.weight[rows] = torch.cat([gain, 0 * gain])[:, None] * constant
    attention.k_proj.weight[rows] = torch.cat([gain * angle.cos(), gain * angle.sin()])[:, None] * constant


def optimizer_of(model: LlamaForCausalLM, optimiser: Settings) -> torch.optim.Optimizer:
    """Muon for the matrices of the blocks, AdamW for embeddings and norms.

    A group's `share` is that of the learning rate. The circuit that looks records up (see `prepare`) has a low rate:
    Muon's steps are as large in directions of small gradients, and would destroy it before the rest has learnt.
    """
    last = f"layers.{model.config.num_hidden_layers - 1}."
    groups: dict[str, list[nn.Parameter]] = {"embedding": [], "circuit": [], "other": []}
    for name, parameter in model.named_parameters():
        finds = last not in name or "q_proj" in name or "k_proj" in name
        matrix = parameter.ndim == 2 and ".layers." in name
        groups["embedding" if not matrix else "circuit" if finds else "other"].append(parameter)
    shares = {"other": 1.0, **{name: optimiser[name] for name in ("embedding", "circuit")}}
    groups = [{"params": groups[name], "use_muon": name != "embedding", "share": shares[name]} for name in groups]
    return muon(groups, optimiser)


class Run(PretrainingRun):
    """A pre-training run of a language model."""

    def __init__(self, settings: Settings, path: Path) -> None:
        """Start, or continue from `path`. Raises AuditError if that state belongs to other settings."""
        self.tokenizer = tokenizer_of(settings)
        torch.manual_seed(seeds.integer(settings["seed"], "pretrain text", "init"))
        config = LlamaConfig(vocab_size=len(self.tokenizer), **settings["architecture"])
        model = LlamaForCausalLM(config).train()
        prepare(model, self.tokenizer)
        super().__init__(settings, path, model, optimizer_of(model, settings["optimiser"]), ("tables", "tokens"))

    def batch_loss(self, step: int) -> tuple[Tensor, Tensor, dict[str, int]]:
        rng = seeds.generator(self.settings["seed"], "pretrain text", "batch", step)
        drawn = batch(self.settings, self.tokenizer, step / self.settings["steps"], rng)
        return *losses(self.model, drawn), {"tables": len(drawn[0]), "tokens": drawn[0].numel()}

    def validation_set(self) -> dict[str, list[Batch]]:
        return validation_set(self.settings, self.tokenizer)

    def validate(self, held_out: dict[str, list[Batch]]) -> dict[str, float]:
        return {name: validate(self.model, batches) for name, batches in held_out.items()}


def validation_set(settings: Settings, tokenizer: PreTrainedTokenizerFast) -> dict[str, list[Batch]]:
    """Synthetic tables of two classes that no step trains on: clusters to tell apart, and labels to look up."""
    tables = {"clusters": {"families": {"clusters": 1}, "repeated": 0}, "look up": {"families": {"chance": 1}}}
    batches = {}
    for name, family in tables.items():
        rng = seeds.generator(settings["seed"], "pretrain text", "validation", name)
        prior = settings["prior"] | family | {"wrong": 0, "categories": 0, "binary": 1}
        shape = Shape(settings["validation"]["rows"], settings["validation"]["features"], 2, (3.0, 3.0))
        texts = [[parts_of(shape, prior, rng) for _ in range(8)] for _ in range(settings["validation"]["batches"])]
        batches[name] = [collate(part, tokenizer, settings | {"leap": 0}, rng) for part in texts]
    return batches


@torch.no_grad()
def validate(model: LlamaForCausalLM, batches: list[Batch]) -> float:
    """Mean loss of the answers in the batches, in nats."""
    return float(np.mean([losses(model, one)[1].item() for one in batches]))


def write_model(run: Run, folder: Path) -> None:
    """Write a folder that `transformers` opens: config, weights and tokenizer."""
    run.model.save_pretrained(folder)
    run.tokenizer.save_pretrained(folder)


def facts(run: Run, folder: Path) -> dict[str, Any]:
    """Return the contents of `model.json` for a finished run."""
    packages = ("torch", "transformers", "tokenizers", "tabicl", "numpy")
    return run.facts(folder / "model.safetensors", packages) | {"family": "text", "task": "classification"}
