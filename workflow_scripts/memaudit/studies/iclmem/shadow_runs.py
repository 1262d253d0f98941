"""Fine-tuning of shadow models on random halves of the matched pairs of one split, for a ground truth per record.

Of every matched pair one record, by a coin of the shadow model, is a query of its fine-tuning, the other is not. Shadow
models 2 k and 2 k + 1 have opposite coins, so that each record is a query of exactly half of the models. The last pairs
are controls: they have coins too, but no model is fine-tuned on them, so that nothing may tell their coins.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from memaudit.common import seeds
from memaudit.common.arrays import Indices, Mask
from memaudit.common.errors import AuditError
from memaudit.data.matched_splits import NONMEMBER, QUERY
from memaudit.models.model_protocol import Network
from memaudit.studies.iclmem.fine_tuning_runs import FineTuningRun, Part, tune
from memaudit.studies.iclmem.model_probing import Prober, packed
from memaudit.studies.iclmem.table_splits import CANARIES, Split


@dataclass(frozen=True)
class Pool:
    """The pairs of a split that shadow models are fine-tuned on and judged by.

    condition: an entry of `arms` whose `queries` are those that train, without controls; rows: (target,) judged
    records, one of every pair and then the other; pair, control: (target,) number of the pair, and whether it is a
    control.
    """

    split: Split
    condition: Mapping[str, Any]
    rows: Indices
    pair: NDArray[np.int64]
    control: Mask

    def coins(self, seed: int, shadow: int) -> Mask:
        """Whether the records of a pair change places in this shadow model, (pair,) of all pairs of the split."""
        pairs = int((self.split.facts.role == QUERY).sum())
        rng = seeds.generator(seed, "iclmem", self.split.dataset, "shadow coins", self.split.number, shadow // 2)
        return (rng.random(pairs) < 0.5) ^ (shadow % 2 == 1)


def open_pool(
    split: Split, condition: Mapping[str, Any], targets: int, controls: int, prober: Prober, model: Network
) -> Pool:
    """The pool of a split under a condition; with canaries the base model chooses the labels of all judged records.

    targets: most pairs that are trained on and judged; controls: pairs that are judged alone.
    """
    trained = condition["queries"] - controls
    if trained < 1:
        raise AuditError(f"iclmem: {controls} control pairs leave none of {condition['queries']} queries to train on")
    first, last = np.arange(min(targets, trained)), np.arange(trained, condition["queries"])
    orders = np.concatenate([first, last])
    rows = np.concatenate([split.rows(role)[orders] for role in (QUERY, NONMEMBER)])
    if condition["labels"] == CANARIES:
        y = split.y.clone()
        y[torch.from_numpy(rows)] = prober.canaries(model, split, rows).to(y.dtype)
        split = replace(split, y=y)
    return Pool(split, {**condition, "queries": trained}, rows, np.tile(orders, 2), np.tile(orders >= trained, 2))


def exchanged(split: Split, coins: Mask) -> Split:
    """The split with the roles of the records of a pair exchanged where its coin (pair,) is True."""
    facts = split.facts
    paired = facts.role.isin([QUERY, NONMEMBER]).to_numpy()
    changed = paired & coins[np.where(paired, facts.order, 0)]
    other = facts.role.map({QUERY: NONMEMBER, NONMEMBER: QUERY})
    return replace(split, facts=facts.assign(role=facts.role.where(~changed, other)))


@dataclass(frozen=True)
class ShadowRun(FineTuningRun):
    """A shadow model to fine-tune; shadow: its number, from which its seed follows, the same for all conditions."""

    shadow: int

    @property
    def seed(self) -> int:
        """Seed of the order of rows and of adapters."""
        return seeds.integer(
            self.prober.seed, "iclmem", self.task, "finetune shadow", self.splits[0].number, self.shadow
        )


def tune_shadow(model: Network, pool: Pool, shadow: int, prober: Prober, folder: Any, part: Part) -> NDArray[Any]:
    """Fine-tune a shadow model, probe it, and return a record of arrays.

    probe: (epoch, target, signal), means over the manipulations; in_context: (stage, target, signal) with the context
    and labels of the fine-tuning, stage 0 the base; member: (epoch, target) by the training pairs; assigned: (target,)
    by the coins, of controls too.
    """
    split = exchanged(pool.split, pool.coins(prober.seed, shadow))
    run = ShadowRun(split.dataset, pool.condition, [split], [pool.rows], prober, shadow)
    tuned = tune(model, run, folder, part)
    return packed(
        probe=robust(tuned["signals"], prober, split),
        in_context=tuned["relabelled"],
        member=tuned["member"],
        assigned=run.facts("role") == QUERY,
    )


def robust(signals: NDArray[Any], prober: Prober, split: Split) -> NDArray[Any]:
    """Means (..., target, signal) over the manipulations that do not repeat another; (..., manipulation, signal)."""
    return signals[..., prober.effective(split), :].mean(axis=-2, dtype=np.float64)
