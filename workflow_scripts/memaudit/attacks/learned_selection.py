"""Choice of a classifier's epochs, weight decay and clamp by its transfer to left-out models and corpora.

Validation on new texts of the training combinations cannot see transfer: with more epochs it stays, while held-out
combinations get worse. Here each fold leaves out one (model, corpus) of the training grid with every other combination
of that model or of that corpus, as held-out combinations share neither with the training.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from memaudit.attacks.learned_classifier import Auc, Classifier, Ensemble
from memaudit.attacks.learned_networks import Architecture
from memaudit.attacks.learned_training import Combination, Moments, Settings, moments_of, train
from memaudit.common import seeds
from memaudit.common.errors import AuditError

NULL_SHARE = 0.25  # of the texts, for each classifier of shuffled labels
Name = tuple[str, str, str]
Parts = Mapping[Name, tuple[Combination, Combination]]  # training and validation texts of each combination
Fitting = tuple[Architecture, Settings]
# Takes the name of a training and a function that does it, and returns its classifier, which it may have kept.
Keep = Callable[[str, Callable[[], Classifier]], Classifier]


def anew(name: str, fit: Callable[[], Classifier]) -> Classifier:
    """The classifier of a training that is done whenever it is needed, and kept nowhere."""
    return fit()


@dataclass(frozen=True)
class Candidates:
    """Values to choose from; of an empty list the fitting's own value is kept.

    epochs: () keeps the epoch of the highest AUC on new texts of the training combinations, as in the paper.
    """

    epochs: Sequence[int] = ()
    weight_decay: Sequence[float] = ()
    clamp: Sequence[float] = ()

    def fittings(self, fitting: Fitting) -> list[Fitting]:
        """The fitting with every combination of the candidates, in their order."""
        architecture, settings = fitting
        own = (self.weight_decay or [settings.weight_decay], self.clamp or [architecture.clamp])
        kept = {"patience": None, "best_epoch": False} if self.epochs else {}
        return [
            (replace(architecture, clamp=clamp), replace(settings, weight_decay=decay, epochs=epochs, **kept))
            for decay, clamp, epochs in product(*own, self.epochs or [settings.epochs])
        ]


def folds(names: Sequence[Name], most: int) -> list[tuple[list[Name], list[Name]]]:
    """Left-out and kept combinations of at most `most` folds of the training grid.

    A fold leaves out one (model, corpus); folds are spread so that models and corpora recur as seldom as they can.
    Raises AuditError where no fold keeps a combination.
    """
    models, corpora = (list(dict.fromkeys(name[place] for name in names)) for place in (0, 1))
    pairs = {(model, corpus) for model, corpus, _ in names}
    # Diagonals of the grid, one after the other: m of them leave out each model and each corpus once.
    order = sorted(pairs, key=lambda pair: _diagonal(models.index(pair[0]), corpora.index(pair[1]), len(corpora)))
    found = []
    for model, corpus in order:
        kept = [name for name in names if model != name[0] and corpus != name[1]]
        if kept and len(found) < most:
            found.append(([name for name in names if name[:2] == (model, corpus)], kept))
    if not found:
        raise AuditError(
            "ltmia/classifiers: nothing can be chosen by transfer: ltmia/training needs two models and two corpora"
        )
    return found


def _diagonal(model: int, corpus: int, corpora: int) -> tuple[int, int]:
    return (corpus - model) % corpora, model


def choose(
    parts: Parts,
    candidates: Candidates,
    fitting: Fitting,
    most: int,
    auc: Auc,
    seed: int,
    device: str = "cpu",
    keep: Keep = anew,
) -> tuple[Fitting, list[dict[str, Any]]]:
    """The fitting with the highest mean AUC over left-out folds of the training grid, and all that were compared.

    A left-out combination is scored on all its texts, of which none has trained the fold's classifier with any model.
    Of equal AUCs the first is taken. With a constant learning rate one training serves all numbers of epochs.
    """
    fittings = candidates.fittings(fitting)
    if len(fittings) == 1:
        return fittings[0], []
    chosen = folds(list(parts), most)
    reached: dict[int, list[float]] = {number: [] for number in range(len(fittings))}
    for fold, (left_out, kept) in enumerate(chosen):
        training = [parts[name][0] for name in kept]
        tested, moments = [part for name in left_out for part in parts[name]], _once(training)
        for architecture, settings, numbers in _trainings(fittings):
            of_fold = partial(_train, moments, training, tested, auc, seed, (architecture, settings), device)
            history = keep(f"fold-{fold}-{numbers[0]}", of_fold).facts["history"]
            for number in numbers:
                reached[number].append(history[fittings[number][1].epochs - 1]["validation_auc"])
    compared = [
        {
            "epochs": settings.epochs,
            "weight_decay": settings.weight_decay,
            "clamp": architecture.clamp,
            "left_out_auc": float(np.mean(reached[number])),
            "folds": len(chosen),
        }
        for number, (architecture, settings) in enumerate(fittings)
    ]
    best = max(range(len(fittings)), key=lambda number: compared[number]["left_out_auc"])
    return fittings[best], compared


def _trainings(fittings: Sequence[Fitting]) -> list[tuple[Architecture, Settings, list[int]]]:
    """Trainings that show the AUCs of all fittings: those that differ in epochs alone share the longest one."""
    shared: dict[Any, list[int]] = {}
    for number, (architecture, settings) in enumerate(fittings):
        same = settings if settings.cosine else replace(settings, epochs=0)
        shared.setdefault((architecture, same), []).append(number)
    longest = [max(numbers, key=lambda number: fittings[number][1].epochs) for numbers in shared.values()]
    return [(*fittings[first], numbers) for first, numbers in zip(longest, shared.values(), strict=True)]


def _once(training: Sequence[Combination]) -> Callable[[], Moments]:
    """Moments of the training, which reads all its texts, when they are first needed."""
    return cache(lambda: moments_of(training))


def _train(
    moments: Callable[[], Moments],
    training: Sequence[Combination],
    validation: Sequence[Combination],
    auc: Auc,
    seed: int,
    fitting: Fitting,
    device: str,
) -> Classifier:
    return train(training, validation, auc, seed, *fitting, device, moments())


def train_seeds(
    parts: Parts, fitting: Fitting, number: int, auc: Auc, seed: int, device: str = "cpu", keep: Keep = anew
) -> Ensemble:
    """Several classifiers that differ in their seeds alone; the score is the mean of their log-odds."""
    training, validation = (list(part) for part in zip(*parts.values(), strict=True))
    moments, members = _once(training), []
    for place in range(number):
        own = seeds.integer(seed, "ltmia", "classifier", place)
        of_seed = partial(_train, moments, training, validation, auc, own, fitting, device)
        members.append(keep(f"seed-{place}", of_seed))
    return Ensemble(members)


def shuffled(parts: Parts, seed: int, share: float = 1.0) -> dict[Name, tuple[Combination, Combination]]:
    """A share of the texts of each combination and part, drawn at random, with labels at random.

    Members and non-members are as frequent as they were, up to one, and half of either get either label, up to one.
    """
    found = {}
    for name, portions in parts.items():
        rng = seeds.generator(seed, "ltmia", "classifier", *name, "shuffled")
        found[name] = tuple(_shuffled(part, share, rng) for part in portions)
    return found


def _shuffled(part: Combination, share: float, rng: np.random.Generator) -> Combination:
    label, kept = np.zeros(len(part.member), dtype=bool), np.zeros(len(part.member), dtype=bool)
    for value in (True, False):
        places = rng.permutation(np.flatnonzero(part.member == value))
        places = places[: max(2, round(share * len(places)))]
        kept[places] = True
        label[places[: (len(places) + rng.integers(2)) // 2]] = True
    return Combination(part.name, part.rows[kept], label[kept])


def train_shuffled(
    parts: Parts, fitting: Fitting, number: int, auc: Auc, seed: int, device: str, keep: Keep = anew
) -> list[Classifier]:
    """Classifiers of shuffled labels, each of its own: the null of the attack.

    A null separates texts by chance, members from others too, by one sign in all held-out combinations; so the mean of
    many is needed, and each is trained on a share of the texts.
    """
    found = []
    for place in range(number):
        own = seeds.integer(seed, "ltmia", "classifier", "shuffled", place)
        found.append(keep(f"shuffled-{place}", partial(_train_shuffled, parts, fitting, auc, own, device)))
    return found


def _train_shuffled(parts: Parts, fitting: Fitting, auc: Auc, seed: int, device: str) -> Classifier:
    """One of them; its copies of the texts are gone before the next one's are made."""
    training, validation = (list(part) for part in zip(*shuffled(parts, seed, NULL_SHARE).values(), strict=True))
    return train(training, validation, auc, seed, *fitting, device)
