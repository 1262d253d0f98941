"""Ground truth of memorization from shadow models, and what the probe sees of it (ICLMEM beside Carlini et al. 2022).

Online LiRA over shadow models that were fine-tuned on random halves of the same pairs (`shadow_runs`) is a much
stronger attack than a signal of one model: each record has a score in each model, from the Gaussians of the loss in
context of the other models with and without it. A record is memorized if its loss in context differs between them
(one-sided, by permuted coins, false discovery rate .05). The study's signals are judged on the same records and models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from memaudit.attacks.calibrate import calibrate
from memaudit.attacks.signals import logit_of_loss
from memaudit.common import seeds
from memaudit.common.arrays import Array, Mask
from memaudit.common.errors import AuditError
from memaudit.statistics import within_model_auc
from memaudit.statistics.permutation_tests import (
    p_value,
    p_values_of_permutations,
    q_value,
    q_values_of_permutations,
)
from memaudit.statistics.rank_correlation import rank_correlation, spearman
from memaudit.statistics.record_vulnerability import effect_sizes
from memaudit.statistics.within_model_auc import permuted_scores
from memaudit.studies.iclmem.outcome_rules import LEVEL, score
from memaudit.studies.iclmem.run_metrics import IN_CONTEXT, LOSS, PROBED, SIGNALS, STUDY

LIRA, PROBE_LIRA = "LiRA in context", "LiRA of the probe"
CALIBRATED = (LIRA, PROBE_LIRA)
ATTACKS = (*SIGNALS, *CALIBRATED)
FEWEST_MODELS = 12  # of the cross-fitted comparison, which has half of them on each side


@dataclass(frozen=True)
class ShadowScores:
    """Signals of the shadow models of one condition at one epoch on some pairs.

    values: by name of ATTACKS (model, record), higher for members; of CALIBRATED the signal that is to be calibrated;
    member: (model, record); pair: (record,); permuted: (permutation, model, record).
    """

    values: Mapping[str, Array]
    member: Mask
    pair: NDArray[np.int64]
    permuted: Mask

    def scores(self, name: str) -> Array:
        """Scores (model, record) of an attack."""
        return lira(self.values[name], self.member) if name in CALIBRATED else self.values[name]

    def permuted_aucs(self, name: str) -> Array:
        """Mean AUC within models under each permutation (permutation,), scored again."""
        values = permuted_scores(lira, self.values[name], self.permuted) if name in CALIBRATED else self.values[name]
        return within_model_auc.within_model_auc(values, self.permuted).mean(1)

    @cached_property
    def aucs(self) -> dict[str, Array]:
        """AUC of each model (model,) by attack."""
        return {name: within_model_auc.within_model_auc(self.scores(name), self.member) for name in ATTACKS}


def lira(signals: Array, member: Mask) -> Array:
    """Scores (model, record) of LiRA without the target and its opposite model."""
    return calibrate(signals, member, "lira")


def join_models(shards: Sequence[xr.Dataset]) -> xr.Dataset:
    """The shards of a condition as one grid, models in order, without those that diverged, and their opposites.

    Raises AuditError where the training pairs are not those of the coins, or a control was in one.
    """
    grid = xr.concat(shards, "model", data_vars="minimal", coords="minimal", combine_attrs="override").sortby("model")
    member, assigned = grid.member.values.astype(bool), grid.assigned.values.astype(bool)
    control = grid.control.values.astype(bool)
    if (member != (assigned & ~control)[:, None]).any():
        raise AuditError(f"iclmem, ground truth of {grid.dataset}: the training pairs are not those of the coins")
    finite = np.isfinite(grid.probe.values).all((1, 2, 3)) & np.isfinite(grid.in_context.values).all((1, 2, 3))
    kept = finite.reshape(-1, 2).all(1).repeat(2)
    return grid.isel(model=kept)


def shadow_scores(grid: xr.Dataset, epoch: int, control: bool, permutations: int, seed: int) -> ShadowScores:
    """The signals of one epoch on the trained pairs or the control pairs; all epochs share their permutations."""
    chosen = grid.isel(target=grid.control.values.astype(bool) == control)
    probe = chosen.probe.sel(epoch=epoch).values
    in_context, base = (chosen.in_context.sel(stage=stage).values.astype(np.float64) for stage in (epoch, 0))
    changes = score(probe, chosen.base_probe.values)
    values = {name: changes[..., at] for at, name in enumerate(PROBED)}
    values[IN_CONTEXT] = score(in_context, base)[..., LOSS]
    loss = in_context[..., LOSS]
    values[LIRA] = logit_of_loss(loss) if grid.attrs["classes"] else -loss
    values[PROBE_LIRA] = score(probe)[..., LOSS]
    rng = seeds.generator(seed, STUDY, grid.attrs["dataset"], "shadow permutations", int(control))
    member, pair = chosen.assigned.values.astype(bool), chosen.pair.values
    return ShadowScores(values, member, pair, within_model_auc.permuted_coins(member, pair, permutations, rng))


def memorized(scores: ShadowScores) -> tuple[Array, NDArray[np.int64]]:
    """q-value of each record's effect of membership on the loss in context (record,), and detections by chance.

    The effect is Cohen's d of the models with the record over those without it; its p-value is one-sided, by permuted
    coins, and the q-value of Benjamini and Hochberg over records. The second is the number of records with a
    q-value of LEVEL or less under each permutation (permutation,).
    """
    signals = scores.values[LIRA]
    null = permuted_scores(effects, signals, scores.permuted).T
    q = q_value(p_value(effects(signals, scores.member), null))
    by_chance = q_values_of_permutations(p_values_of_permutations(null)) <= LEVEL
    return q, by_chance.sum(axis=0)


def effects(signals: Array, member: Mask) -> Array:
    """Cohen's d of each record (record,) between the models with and without it; signals, member: (model, record)."""
    return effect_sizes(signals, member)[0]


@dataclass(frozen=True)
class Agreement:
    """Rank correlation over records of a signal's effect of membership with that of the loss in context.

    The loss in context is of one half of the model pairs, the signal of the others: noise of the same models would
    correlate too. null: (permutation,) with the coins of the signal's models drawn again: no effect on the signal.
    """

    observed: float
    low: float
    high: float
    null: Array


def agreement(scores: ShadowScores, name: str, rng: np.random.Generator, replicates: int) -> Agreement:
    """`Agreement` of a signal of SIGNALS; its interval resamples record pairs, with the effects fixed."""
    half = np.arange(len(scores.member)) // 2 % 2 == 0
    truth = effects(scores.values[LIRA][half], scores.member[half])
    signal, coins = scores.values[name][~half], scores.permuted[:, ~half]
    own = effects(signal, scores.member[~half])
    null = np.array([spearman(truth, drawn) for drawn in permuted_scores(effects, signal, coins)])
    estimate = rank_correlation(truth, own, rng, groups=scores.pair, replicates=replicates)
    return Agreement(estimate.estimate, estimate.low, estimate.high, null)
