"""Features and baseline scores of texts, from a fine-tuned language model and its base.

Both models read every text once, batch by batch; only features and scores of a text are kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from memaudit.attacks.token_features import K, extract, pack, row_type
from memaudit.attacks.token_scores import all_scores, likelihoods, tokens
from memaudit.common.arrays import Mask
from memaudit.common.errors import AuditError
from memaudit.common.io import MEBIBYTE
from memaudit.common.progress_bar import steps
from memaudit.models.language_models import Ids, check_length, encode, logits, open_model, open_tokenizer

BATCH = 64  # most texts of a forward pass
PART = 256  # texts between checkpoints
MEMORY = 256  # MiB of both models' logits
BASELINES = ("loss", "min_k", "min_k_plus_plus", "zlib", "ref_loss", "ez_published", "ez")


@dataclass(frozen=True)
class ModelPair:
    """A fine-tuned model and its base."""

    target: PreTrainedModel
    reference: PreTrainedModel


def open_pair(
    target: Path, reference: Path, length: int, device: str = "cpu", dtype: torch.dtype = torch.float32
) -> ModelPair:
    """The models in two folders. Raises AuditError for two architectures, or one that takes no text of that length.

    Vocabularies of two sizes are accepted: see `query_pair`.
    """
    models = [open_model(folder, device, dtype) for folder in (target, reference)]
    for folder, model in zip((target, reference), models, strict=True):
        check_length(model, length, str(folder))
    types = [model.config.model_type for model in models]
    if types[0] != types[1]:
        raise AuditError(
            f"{target} is a {types[0]}, {reference} a {types[1]}; give the model that the target was fine-tuned from"
        )
    return ModelPair(*models)


def encode_for(target: Path, reference: Path, texts: Sequence[str], length: int) -> tuple[Ids, Mask]:
    """Tokens and mask (text, length) that both models read.

    A target's folder without a tokenizer uses its base's. Raises AuditError if the two tokenize a text differently.
    """
    encoded = encode(open_tokenizer(reference), texts, length)
    if any(Path(target).glob("token*")) or (Path(target) / "vocab.json").is_file():
        other = encode(open_tokenizer(target), texts, length)
        differ = (encoded[0] != other[0]).any(1) | (encoded[1] != other[1]).any(1)
        if differ.any():
            raise AuditError(
                f"{target}: its tokenizer and that of {reference} tokenize text {int(differ.argmax()) + 1} differently;"
                " give the model that the target was fine-tuned from"
            )
    return encoded


@torch.inference_mode()
def query_pair(
    pair: ModelPair, ids: Ids, mask: Mask, texts: Sequence[str], k: int = K, memory: int = MEMORY
) -> NDArray[np.void]:
    """One record (text,) per text: `row`, its packed features, `scores`, its `BASELINES`, and `likelihoods`.

    likelihoods: log-probability (T,) of every token by the target, given those before it; 0 for the first.
    texts: what the tokens spell (`scored_texts`), which zlib compresses.
    If one model has more tokens than the other (a resized vocabulary, padding rows), the additional tokens are left
    out, and probabilities are those among the common tokens. memory: MiB for the logits of both. Raises AuditError for
    logits that are not finite, as half precision may give, and for tokens beyond the common ones.
    """
    records = np.empty(len(ids), _record_type(ids.shape[1], k))
    known = min(_vocabulary(model) for model in (pair.target, pair.reference))
    size = max(1, min(BATCH, memory * MEBIBYTE // (2 * 4 * ids.shape[1] * known)))
    for start in range(0, len(ids), size):
        part = slice(start, start + size)
        try:
            records[part] = _query_batch(
                pair, torch.from_numpy(ids[part]), torch.from_numpy(mask[part]), texts[part], known, k
            )
        except AuditError as error:
            raise AuditError(f"of texts {start + 1} to {min(start + size, len(ids))}: {error}") from error
    return records


def scored_texts(tokenizer: PreTrainedTokenizerBase, ids: Ids, mask: Mask) -> list[str]:
    """The part of each text that models read: what its tokens spell, where a longer text is cut."""
    return tokenizer.batch_decode([own[kept] for own, kept in zip(ids, mask, strict=True)], skip_special_tokens=True)


def in_parts(
    texts: int, compute: Callable[[slice], NDArray], part: Callable[..., NDArray], label: str, prefix: str = ""
) -> NDArray:
    """Results (text, ...) of `compute`, PART texts at a time; part: keeps a part by its name (Scratch.part)."""
    places = [slice(start, start + PART) for start in range(0, texts, PART)]
    return np.concatenate(
        [
            part(f"{prefix}{place.start:08d}", lambda place=place: compute(place))
            for place in steps(places, label, unit=f"x{PART}")
        ]
    )


def check_changed(table: pd.DataFrame, where: str) -> None:
    """Raise AuditError if target and base predict every text alike: fine-tuning changed nothing."""
    if len(table) and not table["ref_loss"].any():
        raise AuditError(f"{where}: target and base predict every text alike; raise epochs or the learning rate")


def _query_batch(
    pair: ModelPair, ids: Tensor, mask: Tensor, texts: Sequence[str], known: int, k: int
) -> NDArray[np.void]:
    of_models = [logits(model, ids)[..., :known] for model in (pair.target, pair.reference)]
    rows = pack(extract(*of_models, ids, mask, k))
    target = tokens(of_models[0], ids, mask)
    scores = all_scores(target, likelihoods(of_models[1], ids, mask), texts)
    records = np.empty(len(ids), _record_type(ids.shape[1], k))
    records["row"], records["scores"] = rows, np.column_stack([scores[name] for name in BASELINES])
    records["likelihoods"] = np.roll(target.log_probability, 1, axis=1)  # a text's last position predicts nothing
    return records


def _record_type(length: int, k: int) -> np.dtype:
    row = row_type(length, 7 * k + 14)
    return np.dtype([("row", row), ("scores", "f8", len(BASELINES)), ("likelihoods", "f4", length)])


def _vocabulary(model: PreTrainedModel) -> int:
    return model.get_output_embeddings().weight.shape[0]
