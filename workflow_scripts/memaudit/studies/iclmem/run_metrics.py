"""Metrics of one model at one epoch on the targets of one split (ICLMEM, sections 4.2 and 5, Tables 8 to 12).

Members are the targets that the model was queried with in fine-tuning; rows that it saw only in a context are a group
of their own. Intervals resample records, a matched pair as one. All draws belong to a split: its runs share
permutations and bootstrap weights.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit.attacks.context_manipulations import PROBE_SIGNALS
from memaudit.common import seeds
from memaudit.common.arrays import Array, Mask
from memaudit.statistics import bootstrap, roc
from memaudit.statistics.permutation_tests import aucs, p_value, permuted_members
from memaudit.studies.iclmem.outcome_rules import gaps, robustness, score

STUDY = "iclmem"
ATTACK_SIGNALS = ("loss", "entropy")  # of the probe: the paper's primary and secondary signal
LARGER = "larger"  # of their two AUCs
IN_CONTEXT = "in-context loss"  # with the context and the labels of the fine-tuning
PROBED = (*ATTACK_SIGNALS, "confidence")  # all that the probe has
SIGNALS = (*PROBED, IN_CONTEXT)  # all that are tested
GROUPS = ("query", "context")
FLAG_FPR = 0.1
FLAGGED = 20  # permuted memberships for which flags are counted too
LOSS, ERROR = PROBE_SIGNALS.index("loss"), PROBE_SIGNALS.index("error")
# Facts of `judge_run` that all rules need.
NEEDED = (
    "loss", "base_loss", "quality", "base_quality", "mu_gap", "sigma_gap", "larger_auc", "raw_tpr", "reference_tpr",
    *(f"{signal}_p" for signal in SIGNALS), "larger_p", "loss_change_members", "loss_change_nonmembers",
)  # fmt: skip
# The arrays of `judge_run`.
DIMS = {
    "observed": ("signal",), "permuted": ("signal", "permutation"), "bootstrapped": ("signal", "replicate"),
    "alone": ("probe_signal", "manipulation"), "permuted_gap": ("permutation",), "permuted_raw": ("repeat",),
    "permuted_reference": ("repeat",),
}  # fmt: skip


class RunSignals(NamedTuple):
    """Signals of one model and its base on the targets of one split.

    tuned, reference: signals (target, manipulation, signal) of the effective manipulations; vanilla, base: (target,
    signal) with the context of the fine-tuning and the true labels; relabelled, base_relabelled: the same with the
    labels of the fine-tuning; query, context, nonmember: (target,), targets that were queries up to this epoch, that
    stood only in contexts, and non-members; exposure, base_exposure: (target,) of the labels of the fine-tuning, in
    bits (canary_exposure).
    """

    tuned: Array
    reference: Array
    vanilla: Array
    base: Array
    relabelled: Array
    base_relabelled: Array
    query: Mask
    context: Mask
    nonmember: Mask
    exposure: Array
    base_exposure: Array

    def diverged(self) -> bool:
        """Whether a signal is not finite."""
        return not all(np.isfinite(signals).all() for signals in (self.tuned, self.vanilla, self.relabelled))


@dataclass(frozen=True)
class SplitDraws:
    """Random draws that the runs of one split share, by target.

    pair: (target,) code of the matched pair, or the target's own; swaps and priorities (permutation, target) make its
    permutations, see `permuted_members`; weights: (replicate, target), how often each replicate drew it.
    """

    pair: NDArray[np.intp]
    swaps: Mask
    priorities: Array
    weights: Array

    def on(self, targets: NDArray[np.integer] | Mask) -> "SplitDraws":
        """The draws of some of the targets."""
        parts = (self.swaps, self.priorities, self.weights)
        return SplitDraws(self.pair[targets], *(part[:, targets] for part in parts))

    def permuted(self, member: Mask) -> Mask:
        """Permuted memberships (permutation, target)."""
        return permuted_members(member, self.pair, self.swaps, self.priorities)


def split_draws(
    ids: NDArray[np.str_],
    pair: NDArray[np.integer],
    dataset: str,
    split: int,
    *,
    seed: int,
    permutations: int,
    replicates: int,
) -> SplitDraws:
    """The draws of a split for its targets `ids`, in any order; pair: (target,) number of the pair, -1 of none."""
    names = [name if number < 0 else f"pair {number:09}" for name, number in zip(ids, pair, strict=True)]
    codes, code = np.unique(names, return_inverse=True)

    def rng(name: str) -> np.random.Generator:
        return seeds.generator(seed, STUDY, dataset, name, split)

    def uniform(name: str, count: int) -> Array:
        return rng(name).random((count, len(codes)))[:, code]

    weights = bootstrap.two_way_weights(1, len(codes), replicates, rng("replicates")).records[:, code]
    return SplitDraws(code, uniform("coins", permutations) < 0.5, uniform("permutations", permutations), weights)


def judge_run(run: RunSignals, draws: SplitDraws, fprs: tuple[float, ...]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Facts of a run by name, among them those of `outcome_rules`, and the arrays for tests over several runs.

    Arrays, of dims DIMS: observed, permuted and bootstrapped AUCs of query members against non-members; alone, AUCs of
    the dS of one manipulation; permuted_gap: mu_gap of each permutation; permuted_raw and permuted_reference: raw TPRs
    of the first FLAGGED ones. All values but counts are NaN where the run diverged. Raises ValueError without query
    members or two non-members.
    """
    nonmember, groups = run.nonmember, {name: getattr(run, name) for name in GROUPS}
    facts: dict[str, Any] = {f"{name}_targets": np.count_nonzero(group) for name, group in groups.items()}
    facts |= {"nonmember_targets": np.count_nonzero(nonmember), "diverged": run.diverged()}
    if not run.query.any() or np.count_nonzero(nonmember) < 2:
        raise ValueError("a run is judged on query members and at least two non-members")
    if run.diverged():
        return facts | dict.fromkeys(NEEDED, np.nan), _blank(run, draws)
    tuned, reference = robustness(run.tuned), robustness(run.reference)
    learned = score(run.relabelled.astype(np.float64), run.base_relabelled)[:, LOSS]
    scores = np.vstack([score(tuned, reference)[:, : len(PROBED)].T, learned])
    of_groups, samples = _group_metrics(groups, nonmember, scores, fprs, draws)
    facts |= of_groups
    facts["larger_auc"] = max(facts[f"query_{signal}_auc"] for signal in ATTACK_SIGNALS)
    attacked = run.query | nonmember
    arrays = {"bootstrapped": np.stack([samples["query", signal] for signal in SIGNALS])}
    permuted = draws.on(attacked).permuted(run.query[attacked])
    arrays |= _auc_arrays(run, scores, attacked, permuted)
    arrays["permuted_gap"] = group_gaps(tuned[attacked, LOSS], permuted)
    observed = np.append(arrays["observed"], larger(arrays["observed"]))
    null = np.vstack([arrays["permuted"], larger(arrays["permuted"])])
    facts |= {f"{name}_p": p for name, p in zip((*SIGNALS, LARGER), p_value(observed, null), strict=True)}
    for name, values in {"raw": tuned[attacked], "reference": reference[attacked]}.items():
        facts[f"{name}_tpr"] = _raw_tpr(values, run.query[attacked])
        arrays[f"permuted_{name}"] = np.array([_raw_tpr(values, member) for member in permuted[:FLAGGED]])
    return facts | _performance(run, attacked), arrays


def larger(values: Array) -> Array:
    """The larger value of the paper's two signals; values: (signal, ...) in the order of SIGNALS."""
    return values[: len(ATTACK_SIGNALS)].max(axis=0)


def score_changes(run: RunSignals) -> dict[str, Array]:
    """dS of the loss (target,) of query members and of non-members; empty for a run that diverged."""
    if run.diverged():
        return {}
    changes = (robustness(run.tuned) - robustness(run.reference))[:, LOSS]
    groups = {"query": run.query, "nonmember": run.nonmember}
    return {name: changes[group] for name, group in groups.items() if group.any()}


def _blank(run: RunSignals, draws: SplitDraws) -> dict[str, Array]:
    sizes = {
        "signal": len(SIGNALS), "probe_signal": len(PROBED), "permutation": len(draws.priorities),
        "replicate": len(draws.weights),
        "manipulation": run.tuned.shape[1], "repeat": min(FLAGGED, len(draws.priorities)),
    }  # fmt: skip
    return {name: np.full([sizes[dim] for dim in dims], np.nan) for name, dims in DIMS.items()}


def _group_metrics(
    groups: dict[str, Mask], nonmember: Mask, scores: Array, fprs: tuple[float, ...], draws: SplitDraws
) -> tuple[dict[str, float], dict[tuple[str, str], Array]]:
    """Metrics of each group against the non-members, by name, and the AUC's replicates by (group, signal)."""
    facts, samples = {}, {}
    for name, group in groups.items():
        chosen = group | nonmember
        for signal, values in zip(SIGNALS, scores, strict=True):
            # A context row sees its own label in the context: its loss there says nothing.
            if group.any() and (name, signal) != ("context", IN_CONTEXT):
                metrics, sample = _estimates(values[chosen], group[chosen], fprs, draws.weights[:, chosen])
                facts |= {f"{name}_{signal}_{metric}": value for metric, value in metrics.items()}
                samples[name, signal] = sample
    return facts, samples


def _estimates(scores: Array, member: Mask, fprs: tuple[float, ...], weights: Array) -> tuple[dict[str, float], Array]:
    """AUC and TPRs by name with their 95 % intervals, and the AUC's replicates; weights: (replicate, target)."""
    ranking = roc.rank(scores, member)

    def metrics(of_record: Array | None) -> Array:
        fpr, tpr = roc.curve(ranking, of_record)
        return np.array([roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, fprs)])

    observed, samples = metrics(None), np.array([metrics(drawn[ranking.order]) for drawn in weights])
    estimates: dict[str, float] = {}
    for name, value, sample in zip(("auc", *(f"tpr@{fpr:g}" for fpr in fprs)), observed, samples.T, strict=True):
        low, high = bootstrap.widened(sample, value, min(member.sum(), (~member).sum()), 0, 1)
        estimates |= {name: float(value), f"{name}_low": low, f"{name}_high": high}
    return estimates, samples[:, 0]


def _auc_arrays(run: RunSignals, scores: Array, attacked: Mask, permuted: Mask) -> dict[str, Array]:
    member = run.query[attacked]
    alone = score(run.tuned[attacked].astype(np.float64), run.reference[attacked])[..., : len(PROBED)]
    return {
        "observed": aucs(scores[:, attacked], member[None])[:, 0],
        "permuted": aucs(scores[:, attacked], permuted),
        "alone": aucs(alone.transpose(2, 1, 0), member[None])[..., 0],
    }


def group_gaps(values: Array, permuted: Mask) -> Array:
    """Mean of values (target,) of members less that of others under each membership (permutation, target)."""
    inside, outside = (chosen @ values / chosen.sum(1) for chosen in (permuted, ~permuted))
    return inside - outside


def _raw_tpr(robust: Array, member: Mask) -> float:
    """TPR at 10 % FPR of the loss S (target, signal), uncalibrated."""
    return float(roc.tpr_at_fpr(score(robust)[:, LOSS], member, FLAG_FPR))


def _performance(run: RunSignals, attacked: Mask) -> dict[str, float]:
    """Vanilla losses, accuracy or R2, and the gaps of probe losses."""
    loss, base = (values[:, LOSS].astype(np.float64) for values in (run.vanilla, run.base))
    by_manipulation = gaps(run.tuned[attacked][..., LOSS], run.query[attacked])
    return {
        "loss": loss[attacked].mean(),
        "base_loss": base[attacked].mean(),
        "loss_change_members": (loss - base)[run.query].mean(),
        "loss_change_nonmembers": (loss - base)[run.nonmember].mean(),
        # Errors of numbers are in deviations of the reference set, whose mean has R2 = 0.
        "quality": 1 - run.vanilla[run.nonmember, ERROR].mean(dtype=np.float64),
        "base_quality": 1 - run.base[run.nonmember, ERROR].mean(dtype=np.float64),
        "mu_gap": by_manipulation.mean(),
        "sigma_gap": by_manipulation.std(),
    }
