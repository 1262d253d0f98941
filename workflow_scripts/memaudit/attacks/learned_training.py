"""Training of the learned attack on combinations of models and corpora of known membership (LT-MIA, Section 3.3).

The AUC that selects the best epoch is an argument: `statistics.roc.auc`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from memaudit.attacks.learned_classifier import TEXTS, Auc, Classifier, logits, score_rows
from memaudit.attacks.learned_networks import Architecture
from memaudit.attacks.token_features import Rows, TokenFeatures, unpack
from memaudit.common import seeds
from memaudit.common.arrays import Array, Array32, Mask
from memaudit.common.errors import AuditError
from memaudit.common.progress_bar import steps

Moments = tuple[Array32, Array32]  # mean and deviation of every channel

GRADIENT_NORM = 1.0
AT_ONCE = 2048  # texts whose activations are held for the gradient: of 16,384 they take 100 GB
CONSTANT = 1e-6  # a channel that varies less than this share of its mean keeps its own scale


@dataclass(frozen=True)
class Combination:
    """Texts of one fine-tuned model: packed rows (text,), possibly mapped from disk, and membership (text,)."""

    name: str
    rows: Rows
    member: Mask


@dataclass(frozen=True)
class Settings:
    """How a classifier is trained; the default is the paper's. Learning rates are AdamW's.

    An epoch draws as many texts as there are. warmup: epochs over which the learning rate rises; cosine: whether it
    then decays to 0; smoothing: label smoothing towards 1/2; patience: epochs without a better validation AUC after
    which training ends, None for never; best_epoch: whether the epoch with the highest validation AUC is kept, or the
    last.
    """

    epochs: int = 30
    batch: int = 1024
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    warmup: int = 0
    cosine: bool = False
    smoothing: float = 0.0
    patience: int | None = None
    best_epoch: bool = True


# The authors' repository trains a larger network than their paper.
PRESETS = {
    "paper": (Architecture(), Settings()),
    "repository": (
        Architecture(width=192, heads=8, feedforward=576, dropout=0.05),
        Settings(80, 16384, 9.88e-4, weight_decay=0.028, warmup=10, cosine=True, smoothing=0.02),
    ),
}


def settings_of(
    preset: str, architecture: Mapping[str, Any], training: Mapping[str, Any]
) -> tuple[Architecture, Settings]:
    """A preset's architecture and settings, with the values that the mappings change; None changes nothing."""
    changes = [{key: value for key, value in part.items() if value is not None} for part in (architecture, training)]
    if "hidden" in changes[0]:
        changes[0]["hidden"] = tuple(changes[0]["hidden"])
    return tuple(replace(one, **own) for one, own in zip(PRESETS[preset], changes, strict=True))


def train(
    training: Sequence[Combination],
    validation: Sequence[Combination],
    auc: Auc,
    seed: int,
    architecture: Architecture = PRESETS["paper"][0],
    settings: Settings = PRESETS["paper"][1],
    device: str = "cpu",
    moments: Moments | None = None,
) -> Classifier:
    """The classifier of the epoch with the highest AUC on `validation`, the mean over its combinations, or of the last.

    Texts are drawn with replacement, with equal probability for every combination. Features are standardised by the
    training combinations only. Platt's probabilities are fitted on all validation texts, which must not be among the
    training texts. moments: those of the training combinations, where several classifiers learn from the same. On one
    thread of one kind of processor the result is a function of the arguments. Raises AuditError
    for texts of different lengths, texts without a token to predict, a single class, and a loss that is not finite.
    """
    positions, channels = _check(training, validation)
    with torch.random.fork_rng():
        torch.manual_seed(seeds.integer(seed, "ltmia", "classifier", "weights"))
        classifier = Classifier(architecture, positions, channels)
        classifier.mean[:], classifier.deviation[:] = map(torch.from_numpy, moments or moments_of(training))
        classifier.to(device)
        history = _fit(classifier, training, validation, auc, settings, seed)
    pooled = np.concatenate([score_rows(classifier, one.rows) for one in validation])
    curve = platt(pooled, np.concatenate([one.member for one in validation]))
    classifier.platt[:] = torch.tensor(curve, dtype=torch.float64)
    classifier.facts = {
        "settings": asdict(settings),
        "seed": seed,
        "training": {one.name: len(one.rows) for one in training},
        "validation": {one.name: len(one.rows) for one in validation},
        "history": history,
    }
    return classifier


def _fit(classifier, training, validation, auc, settings, seed) -> list[dict[str, float]]:
    """Train in place, restore the kept epoch's weights, and return loss and validation AUC of every epoch."""
    rng = seeds.generator(seed, "ltmia", "classifier", "texts")
    per_epoch = -(-sum(len(one.rows) for one in training) // settings.batch)
    given = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay}
    optimizer = torch.optim.AdamW(classifier.parameters(), **given, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step / per_epoch, settings))
    history, best, weights = [], -1, {}
    for epoch in steps(range(settings.epochs), "classifier"):
        classifier.train()
        losses = []
        for features, member in _batches(training, settings.batch, rng):
            optimizer.zero_grad()
            losses.append(_add_gradients(classifier, features, member, settings.smoothing))
            nn.utils.clip_grad_norm_(classifier.parameters(), GRADIENT_NORM)
            optimizer.step()
            schedule.step()
        if not np.isfinite(losses).all():
            raise AuditError(f"learned attack: the loss of epoch {epoch} is not a number; lower the learning rate")
        reached = float(np.mean([auc(score_rows(classifier, one.rows), one.member) for one in validation]))
        history.append({"loss": float(np.mean(losses)), "validation_auc": reached})
        if not weights or not settings.best_epoch or reached > history[best]["validation_auc"]:
            best, weights = epoch, {name: value.clone() for name, value in classifier.state_dict().items()}
        elif settings.patience is not None and epoch - best >= settings.patience:
            break
    classifier.load_state_dict(weights)
    return history


def _add_gradients(classifier: Classifier, features: TokenFeatures, member: Mask, smoothing: float) -> float:
    """Mean loss of a batch, whose gradients are summed up over AT_ONCE texts at a time."""
    total = 0.0
    for start in range(0, len(member), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        own, texts = TokenFeatures(features.values[part], features.mask[part]), torch.from_numpy(member[part])
        labels = texts.to(classifier.mean) * (1 - smoothing) + smoothing / 2
        loss = binary_cross_entropy_with_logits(logits(classifier, own), labels) * (len(labels) / len(member))
        loss.backward()
        total += loss.item()
    return total


def _rate(epoch: float, settings: Settings) -> float:
    """Share of the learning rate after `epoch` epochs."""
    if epoch < settings.warmup:
        return epoch / settings.warmup
    left = (epoch - settings.warmup) / max(1, settings.epochs - settings.warmup)
    return 0.5 * (1 + np.cos(np.pi * left)) if settings.cosine else 1.0


def _batches(
    combinations: Sequence[Combination], size: int, rng: np.random.Generator
) -> Iterator[tuple[TokenFeatures, Mask]]:
    """An epoch of texts, in batches: a combination is drawn for each, and then one of its texts."""
    texts = np.array([len(one.rows) for one in combinations])
    which = rng.integers(len(texts), size=texts.sum())
    places = (rng.random(len(which)) * texts[which]).astype(int)
    for start in range(0, len(which), size):
        part = slice(start, start + size)
        chosen = [np.sort(places[part][which[part] == number]) for number in range(len(texts))]
        rows = np.concatenate([one.rows[own] for one, own in zip(combinations, chosen, strict=True)])
        member = np.concatenate([one.member[own] for one, own in zip(combinations, chosen, strict=True)])
        yield unpack(rows), member


def moments_of(combinations: Sequence[Combination]) -> Moments:
    """Mean and deviation of every channel over the tokens, with equal weight for every combination."""
    moments = []
    for one in combinations:
        total, tokens = 0.0, 0
        for start in range(0, len(one.rows), TEXTS):
            features = unpack(one.rows[start : start + TEXTS])
            values = features.values[features.mask].astype(np.float64)
            total, tokens = total + np.stack([values.sum(0), (values**2).sum(0)]), tokens + len(values)
        moments.append(total / tokens)
    mean, square = np.mean(moments, 0)
    deviation = np.sqrt(np.maximum(square - mean**2, 0))
    constant = deviation < CONSTANT * (1 + np.abs(mean))
    return mean.astype(np.float32), np.where(constant, 1, deviation).astype(np.float32)


def platt(scores: Array, member: Mask) -> tuple[float, float]:
    """Slope and intercept of the logistic curve, with Platt's targets: finite where the classes do not overlap."""
    members, others = np.count_nonzero(member), np.count_nonzero(~member)
    chance = np.where(member, (members + 1) / (members + 2), 1 / (others + 2))
    both = np.concatenate([np.ones(len(member), bool), np.zeros(len(member), bool)])
    fitted = LogisticRegression(C=np.inf, max_iter=1000).fit(
        np.tile(scores, 2)[:, None], both, np.concatenate([chance, 1 - chance])
    )
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])


def _check(training: Sequence[Combination], validation: Sequence[Combination]) -> tuple[int, int]:
    """Positions and channels of all combinations."""
    shapes = {one.rows.dtype["values"].shape for one in (*training, *validation)}
    if not training or not validation or len(shapes) > 1:
        raise AuditError(
            f"learned attack: {len(training)} combinations to train on, {len(validation)} to validate on, with features"
            f" of {len(shapes)} shapes; give at least one of each, all of one shape"
        )
    for one in (*training, *validation):
        if one.member.all() or not one.member.any():
            raise AuditError(f"learned attack: {one.name} has only members or only non-members; give it texts of both")
        if not one.rows["mask"].any(1).all():
            raise AuditError(f"learned attack: {one.name} has a text without a token to predict; leave it out")
    return shapes.pop()
