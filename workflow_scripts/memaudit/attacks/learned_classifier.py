"""The learned attack: a classifier of texts as members by the features of their tokens (LT-MIA, Section 3.3).

`learned_training.train` trains it; it is applied to models that were not part of the training.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from memaudit.attacks.learned_networks import Architecture, network
from memaudit.attacks.token_features import SEQUENCE, Rows, TokenFeatures, unpack
from memaudit.common.arrays import Array, Array32, Mask
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import DAMAGED, read_json, readable, replacing, write_json
from memaudit.models.model_files import UNREADABLE, reason

Auc = Callable[[Array, Mask], float]

TEXTS = 256  # per forward pass without gradients
DIFFERENCE = -SEQUENCE - 1  # channel of the tokens' loss difference


class Classifier(nn.Module):
    """A network with the mean and deviation of its training features, and Platt's slope and intercept.

    facts: of its training, for the card.
    """

    def __init__(self, architecture: Architecture, positions: int, channels: int) -> None:
        super().__init__()
        self.facts: dict[str, Any] = {}
        self.architecture, self.positions, self.channels = architecture, positions, channels
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("deviation", torch.ones(channels))
        self.register_buffer("platt", torch.tensor([1.0, 0.0], dtype=torch.float64))  # slope, intercept
        self.network = network(architecture, positions, channels)

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """Logits (text,) of features (text, T, channel) as extracted, and their mask (text, T)."""
        clamp = self.architecture.clamp
        scaled = ((values - self.mean) / self.deviation).clamp(-clamp, clamp)
        return self.network(scaled * mask[..., None], mask)


@torch.inference_mode()
def apply(classifier: Classifier, values: Array32, mask: Mask) -> Array:
    """Scores (text,) of features (text, T, channel) and their mask (text, T); higher = more likely a member.

    Raises AuditError for a text without a token to predict, and for features of another shape than in training.
    """
    _check_shape(classifier, values, mask)
    classifier.eval()
    parts = [slice(start, start + TEXTS) for start in range(0, len(values), TEXTS)]
    scores = [logits(classifier, TokenFeatures(values[part], mask[part])) for part in parts]
    return torch.cat([*scores, torch.empty(0, device=classifier.mean.device)]).double().cpu().numpy()


def score_rows(classifier: Classifier, rows: Rows) -> Array:
    """Scores (text,) of packed rows, of which few are in memory at once."""
    return np.concatenate([apply(classifier, part.values, part.mask) for part in _unpacked(rows)])


def log_odds(classifier: Classifier, features: TokenFeatures) -> Array:
    """Log-odds of membership (text,) at the validation set's share of members (Platt 1999).

    0, even odds, for a text that target and reference predict exactly alike.
    """
    slope, intercept = classifier.platt.tolist()
    odds = slope * apply(classifier, features.values, features.mask) + intercept
    odds[~features.values[..., DIFFERENCE].any(1)] = 0.0
    return odds


def odds_of_rows(classifier: Classifier, rows: Rows) -> Array:
    """`log_odds` of packed rows, of which few are in memory at once."""
    return np.concatenate([log_odds(classifier, part) for part in _unpacked(rows)])


def permuted_odds(
    classifier: Classifier, features: TokenFeatures, groups: Mapping[str, Sequence[int]], rng: np.random.Generator
) -> dict[str, Array]:
    """`log_odds` (text,) with a group of channels permuted among texts, all positions together (Figure 3).

    Texts should be of one length: the group of a shorter text is zero at the positions that it lacks.
    """
    odds = {}
    for group, numbers in groups.items():
        permuted = features.values.copy()
        permuted[..., numbers] = features.values[rng.permutation(len(permuted))][..., numbers]
        odds[group] = log_odds(classifier, TokenFeatures(permuted, features.mask))
    return odds


def save(classifier: Classifier, weights: str | Path, card: str | Path) -> None:
    """Write the classifier: its tensors as safetensors, its shape and training facts as JSON."""
    state = {name: value.cpu().contiguous() for name, value in classifier.state_dict().items()}
    with replacing(weights) as temporary:
        save_file(state, temporary)
    shape = {"architecture": asdict(classifier.architecture)}
    shape |= {"positions": classifier.positions, "channels": classifier.channels}
    shape |= {"parameters": sum(weight.numel() for weight in classifier.parameters()), "sha256": sha256(weights)}
    write_json(shape | {"facts": classifier.facts}, card)


def load(weights: str | Path, card: str | Path, device: str = "cpu") -> Classifier:
    """The saved classifier, bit for bit. Raises AuditError for files that are damaged or do not belong together."""
    described = read_json(card)
    with readable(weights):
        if sha256(weights) != described.get("sha256"):
            raise AuditError(f"{weights}: not the weights that {card} describes; {DAMAGED}")
    try:
        sizes = described["architecture"]
        architecture = Architecture(**sizes | {"hidden": tuple(sizes["hidden"])})
        with torch.random.fork_rng():  # initial weights are drawn, and replaced at once
            classifier = Classifier(architecture, described["positions"], described["channels"])
        classifier.load_state_dict(load_file(weights))
        classifier.facts = described["facts"]
    except UNREADABLE as error:
        raise AuditError(f"{card}: no classifier of this attack ({reason(error)}); {DAMAGED}") from error
    return classifier.to(device).eval()


def logits(classifier: Classifier, features: TokenFeatures) -> Tensor:
    """The classifier's logits (text,), differentiable in its weights, on its device."""
    values, mask = torch.from_numpy(features.values), torch.from_numpy(features.mask)
    return classifier(values.to(classifier.mean), mask.to(classifier.mean.device))


def _unpacked(rows: Rows) -> Iterator[TokenFeatures]:
    return (unpack(rows[start : start + TEXTS]) for start in range(0, len(rows), TEXTS))


def _check_shape(classifier: Classifier, values: Array32, mask: Mask) -> None:
    flat = classifier.architecture.kind in {"flat_mlp", "logistic"}
    positions = classifier.positions if flat else values.shape[1]
    if values.shape[1:] != (positions, classifier.channels) or mask.shape != values.shape[:2]:
        expected = (positions, classifier.channels)
        raise AuditError(
            f"learned attack: features {values.shape} with mask {mask.shape}, where a text should have {expected};"
            " extract them as for the training"
        )
    if not mask.any(1).all():
        text = int(np.argmin(mask.any(1)))
        raise AuditError(
            f"learned attack: text {text} has no token to predict; leave out texts of fewer than two tokens"
        )
