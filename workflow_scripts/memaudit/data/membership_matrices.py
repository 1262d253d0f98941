"""Membership matrices: bool arrays (model, record), True where the record is in the model's training set or context.

A matrix is drawn once and stored; a shard of models reads its rows. So nothing depends on the shard size.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memaudit.errors import AuditError


def balanced(models: int, records: int, rng: np.random.Generator, block: int | None = None) -> NDArray[np.bool_]:
    """Put each record into exactly half of the models, those with the smaller uniforms (Carlini et al. 2022).

    With `block`, in half of each consecutive block of that many models: then every prefix of whole blocks is balanced,
    and the first models of a larger matrix are the smaller one. Raises AuditError for an odd or a partial block.
    """
    block = block or models
    _at_least_two(models)
    if block % 2 or models % block:
        raise AuditError(
            f"a balanced membership matrix needs an even number of models in whole blocks, not {models} in {block}s"
        )
    return np.concatenate(
        [
            np.argsort(np.argsort(rng.random((block, records)), axis=0), axis=0) < block // 2
            for _ in range(models // block)
        ]
    )


def bernoulli(models: int, records: int, rng: np.random.Generator, p: float = 0.5) -> NDArray[np.bool_]:
    """Put each record into each model with probability p, independently. Raises AuditError for p outside (0, 1)."""
    _at_least_two(models)
    if not 0 < p < 1:
        raise AuditError(f"the probability of membership must lie between 0 and 1, not {p}")
    return rng.random((models, records)) < p


def fixed_size(models: int, records: int, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Give each model exactly `size` records, drawn without replacement. Raises AuditError if size > records."""
    _at_least_two(models)
    if not 0 < size <= records:
        raise AuditError(f"{size} of {records} records cannot be drawn for each model")
    member = np.zeros((models, records), dtype=bool)
    for row in member:
        row[rng.choice(records, size, replace=False)] = True
    return member


def unit_codes(records: pd.DataFrame) -> NDArray[np.int64]:
    """Return the number of each record's privacy unit: its group, in order of appearance, or the record itself."""
    return pd.factorize(records["group"])[0] if "group" in records else np.arange(len(records))


def expand(member: NDArray[np.bool_], units: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Expand membership (model, unit) to (model, record): records of one unit are in together. units: (record,)."""
    if member.shape[1] != units.max() + 1:
        raise ValueError(f"a membership matrix of {member.shape[1]} units, but records of {units.max() + 1}")
    return member[:, units]


def _at_least_two(models: int) -> None:
    if models < 2:
        raise AuditError(f"a membership matrix needs at least 2 models, not {models}")
