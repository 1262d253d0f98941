"""Causal language models of any family of `transformers`: a tiny one built here, or one from a folder.

Texts are padded on the right. A causal model does not attend there, so padding needs no mask and no token of its own,
and a text's logits do not depend on the batch: a test checks every family of config/language_models.yaml.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor, nn
from transformers import (
    CONFIG_MAPPING,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from memaudit.common.arrays import Mask
from memaudit.common.errors import AuditError
from memaudit.models.model_files import reason

END = "<|end|>"  # the one special token, number 0: begin, end and padding
LIMITS = ("max_position_embeddings", "n_positions", "max_seq_len")  # configs' names of the longest text
FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
Ids = NDArray[np.int64]


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE tokenizer (Sennrich et al. 2016); it accepts every text and adds no token."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    named = {"bos_token": END, "eos_token": END, "pad_token": END}
    return PreTrainedTokenizerFast(tokenizer_object=bpe, clean_up_tokenization_spaces=False, **named)


def token_starts(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    """Return where the tokens of a text begin; of those that share a character, the first."""
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
    return sorted({start for start, end in found if end > start})


def build(entry: Mapping[str, Any], vocabulary: int, context: int, seed: int) -> PreTrainedModel:
    """Build a model with random weights from an entry of config/language_models.yaml: `model_type`, `config`.

    context: longest text in tokens, for families that need to know. Raises AuditError for a type that `transformers`
    does not know, or a config that it refuses.
    """
    where, own = f"language model of type {entry['model_type']}", dict(entry["config"])
    own |= dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), 0)
    try:
        config = CONFIG_MAPPING[entry["model_type"]](vocab_size=vocabulary, **own)
        for name in LIMITS:
            if hasattr(config, name):
                setattr(config, name, context)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, ImportError) as error:
        raise AuditError(f"{where}: transformers does not build it ({reason(error)}); correct its entry") from error


def folder_of(path: str | Path) -> Path:
    """Return a model's folder, given as such or by one of its files."""
    return Path(path) if Path(path).is_dir() else Path(path).parent


def open_model(folder: str | Path, device: str = "cpu", dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    """Open the causal language model in a folder written by `save_pretrained`; nothing is unpickled, fetched or run.

    Raises AuditError for another folder, missing weights, or an adapter alone.
    """
    folder = Path(folder)
    if (folder / "adapter_config.json").exists():
        raise AuditError(f"{folder}: an adapter, not a model; merge it into its base (merge_and_unload) and save that")
    if not (folder / "config.json").is_file() or not list(folder.glob("*.safetensors")):
        raise AuditError(f"{folder}: needs config.json and *.safetensors (no pickle is read); save the model as such")
    with one_line_errors(folder):
        model, found = AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, use_safetensors=True, local_files_only=True, output_loading_info=True
        )
    if found["missing_keys"]:
        raise AuditError(f"{folder}: the weights lack {min(found['missing_keys'])}; give the whole model")
    return model.to(device).eval()


@contextmanager
def in_main_memory(*models: PreTrainedModel) -> Iterator[None]:
    """Keep models off their GPU within the block, where it is needed for another; their weights stay what they are."""
    devices = [model.device for model in models]
    for model in models:
        model.to("cpu")
    try:
        yield
    finally:
        for model, device in zip(models, devices, strict=True):
            model.to(device)


def open_tokenizer(folder: str | Path) -> PreTrainedTokenizerBase:
    """Open the tokenizer in a model's folder. Raises AuditError if there is none."""
    folder = Path(folder)
    # transformers opens an empty tokenizer where its files are missing.
    if not any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        raise AuditError(f"{folder}: there is no tokenizer.json; give the whole folder of the model")
    with one_line_errors(folder):
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)


@contextmanager
def one_line_errors(folder: Path) -> Iterator[None]:
    """Turn the errors of `transformers` for a folder that it cannot open into an AuditError of one line."""
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as error:
        raise AuditError(f"{folder}: no causal language model ({reason(error)}); see `save_pretrained`") from error


def write_model(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, outputs: Sequence[str | Path]) -> None:
    """Write `FILES` to the four paths; `transformers` opens a folder that holds them under these names."""

    def save(folder: str) -> None:
        model.save_pretrained(folder, max_shard_size="1TB")
        tokenizer.save_pretrained(folder)

    _write(save, FILES, outputs)


def write_tokenizer(tokenizer: PreTrainedTokenizerBase, outputs: Sequence[str | Path]) -> None:
    """Write tokenizer.json and tokenizer_config.json to the two paths."""
    _write(tokenizer.save_pretrained, FILES[2:], outputs)


def _write(save: Callable[[str], Any], names: Sequence[str], outputs: Sequence[str | Path]) -> None:
    Path(outputs[0]).parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=Path(outputs[0]).parent) as folder:
        save(folder)
        for name, path in zip(names, outputs, strict=True):
            shutil.move(Path(folder, name), path)


def encode(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], length: int) -> tuple[Ids, Mask]:
    """Return tokens (text, length) and their mask, padded on the right with 0; a longer text is cut at its end.

    The tokenizer adds its default tokens (a llama's begin token). Raises AuditError for a text with fewer than two
    tokens: nothing in it is predicted.
    """
    ids = np.zeros((len(texts), length), dtype=np.int64)
    mask = np.zeros((len(texts), length), dtype=bool)
    # The tokenizer's padding needs a padding token, which not every tokenizer has.
    cut = tokenizer(list(texts), truncation=True, max_length=length)["input_ids"] if len(texts) else []
    for number, tokens in enumerate(cut):
        if len(tokens) < 2:
            raise AuditError(f"text {number + 1} has {len(tokens)} tokens, at least two are needed; leave it out")
        ids[number, : len(tokens)], mask[number, : len(tokens)] = tokens, True
    return ids, mask


def check_length(model: PreTrainedModel, length: int, where: str) -> None:
    """Raise AuditError if the model takes fewer tokens than `length`."""
    config = model.config.get_text_config()
    most = min((getattr(config, name, None) or length for name in LIMITS), default=length)
    if most < length:
        raise AuditError(f"{where}: takes {most} tokens, not {length}; set shorter texts")


def logits(model: PreTrainedModel, ids: Tensor) -> Tensor:
    """Return logits (text, T, V) for ids (text, T), on the model's device and in its type."""
    return model(input_ids=ids.to(model.device), use_cache=False).logits


def losses(model: PreTrainedModel, ids: Tensor, mask: Tensor) -> Tensor:
    """Return the mean cross-entropy (text,) of the tokens of each text after its first, in nats."""
    scored = (mask[:, :-1] & mask[:, 1:]).to(model.device)
    predicted, following = logits(model, ids).float(), ids.to(model.device).roll(-1, 1)
    # Over all places, the last one too, which is not scored: so the logits are neither transposed nor copied.
    each = nn.functional.cross_entropy(predicted.flatten(0, 1), following.flatten(), reduction="none")
    return (each.view(ids.shape)[:, :-1] * scored).sum(1) / scored.sum(1)


@torch.inference_mode()
def mean_loss(model: PreTrainedModel, ids: Ids, mask: Mask, batch: int = 64) -> float:
    """Mean over the texts of `losses`, without dropout."""
    training = model.training
    model.eval()
    parts = zip(torch.from_numpy(ids).split(batch), torch.from_numpy(mask).split(batch), strict=True)
    by_text = torch.cat([losses(model, *part) for part in parts])
    model.train(training)
    return float(by_text.double().mean())
