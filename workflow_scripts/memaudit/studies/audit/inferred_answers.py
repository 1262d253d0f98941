"""Posteriors of an adversary who infers a hidden column, or links two halves of a record, by a model's answers.

Three adversaries combine what the population tells (a prior that never queries the model) with the answers:
"calibrated": the log probability of the true target with a tried value, less its mean over contexts without the record:
what only a record in the context changes. "likelihood": the log probability itself (Fredrikson et al. 2014; Yeom et al.
2018). "without target": the calibrated largest log probability, for an adversary who does not know the target.
"""

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import logsumexp

from memaudit.common.arrays import Array, Codes, Mask

CALIBRATED, LIKELIHOOD, WITHOUT_TARGET = "calibrated", "likelihood", "without target"
LEAST = float(np.log(1e-6))  # least log probability: a single answer never decides alone


@dataclass(frozen=True)
class Answers:
    """Answers to one question, of the targets whose right answer is among the tried ones.

    own, largest: (model, record, level) log probabilities of the true target, and the largest (None of regressors);
    bin: (level,); truth: (record,); known, unknown: (record, bin) priors with and without the target; records:
    (record,) which targets they are.
    """

    own: Array
    largest: Array | None
    bin: Codes
    truth: Codes
    known: Array
    unknown: Array
    records: NDArray[np.intp]

    @classmethod
    def of(cls, grid: xr.Dataset, question: str, numbers: bool) -> "Answers":
        """Those of a grid of `query_candidates`; numbers: whether the model is a regressor.

        A regressor of points alone has no density: it gets a normal one, whose width is its root mean square error over
        all queries, one width for all contexts.
        """
        part = grid.sel(question=question)
        levels, truth = np.flatnonzero(part.bin.values >= 0), part.truth.values
        records = np.flatnonzero(truth >= 0)
        own, other = (part[name].values[:, records][..., levels].astype(np.float64) for name in ("own", "other"))
        if numbers and np.isnan(own).all():
            own = -0.5 * other**2 / max(np.mean(other**2), np.finfo(float).tiny)
        bins = int(part.bin.values.max()) + 1
        priors = (part[f"prior_{key}"].values[records, :bins] for key in ("known", "unknown"))
        largest = None if numbers else np.maximum(other, LEAST)
        return cls(
            own if numbers else np.maximum(own, LEAST),
            largest,
            part.bin.values[levels],
            truth[records],
            *priors,
            records,
        )

    @property
    def adversaries(self) -> tuple[str, ...]:
        """Those that the answers permit."""
        return (CALIBRATED, LIKELIHOOD) + ((WITHOUT_TARGET,) if self.largest is not None else ())

    def prior(self, adversary: str) -> Array:
        """Probabilities (record, bin) by the best adversary who never queries the model and knows as much."""
        return self.unknown if adversary == WITHOUT_TARGET else self.known

    def posterior(self, adversary: str, membership: Mask) -> Array:
        """Probabilities (model, record, bin); membership: (model, record) of these records."""
        if adversary == LIKELIHOOD:
            # The target is in the likelihood: a prior that has it as well would count it twice.
            evidence, prior = self.own, self.unknown
        else:
            answers = self.own if adversary == CALIBRATED else self.largest
            evidence, prior = answers - _without(answers, membership), self.prior(adversary)
        of_bins = [logsumexp(evidence[..., self.bin == one], axis=-1) for one in range(prior.shape[1])]
        sizes = np.bincount(self.bin, minlength=prior.shape[1])
        joint = np.stack(of_bins, -1) - np.log(sizes) + np.log(prior)
        return np.exp(joint - logsumexp(joint, axis=-1, keepdims=True))

    def looked_up(self, membership: Mask) -> "Answers":
        """Answers of a planted model that looks its records up and is certain of the true value of those it has."""
        certain = np.where(self.bin == self.truth[:, None], 0.0, LEAST)
        own, largest = (
            None if answers is None else np.where(membership[..., None], certain, answers)
            for answers in (self.own, self.largest)
        )
        return replace(self, own=own, largest=largest)


def _without(answers: Array, membership: Mask) -> Array:
    """Mean of answers (model, record, level) over the other contexts that do not have the record."""
    out = ~membership[..., None]
    total, count = (answers * out).sum(0), out.sum(0)
    return (total - answers * out) / np.maximum(count - out, 1)
