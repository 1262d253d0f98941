"""A classifier of few classes as one of many: a hierarchy of classes, as in the package of TabICL (Qu et al. 2025).

The first level predicts the group of classes, the next one the class within each group from its records alone:
p(class) = p(group) p(class | group). Groups are as equal as possible, consecutive codes, and divided again if needed.
"""

import numpy as np
import torch
from torch import Tensor

from memaudit.models.model_protocol import Limits, TabularModel


def for_classes(model: TabularModel, classes: int) -> TabularModel:
    """The model, or if it takes fewer than so many classes, its hierarchy."""
    most = model.limits.classes
    return ClassHierarchy(model, classes) if most is not None and 1 < most < classes else model


class ClassHierarchy:
    """A `TabularModel` of any number of classes, by a model that takes at least two."""

    def __init__(self, model: TabularModel, classes: int):
        self.model, self.classes = model, classes
        self.task, self.mode = model.task, model.mode
        self.reads_text, self.alone = model.reads_text, model.alone
        self.limits = Limits(model.limits.rows, model.limits.features, None)
        self.module, self.device = getattr(model, "module", model), getattr(model, "device", "cpu")

    def logits(self, context_x: Tensor, context_y: Tensor, query_x: Tensor) -> Tensor:
        """See TabularModel. Log-probabilities, -inf for a class that the context lacks."""
        every = np.arange(self.classes)
        tables = zip(context_x, context_y.cpu(), query_x, strict=True)
        return torch.stack([self._within(every, *table) for table in tables]).float()

    def _within(self, codes: np.ndarray, x: Tensor, y: Tensor, queries: Tensor) -> Tensor:
        """Log-probabilities (m, classes) of these classes, given that the class is one of them; y: (n,) of them."""
        logs = torch.full((len(queries), self.classes), -torch.inf, dtype=torch.float64)
        known = np.intersect1d(codes, y.numpy())
        most = self.model.limits.classes
        groups = np.array_split(codes, min(most, -(-len(codes) // most)) if len(codes) > most else len(codes))
        present = [group for group in groups if np.isin(group, known).any()]
        places = [torch.from_numpy(np.isin(y.numpy(), group)) for group in present]
        if len(present) == 1:
            of_group = torch.zeros((len(queries), 1), dtype=torch.float64)
        else:
            number = sum(place.long() * at for at, place in enumerate(places))
            answers = self.model.logits(x[None], number[None], queries[None])[0].cpu()
            of_group = answers[:, : len(present)].double().log_softmax(-1)
        for at, (group, place) in enumerate(zip(present, places, strict=True)):
            if len(group) == 1:
                logs[:, group[0]] = of_group[:, at]
            else:
                inside = self._within(group, x[place], y[place], queries)
                logs[:, group] = of_group[:, at, None] + inside[:, group]
        return logs
