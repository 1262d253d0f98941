"""Baselines that need further passes of a text: after a prefix, of its neighbours, or by a model of the target's texts.

What an adversary of these attacks knows beside the text: a known member and a known non-member, which are scored by no
attack, frequencies of tokens in public texts, and public texts to prompt the target with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from memaudit.attacks import calibrated_token_scores as calibrated
from memaudit.common import seeds
from memaudit.common.arrays import Array, Mask
from memaudit.common.io import MEBIBYTE
from memaudit.models.language_models import Ids, in_main_memory, logits, open_model
from memaudit.models.language_training import Run, Settings
from memaudit.studies.ltmia.model_pair_queries import BATCH, MEMORY, ModelPair

Texts = tuple[Ids, Mask]  # tokens and mask (text, T)

FURTHER = ("dc_pdd", "recall", "con_recall", "neighbourhood", "self_loss", "spv")
SELF_REFERENCE = {"self_loss", "spv"}  # need a model that is tuned on what the target generates


@dataclass(frozen=True)
class Knowledge:
    """What further baselines know and choose.

    frequency: (token,) of public texts; nonmember, member: (prefix,) tokens of known non-members and known members;
    contrast, ceiling: of Con-ReCaLL and DC-PDD; neighbours, replaced: number of neighbours of a text, and the share of
    its tokens that differ; self_reference: of SELF_REFERENCE, else None.
    """

    frequency: Array
    nonmember: Ids
    member: Ids
    contrast: float
    ceiling: float
    neighbours: int
    replaced: float
    self_reference: PreTrainedModel | None = None

    @classmethod
    def of(
        cls,
        options: Mapping[str, Any],
        members: Texts,
        nonmembers: Texts,
        public: Texts,
        vocabulary: int,
        self_reference: PreTrainedModel | None = None,
    ) -> "Knowledge":
        """Knowledge from known and public texts, a vocabulary of so many tokens, and the options of the config."""
        chosen = {name: options[name] for name in ("contrast", "ceiling", "neighbours", "replaced")}
        inside, outside = (_prefix(texts, options["prefix"]) for texts in (members, nonmembers))
        return cls(
            calibrated.frequencies(*public, vocabulary), outside, inside, **chosen, self_reference=self_reference
        )


def split_known(selection: Texts, known: int) -> tuple[Texts, Texts, Texts]:
    """Known members, known non-members, and the rest of the selection pool, which takes no part in the attacks."""
    parts = [np.split(one, [known // 2, known]) for one in selection]
    return tuple(zip(*parts, strict=True))


def _prefix(texts: Texts, length: int) -> Ids:
    """At most `length` tokens, of each text as many of its first."""
    each = max(1, length // len(texts[0]))
    return np.concatenate([own[kept][:each] for own, kept in zip(*texts, strict=True)])[:length]


def further_scores(
    names: Sequence[str], pair: ModelPair, ids: Ids, mask: Mask, each: Array, known: Knowledge, seed: int
) -> Array:
    """Scores (text, name) of further baselines, `FURTHER`.

    each: likelihoods (text, T) of the tokens by the target, which `query_pair` has read; seed: of the neighbours.
    """
    scored = mask & (np.arange(ids.shape[1]) > 0)
    target = pair.target
    plain, scores = mean(each, scored), {}
    if "dc_pdd" in names:
        scores["dc_pdd"] = calibrated.dc_pdd(each, ids, scored, known.frequency, known.ceiling)
    if {"recall", "con_recall"} & set(names):
        outside = after_prefix(target, known.nonmember, ids, scored)
        scores["recall"] = calibrated.recall(plain, outside)
    if "con_recall" in names:
        inside = after_prefix(target, known.member, ids, scored)
        scores["con_recall"] = calibrated.con_recall(plain, outside, inside, known.contrast)
    if {"neighbourhood", "spv"} & set(names):
        near = list(neighbours(pair.reference, ids, scored, known.neighbours, known.replaced, seed))
        around = likelihoods(target, near, scored)
        scores["neighbourhood"] = calibrated.neighbourhood(plain, around)
    if SELF_REFERENCE & set(names):
        # Read anew, in the batches of the other model: of one and the same model the difference is exactly 0.
        own, other = (mean(token_likelihoods(model, ids), scored) for model in (target, known.self_reference))
        scores["self_loss"] = own - other
    if "spv" in names:
        others = likelihoods(known.self_reference, near, scored)
        scores["spv"] = calibrated.self_calibrated(own, around, other, others)
    return np.column_stack([scores[name] for name in names])


@torch.inference_mode()
def token_likelihoods(model: PreTrainedModel, ids: Ids) -> Array:
    """Log-probability (text, T) of every token given those before it; 0 for the first."""
    values = np.zeros(ids.shape)
    for part in _batches(model, ids):
        tokens = torch.from_numpy(ids[part])
        predicted = logits(model, tokens)[:, :-1].float()
        own = predicted.gather(-1, tokens[:, 1:, None].to(predicted.device))[..., 0] - predicted.logsumexp(-1)
        values[part, 1:] = own.cpu().numpy()
    return values


def after_prefix(model: PreTrainedModel, prefix: Ids, ids: Ids, scored: Mask) -> Array:
    """Mean log-likelihood (text,) of the scored tokens after a prefix (place,).

    Prefix and text share the T places that a model reads: a text is read in as many pieces as fit beside the prefix,
    each right after it.
    """
    values, room = np.zeros(ids.shape), ids.shape[1] - len(prefix)
    for start in range(0, ids.shape[1], room):
        place = slice(start, start + room)
        texts = np.flatnonzero(scored[:, place].any(1))
        piece = ids[texts, place]
        before = np.broadcast_to(prefix, (len(texts), len(prefix)))
        values[texts, place] = token_likelihoods(model, np.concatenate([before, piece], 1))[:, len(prefix) :]
    return mean(values, scored)


def likelihoods(model: PreTrainedModel, versions: Sequence[Ids], scored: Mask) -> Array:
    """Mean log-likelihood (text, version) of several versions (text, T) of each text."""
    return np.column_stack([mean(token_likelihoods(model, ids), scored) for ids in versions])


@torch.inference_mode()
def neighbours(model: PreTrainedModel, ids: Ids, scored: Mask, count: int, share: float, seed: int) -> list[Ids]:
    """`count` versions (text, T) of texts, in each of which other tokens replace a random share of the scored ones.

    At least one token of a text is replaced, by one that `model` predicts there, drawn by its probability among all
    others: in place of the masked language model of Mattern et al. (2023), whose vocabulary is another.
    """
    draw = torch.Generator().manual_seed(seed)
    versions = [ids.copy() for _ in range(count)]
    for part in _batches(model, ids):
        tokens, places = torch.from_numpy(ids[part]), torch.from_numpy(scored[part])
        predicted = logits(model, tokens)[:, :-1].float().cpu()
        replaced = (places.sum(1) * share).round().clamp_min(1)
        for version in versions:
            order = torch.rand(places.shape, generator=draw).masked_fill(~places, 2.0).argsort(1).argsort(1)
            text, place = (order < replaced[:, None]).nonzero(as_tuple=True)
            version[part][text, place] = _others(predicted[text, place - 1], tokens[text, place], draw)
    return versions


def _others(predicted: Tensor, own: Tensor, draw: torch.Generator) -> Ids:
    """A token (n,) other than `own` for each row of logits (n, V), drawn by its probability."""
    chances = predicted.scatter(-1, own[:, None], -torch.inf).softmax(-1)
    return torch.multinomial(chances, 1, generator=draw)[:, 0].numpy()


@torch.inference_mode()
def generated(model: PreTrainedModel, prompts: Ids, length: int, seed: int) -> Ids:
    """Texts (text, length) that start with the prompts (text, place), sampled from the model."""
    draw, ids = torch.Generator().manual_seed(seed), torch.from_numpy(prompts)
    while ids.shape[1] < length:
        chances = logits(model, ids)[:, -1].float().softmax(-1).cpu()
        ids = torch.cat([ids, torch.multinomial(chances, 1, generator=draw)], 1)
    return ids.numpy()


def self_reference(
    pair: ModelPair, base: Path, prompts: Ids, length: int, settings: Settings, seed: int, state: Path
) -> PreTrainedModel:
    """The base in a folder, tuned on what the target generates after prompts (SPV-MIA; Fu et al. 2024, Section 4.2)."""
    texts, device = generated(pair.target, prompts, length, seeds.integer(seed, "generated")), str(pair.target.device)
    with in_main_memory(pair.target, pair.reference):
        model = open_model(base, device)
        return Run(model, (texts, np.ones(texts.shape, bool)), None, settings, seed, state).train()


def mean(values: Array, scored: Mask) -> Array:
    """Mean (text,) of values (text, T) at the scored places."""
    return (values * scored).sum(1) / scored.sum(1)


def _batches(model: PreTrainedModel, ids: Ids) -> list[slice]:
    """Texts that are read at once, within MEMORY MiB of logits."""
    vocabulary = model.get_output_embeddings().weight.shape[0]
    size = max(1, min(BATCH, MEMORY * MEBIBYTE // (4 * ids.shape[1] * vocabulary)))
    return [slice(start, start + size) for start in range(0, len(ids), size)]
