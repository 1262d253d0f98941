"""The learned attack: a classifier of texts as members by the features of their tokens (LT-MIA, Section 3.3).

`learned_training.train` trains it; it is applied to models that were not part of the training.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray
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
CARD_LENGTH = 8  # bytes, of the length of a card before its weights
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
        scaled = (values - self.mean).div_(self.deviation).clamp_(-clamp, clamp)
        return self.network(scaled.mul_(mask[..., None]), mask)


class Ensemble(nn.Module):
    """Several classifiers of one shape and one standardisation, whose log-odds are averaged."""

    def __init__(self, members: Sequence[Classifier]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.architecture, self.positions = members[0].architecture, members[0].positions
        self.channels, self.facts = members[0].channels, members[0].facts
        self.mean, self.deviation = members[0].mean, members[0].deviation


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


def log_odds(classifier: Classifier | Ensemble, features: TokenFeatures) -> Array:
    """Log-odds of membership (text,) at the validation set's share of members (Platt 1999); of several, their mean.

    0, even odds, for a text that target and reference predict exactly alike.
    """
    return odds_by_seed(classifier, features).mean(1)


def odds_by_seed(classifier: Classifier | Ensemble, features: TokenFeatures) -> Array:
    """`log_odds` of each member of an ensemble, (text, seed)."""
    odds = []
    for member in members_of(classifier):
        slope, intercept = member.platt.tolist()
        odds.append(slope * apply(member, features.values, features.mask) + intercept)
    changed = features.values[..., DIFFERENCE].any(1)
    return np.where(changed[:, None], np.stack(odds, 1), 0.0)


def odds_of_rows(classifier: Classifier | Ensemble, rows: Rows) -> Array:
    """`log_odds` of packed rows, of which few are in memory at once."""
    return odds_of_rows_by_seed(classifier, rows).mean(1)


def odds_of_rows_by_seed(classifier: Classifier | Ensemble, rows: Rows) -> Array:
    """`odds_by_seed` of packed rows, (text, seed), of which few are in memory at once."""
    return np.concatenate([odds_by_seed(classifier, part) for part in _unpacked(rows)])


def members_of(classifier: Classifier | Ensemble) -> Sequence[Classifier]:
    """The classifiers of an ensemble, or the one."""
    return classifier.members if isinstance(classifier, Ensemble) else [classifier]


def permuted_odds(
    classifier: Classifier | Ensemble,
    features: TokenFeatures,
    groups: Mapping[str, Sequence[int]],
    rng: np.random.Generator,
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


def save(classifier: Classifier | Ensemble, weights: str | Path, card: str | Path) -> None:
    """Write the classifier, or all of an ensemble: tensors as safetensors, shape and training facts as JSON."""
    with replacing(weights) as temporary:
        save_file(_state(classifier), temporary)
    write_json(_card(classifier) | {"sha256": sha256(weights)}, card)


def load(weights: str | Path, card: str | Path, device: str = "cpu") -> Classifier | Ensemble:
    """The saved classifier, bit for bit. Raises AuditError for files that are damaged or do not belong together."""
    described = read_json(card)
    with readable(weights):
        if sha256(weights) != described.get("sha256"):
            raise AuditError(f"{weights}: not the weights that {card} describes; {DAMAGED}")
    try:
        return _restored(described, load_file(weights), device)
    except UNREADABLE as error:
        raise AuditError(f"{card}: no classifier of this attack ({reason(error)}); {DAMAGED}") from error


def to_bytes(classifier: Classifier | Ensemble) -> NDArray[np.uint8]:
    """What `save` writes, as one array for a part of a long job: the card's length, the card, the weights."""
    card = json.dumps(_card(classifier)).encode()
    kept = len(card).to_bytes(CARD_LENGTH, "little") + card + safetensors.torch.save(_state(classifier))
    return np.frombuffer(kept, dtype=np.uint8)


def from_bytes(kept: NDArray[np.uint8], device: str = "cpu") -> Classifier | Ensemble:
    """The classifier of `to_bytes`, bit for bit."""
    read = kept.tobytes()
    weights = CARD_LENGTH + int.from_bytes(read[:CARD_LENGTH], "little")
    return _restored(json.loads(read[CARD_LENGTH:weights]), safetensors.torch.load(read[weights:]), device)


def _state(classifier: Classifier | Ensemble) -> dict[str, Tensor]:
    """Tensors of all members on the CPU, by number and name."""
    return {
        f"{number}.{name}": value.cpu().contiguous().clone()
        for number, member in enumerate(members_of(classifier))
        for name, value in member.state_dict().items()
    }


def _card(classifier: Classifier | Ensemble) -> dict[str, Any]:
    """Shape and training facts."""
    members = members_of(classifier)
    shape = {"architecture": asdict(classifier.architecture), "members": len(members)}
    shape |= {"positions": classifier.positions, "channels": classifier.channels}
    shape |= {"parameters": sum(weight.numel() for weight in members[0].parameters())}
    return shape | {"facts": classifier.facts}


def _restored(card: Mapping[str, Any], state: Mapping[str, Tensor], device: str) -> Classifier | Ensemble:
    """The classifier of a card and a state."""
    sizes = card["architecture"]
    architecture = Architecture(**sizes | {"hidden": tuple(sizes["hidden"])})
    with torch.random.fork_rng():  # initial weights are drawn, and replaced at once
        shape = (architecture, card["positions"], card["channels"])
        members = [Classifier(*shape).to(device) for _ in range(card["members"])]
    for number, member in enumerate(members):
        first = f"{number}."
        own = {name.removeprefix(first): value for name, value in state.items() if name.startswith(first)}
        member.load_state_dict(own)
    classifier = Ensemble(members) if len(members) > 1 else members[0]
    classifier.facts = card["facts"]
    return classifier.eval()


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
