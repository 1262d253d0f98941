"""Attacks on mitigations without training: labels alone, rounded probabilities, and layers of vulnerable records."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import softmax

from memaudit.attacks.attack_entry import Attack
from memaudit.attacks.attention_statistics import LARGEST
from memaudit.attacks.lira import resolution_floor
from memaudit.attacks.registry import attack
from memaudit.attacks.rounded_signal import rounded_confidence
from memaudit.attacks.score_matrices import attackable, confidence, labels, stable
from memaudit.attacks.signals import correctness
from memaudit.common.errors import AuditError
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.attack_performance import Estimate
from memaudit.statistics.attacked_records import Attacked, Names
from memaudit.statistics.threat_models import label_robustness, ratio
from memaudit.statistics.vulnerable_layer import layer_size
from memaudit.studies.attacks.model_quality import quality, quality_differences

DISCRETE = {"floor": resolution_floor(1)}


class Mitigated(NamedTuple):
    """One attack, by name, on one mitigation.

    grid: score matrix with membership, units, and logits for the utility; attack: on all records of the grid.
    """

    mitigation: str
    name: str
    grid: xr.Dataset
    attack: Attack

    def on(self, records: Names) -> Attacked:
        """The attack on those of the records that the contexts are drawn from."""
        grid = self.grid
        whole = Attacked(grid.record.values, self.attack, grid.design.values, grid.unit.values, Scheme.of(grid.attrs))
        return whole.on(records[np.isin(records, attackable(grid))])


def with_lira(mitigation: str, grid: xr.Dataset) -> Mitigated:
    """LiRA on the logits of contexts of one mitigation."""
    return Mitigated(mitigation, "lira", grid, ratio(confidence(grid)))


def coarser_answers(none: Mitigated, decimals: Sequence[int]) -> Iterator[Mitigated]:
    """LiRA on the same contexts where only the label, or the label and rounded probabilities, are published."""
    logits, truth = none.grid.logits.values.astype(float), labels(none.grid)
    on_labels = Attack(correctness(logits, truth), "lira", DISCRETE)
    yield Mitigated("labels only", "lira on correctness", none.grid, on_labels)
    own = np.take_along_axis(softmax(logits, axis=-1), truth[..., None], axis=-1)[..., 0]
    for digits in decimals:
        yield Mitigated(
            f"decimals {digits}", "lira", none.grid, Attack(rounded_confidence(own, digits), "lira", DISCRETE)
        )


def with_perturbation(grid: xr.Dataset, scale: float, count: int) -> Mitigated:
    """The label-only attack by noisy copies of the targets; grid: shares of copies that keep the predicted class."""
    return Mitigated("labels only", "perturbation", grid, label_robustness(stable(grid, scale, count), count))


def with_attention(mitigation: str, grid: xr.Dataset) -> Mitigated:
    """LiRA on attention; grid: of `white_box_scores.of_variants`."""
    largest = grid.attention.sel(statistic=LARGEST).values.astype(np.float64)
    return Mitigated(mitigation, "lira attention", grid, attack("lira attention", largest))


def utilities(
    grid: xr.Dataset, none: xr.Dataset, rng_of: Callable[[str], np.random.Generator], replicates: int
) -> tuple[list[Estimate], list[Estimate]]:
    """Accuracies, or errors, of a mitigation's answers on records in no context, and differences to those without it.

    grid, none: score matrices; compared in equally many contexts on the records of `grid`. rng_of: one random stream
    for each number of contexts, so that equal answers have equal intervals.
    """
    sets = min(grid.sizes["model"], none.sizes["model"])
    others = grid.isel(record=~grid.member.values, model=slice(sets))
    same = none.isel(model=slice(sets)).sel(record=others.record.values)
    own = quality(others, rng_of(str(sets)), replicates)
    return own, quality_differences(others, same, rng_of(str(sets)), replicates)


def vulnerable_layers(ranks: pd.DataFrame, layer: float, dropped: xr.Dataset | None) -> dict[str, Names]:
    """Ids of the "first layer", the most vulnerable share `layer` of the members, and of the "next layer" of that size.

    ranks: columns id and rank, 0 = most vulnerable. dropped: score matrix of the contexts without the first layer;
    raises AuditError where they contain some of it.
    """
    ordered, size = ranks.sort_values("rank")["id"].to_numpy(), layer_size(layer, len(ranks))
    if dropped is not None and np.isin(ordered[:size], attackable(dropped)).any():
        raise AuditError(
            f"attacks, data set {dropped.dataset}: the contexts without the first layer contain some of it; make the"
            " score matrix of `defended` again from these ranks"
        )
    return {"next layer": ordered[size : 2 * size], "first layer": ordered[:size]}
