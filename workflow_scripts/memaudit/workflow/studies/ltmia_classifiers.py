"""What the classifiers of the study ltmia cost: operations by their shapes, and seconds in which texts are read.

Values of `attacks/learned_networks.py` and `attacks/learned_training.py` stand here again, since a plan does without
the packages that those need.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from memaudit.workflow.model_passes import Load

CHANNELS = 154  # of the features of a token
# Shape and training of each arm, of which a classifier's entry changes some.
ARMS = {
    "paper": {"width": 128, "feedforward": 256, "layers": 2, "hidden": [256, 128], "epochs": 30, "cosine": False},
    "repository": {"width": 192, "feedforward": 576, "layers": 2, "hidden": [256, 128], "epochs": 80, "cosine": True},
}
# CPU seconds in which a token's features are unpacked, with a GPU, too: about what the classifiers with the fewest
# operations of the default run take beside their start (0.3 and 0.6 microseconds).
READING = 5e-7


@dataclass(frozen=True)
class Classifiers:
    """Classifiers of one entry of ltmia/classifiers, for texts of `length` tokens."""

    entry: Mapping[str, Any]
    length: int

    def value(self, key: str) -> Any:
        """A value of the shape or of the training: of the entry, else of its arm."""
        own = self.entry["training"].get(key, self.entry["architecture"].get(key))
        return ARMS[self.entry["arm"]][key] if own is None else own

    @property
    def weights(self) -> float:
        """Weights of one classifier; biases are left out."""
        _, once, everywhere = self._weights()
        return once + everywhere

    @property
    def operations(self) -> float:
        """Operations of a text's forward pass: two for each weight and use, and the products of attention."""
        attention, once, everywhere = self._weights()
        return 2 * (once + self.length * everywhere) + attention

    def _weights(self) -> tuple[float, float, float]:
        """Operations of attention of a text, weights that are used once for it, and weights used for each token."""
        kind, inputs = self.entry["architecture"]["kind"], self.length * CHANNELS
        if kind == "transformer":
            width, layers = self.value("width"), self.value("layers")
            of_layers = layers * (4 * width**2 + 2 * width * self.value("feedforward"))
            pooled = width * (width // 2) + width // 2
            return 4 * layers * width * self.length**2, width**2 + width, CHANNELS * width + of_layers + pooled
        widths = {
            "flat_mlp": [inputs, *self.value("hidden"), 1],
            "mean_mlp": [CHANNELS, *self.value("hidden"), 1],
            "logistic": [inputs, 1],
        }
        return 0, sum(before * after for before, after in pairwise(widths[kind])), 0

    @property
    def epochs(self) -> int:
        """Epochs of the classifiers that are kept, at most: they are chosen by the run."""
        return max(self.entry["choice"]["epochs"] or [self.value("epochs")])

    def scoring(self, texts: float, number: int = 1, reads: int = 1) -> Load:
        """So many classifiers' scores of texts that are read so many times."""
        return Load(texts * number * self.operations, texts * reads * self.length * READING)

    def training(self, texts: float, validated: float, epochs: int | None = None) -> Load:
        """One training: three forward passes for a text that it draws, one for each of the validation in each epoch.

        Both are read each time, the texts once more for their moments, the validation for Platt's probabilities.
        """
        epochs = self.epochs if epochs is None else epochs
        passes = 3 * epochs * texts + (epochs + 1) * validated
        return Load(passes * self.operations, (epochs + 1) * (texts + validated) * self.length * READING)

    def choosing(self, names: Sequence[Sequence[str]], most: int, trained: float, validated: float) -> Load:
        """Trainings by which settings are chosen, on folds of the combinations: `learned_selection.choose`.

        names: of the combinations of training; most: folds; trained, validated: texts of each combination.
        """
        choice = self.entry["choice"]
        by_settings = max(1, len(choice["weight_decay"])) * max(1, len(choice["clamp"]))
        if by_settings * max(1, len(choice["epochs"])) == 1:
            return Load()
        # With a constant learning rate the longest training shows the others, too.
        epochs = choice["epochs"] if choice["epochs"] and self.value("cosine") else [self.epochs]
        left, kept, number = _folds(names, most)
        load = Load()
        for one in epochs:
            load += self.training(kept * trained, left * (trained + validated), one).times(by_settings * number)
        return load


def _folds(names: Sequence[Sequence[str]], most: int) -> tuple[float, float, int]:
    """Combinations that a fold leaves out and keeps, their means; and folds."""
    pairs = {(model, corpus) for model, corpus, _ in names}
    counts = []
    for model, corpus in pairs:
        left = sum(tuple(name[:2]) == (model, corpus) for name in names)
        kept = sum(name[0] != model and name[1] != corpus for name in names)
        counts += [(left, kept)] if kept else []
    lefts, kepts = zip(*counts, strict=True) if counts else ((0,), (0,))
    return fmean(lefts), fmean(kepts), min(most, len(counts))
