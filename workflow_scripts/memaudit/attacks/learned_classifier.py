"""An attack that is learnt: a classifier of texts by the features of their tokens (LT-MIA, Section 3.3).

`learned_training.train` makes one; it is applied to models that it has never seen.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from memaudit.arrays import Array, Mask
from memaudit.attacks.learned_networks import Architecture, network
from memaudit.attacks.token_features import SEQUENCE, Rows, TokenFeatures, unpack
from memaudit.checksums import sha256
from memaudit.errors import AuditError
from memaudit.io import DAMAGED, read_json, readable, replacing, write_json
from memaudit.models.model_files import UNREADABLE, reason

Auc = Callable[[Array, Mask], float]

TEXTS = 256  # per forward pass without gradients
DIFFERENCE = -SEQUENCE - 1  # the channel of the tokens' differences in loss


class Classifier(nn.Module):
    """A network with the scale of its training's features, and what turns its scores into probabilities.

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
def apply(classifier: Classifier, values: NDArray[np.float32], mask: Mask) -> Array:
    """Scores (text,) of features (text, T, channel) and their mask (text, T); higher = more likely a member.

    Raises AuditError for a text without a token to predict, and for features of another shape than in training.
    """
    _check_shape(classifier, values, mask)
    classifier.eval()
    parts = [slice(start, start + TEXTS) for start in range(0, len(values), TEXTS)]
    found = [logits(classifier, TokenFeatures(values[part], mask[part])) for part in parts]
    return torch.cat([*found, torch.empty(0, device=classifier.mean.device)]).double().cpu().numpy()


def score_rows(classifier: Classifier, rows: Rows) -> Array:
    """Scores (text,) of packed rows, of which no more than a few are in memory at once."""
    parts = (unpack(rows[start : start + TEXTS]) for start in range(0, len(rows), TEXTS))
    return np.concatenate([apply(classifier, part.values, part.mask) for part in parts])


def log_odds(classifier: Classifier, features: TokenFeatures) -> Array:
    """Log-odds of membership (text,) where as many texts are members as in the validation set (Platt 1999).

    A text of which target and reference say exactly the same is no evidence either way: 0, even odds.
    """
    slope, intercept = classifier.platt.tolist()
    odds = slope * apply(classifier, features.values, features.mask) + intercept
    odds[~features.values[..., DIFFERENCE].any(1)] = 0.0
    return odds


def odds_of_rows(classifier: Classifier, rows: Rows) -> Array:
    """`log_odds` of packed rows, of which no more than a few are in memory at once."""
    parts = (unpack(rows[start : start + TEXTS]) for start in range(0, len(rows), TEXTS))
    return np.concatenate([log_odds(classifier, part) for part in parts])


def permuted_odds(
    classifier: Classifier, features: TokenFeatures, groups: Mapping[str, Sequence[int]], rng: np.random.Generator
) -> dict[str, Array]:
    """`log_odds` (text,) when a group of channels is dealt to other texts, at all positions together (Figure 3).

    Texts should be of one length: of a shorter one the group is zero at the positions that it lacks.
    """
    found = {}
    for group, numbers in groups.items():
        dealt = features.values.copy()
        dealt[..., numbers] = features.values[rng.permutation(len(dealt))][..., numbers]
        found[group] = log_odds(classifier, TokenFeatures(dealt, features.mask))
    return found


def save(classifier: Classifier, weights: str | Path, card: str | Path) -> None:
    """Write the classifier: its tensors as safetensors, what it is and how it was trained as JSON."""
    state = {name: value.cpu().contiguous() for name, value in classifier.state_dict().items()}
    with replacing(weights) as temporary:
        save_file(state, temporary)
    shape = {"architecture": asdict(classifier.architecture)}
    shape |= {"positions": classifier.positions, "channels": classifier.channels}
    shape |= {"parameters": sum(weight.numel() for weight in classifier.parameters()), "sha256": sha256(weights)}
    write_json(shape | {"facts": classifier.facts}, card)


def load(weights: str | Path, card: str | Path, device: str = "cpu") -> Classifier:
    """The classifier that was saved, to the bit. Raises AuditError for files that are damaged or not of one another."""
    found = read_json(card)
    with readable(weights):
        if sha256(weights) != found.get("sha256"):
            raise AuditError(f"{weights}: not the weights that {card} describes; {DAMAGED}")
    try:
        architecture = Architecture(**found["architecture"] | {"hidden": tuple(found["architecture"]["hidden"])})
        with torch.random.fork_rng():  # fresh weights are drawn, and at once replaced
            classifier = Classifier(architecture, found["positions"], found["channels"])
        classifier.load_state_dict(load_file(weights))
        classifier.facts = found["facts"]
    except UNREADABLE as error:
        raise AuditError(f"{card}: no classifier of this attack ({reason(error)}); {DAMAGED}") from error
    return classifier.to(device).eval()


def logits(classifier: Classifier, features: TokenFeatures) -> Tensor:
    """The classifier's logits (text,), differentiable in its weights, on its device."""
    values, mask = torch.from_numpy(features.values), torch.from_numpy(features.mask)
    return classifier(values.to(classifier.mean), mask.to(classifier.mean.device))


def _check_shape(classifier: Classifier, values: NDArray[np.float32], mask: Mask) -> None:
    flat = classifier.architecture.kind in {"flat_mlp", "logistic"}
    positions = classifier.positions if flat else values.shape[1]
    if values.shape[1:] != (positions, classifier.channels) or mask.shape != values.shape[:2]:
        wanted = (positions, classifier.channels)
        raise AuditError(
            f"learned attack: features {values.shape} with mask {mask.shape}, where a text should have {wanted};"
            " extract them as for the training"
        )
    if not mask.any(1).all():
        text = int(np.argmin(mask.any(1)))
        raise AuditError(
            f"learned attack: text {text} has no token to predict; leave out texts of fewer than two tokens"
        )
