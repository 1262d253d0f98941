"""Checkpoints of the published architectures and file formats, tiny and with random weights."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from tabicl._model.tabicl import TabICL
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from memaudit.common.errors import AuditError
from memaudit.models.language_models import build, train_tokenizer
from memaudit.rehearsal import small_tabpfn

VOCABULARY = 600
QUANTILES = 99
GATED = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
GPT = {"n_embd": 32, "n_layer": 2, "n_head": 2}
# model_type, and what differs from its class's defaults, of a repository on the hub. Heads, keys and values in the
# published proportions: one for all heads (Gemma 2B, Falcon 7B), some for several (Qwen2, Mistral), one each.
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "distilbert/distilgpt2": ("gpt2", GPT),
    "openai-community/gpt2": ("gpt2", GPT),
    "openai-community/gpt2-xl": ("gpt2", GPT),
    "EleutherAI/pythia-1.4b": ("gpt_neox", GATED),
    "EleutherAI/pythia-2.8b": ("gpt_neox", GATED),
    "EleutherAI/pythia-6.9b": ("gpt_neox", GATED),
    "cerebras/Cerebras-GPT-2.7B": ("gpt2", GPT),
    "EleutherAI/gpt-j-6b": ("gptj", GPT | {"rotary_dim": 4}),
    "google/gemma-2b": ("gemma", GATED | {"num_key_value_heads": 1, "head_dim": 16}),
    "Qwen/Qwen2-1.5B": ("qwen2", GATED | {"num_attention_heads": 4, "num_key_value_heads": 2}),
    "mosaicml/mpt-7b": ("mpt", {"d_model": 32, "n_layers": 2, "n_heads": 2}),
    "tiiuae/falcon-rw-1b": (
        "falcon",
        {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "alibi": True, "multi_query": False}
        | {"bias": True, "parallel_attn": False},
    ),
    "tiiuae/falcon-7b": ("falcon", {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}),
    "meta-llama/Llama-2-7b-hf": ("llama", GATED),
    "facebook/opt-2.7b": (
        "opt",
        {"hidden_size": 32, "word_embed_proj_dim": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 64},
    ),
    "microsoft/phi-2": ("phi", GATED | {"partial_rotary_factor": 0.5}),
    "mistralai/Mistral-7B-v0.1": ("mistral", GATED | {"num_attention_heads": 4, "num_key_value_heads": 2}),
    "state-spaces/mamba-2.8b-hf": ("mamba", {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}),
    "RWKV/rwkv-4-3b-pile": ("rwkv", {"hidden_size": 32, "attention_hidden_size": 32, "num_hidden_layers": 2}),
    "google/recurrentgemma-2b": (
        "recurrent_gemma",
        {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 1}
        | {"intermediate_size": 96, "lru_width": 32, "attention_window_size": 64},
    ),
    "allenai/OLMo-2-0425-1B": ("olmo2", GATED),
}
SENTENCE_PIECES = ("meta-llama/", "mistralai/", "google/")  # repositories whose tokenizer marks words by their blank
LONGEST = 2048  # tokens, where the catalogue states none


def write_tabicl(file: Path, task: str, seed: int, architecture: Mapping[str, Any]) -> None:
    """Write a TabICL v2 in the package's format: `config` and `state_dict`. architecture: arguments of its class."""
    config = dict(architecture) | ({"max_classes": 10} if task == "classification" else {"max_classes": 0})
    config |= {"zero_init": False} if task == "classification" else {"zero_init": False, "num_quantiles": QUANTILES}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = TabICL(**config)
        with torch.no_grad():
            for weight in module.parameters():
                weight.add_(torch.randn_like(weight), alpha=0.1)
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"config": config, "state_dict": module.state_dict()}, file)


def write_tabpfn(file: Path, version: str, task: Any, seed: int) -> None:
    """Write a TabPFN in the format of that version's published files."""
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.save(small_tabpfn.checkpoint(version, task, seed), file)


def write_language_model(folder: Path, repo: str, texts: Iterable[str], tokens: int | None, seed: int) -> None:
    """Write a repository's files: config, safetensors, tokenizer. tokens: the longest text that the model takes.

    Raises AuditError for a repository whose architecture is not known here.
    """
    if repo not in ARCHITECTURES:
        raise AuditError(f"{repo}: no architecture is stated for its stand-in; add it to {Path(__file__).name}")
    kind, config = ARCHITECTURES[repo]
    tokenizer = tokenizer_of(repo, texts)
    module = build({"model_type": kind, "config": config}, len(tokenizer), tokens or LONGEST, seed)
    folder.mkdir(parents=True, exist_ok=True)
    module.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def tokenizer_of(repo: str, texts: Iterable[str]) -> PreTrainedTokenizerBase:
    """Return a tokenizer of the repository's kind: bytes (GPT-2's), or words with their blank (Llama's)."""
    if not repo.startswith(SENTENCE_PIECES):
        return train_tokenizer(texts, VOCABULARY)
    pieces = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    pieces.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    pieces.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=True)
    pieces.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    letters = [chr(code) for code in range(33, 127)]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY + 256, special_tokens=special, initial_alphabet=[*letters, "▁"], show_progress=False
    )
    pieces.train_from_iterator([*texts, *(f" {letter}" for letter in letters for _ in range(9))], trainer)
    named = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=pieces, clean_up_tokenization_spaces=False, **named)


def write_model(
    entry: Mapping[str, Any], target: Path, texts: Iterable[str], seed: int, tabicl: Mapping[str, Any]
) -> None:
    """Write what the hub has of an entry of config/models.yaml into the folder of its repository.

    tabicl: arguments of TabICL's class, for one of that family.
    """
    hub = entry["hub"]
    if entry["family"] == "tabicl":
        write_tabicl(target / hub["file"], entry.get("task", "classification"), seed, tabicl)
    elif entry["family"] == "tabpfn":
        write_tabpfn(target / hub["file"], entry["version"], entry.get("task", "classification"), seed)
    elif entry["family"] == "text":
        write_language_model(target, hub["repo"], texts, entry.get("tokens"), seed)
    else:
        raise AuditError(f"{hub['repo']}: no stand-in of family {entry['family']} is made; add it here")
