"""One model at one epoch, judged on the targets of one split (ICLMEM, sections 4.2 and 5, Tables 8 to 12).

Whom the model was asked about as a query is a member; rows that it saw as context alone are a group of their own.
Intervals resample records, matched pairs as one. All draws belong to a split: its runs share permutations and bootstrap
weights.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit import seeds
from memaudit.arrays import Array, Mask
from memaudit.statistics import bootstrap, roc
from memaudit.studies.iclmem.chance_nulls import aucs, exchanged, p_value
from memaudit.studies.iclmem.run_outcomes import SIGNALS, gaps, robustness, score

STUDY = "iclmem"
JUDGED = ("loss", "entropy")  # the primary and the second signal
LARGER = "larger"  # of their two AUCs
GROUPS = ("query", "context")
FLAG_FPR = 0.1
FLAGGED = 20  # permuted memberships for which flags are counted, too
LOSS, ERROR = SIGNALS.index("loss"), SIGNALS.index("error")
# Facts of `judge_run` that all rules need.
NEEDED = (
    "loss", "base_loss", "quality", "base_quality", "mu_gap", "sigma_gap", "larger_auc", "raw_tpr", "reference_tpr",
    "loss_p", "entropy_p", "larger_p", "loss_change_members", "loss_change_nonmembers", "vanilla_auc",
)  # fmt: skip
# The arrays of `judge_run`.
DIMS = {
    "observed": ("signal",), "permuted": ("signal", "permutation"), "bootstrapped": ("signal", "replicate"),
    "alone": ("signal", "manipulation"), "permuted_raw": ("repeat",), "permuted_reference": ("repeat",),
}  # fmt: skip


class Run(NamedTuple):
    """What one model and its base say of the targets of one split.

    tuned, reference: signals (target, manipulation, signal) of the effective manipulations; vanilla, base: (target,
    signal) with the context of the fine-tuning, of true labels; taught, untaught: the same of the labels that it was
    fine-tuned on; query, context, outside: (target,) who was asked as a query by then, who stood in a context alone,
    and who is a non-member.
    """

    tuned: Array
    reference: Array
    vanilla: Array
    base: Array
    taught: Array
    untaught: Array
    query: Mask
    context: Mask
    outside: Mask

    def diverged(self) -> bool:
        """Whether an answer is no finite number."""
        return not all(np.isfinite(said).all() for said in (self.tuned, self.vanilla, self.taught))


@dataclass(frozen=True)
class Draws:
    """What the runs of one split share, by target: unit, the code of its matched pair or its own (target,); of that its
    coins and priorities for permutations (permutation, target), and how often it is resampled (replicate, target)."""

    unit: NDArray[np.intp]
    coins: Mask
    permutations: Array
    weights: Array

    def on(self, targets: NDArray[np.integer] | Mask) -> "Draws":
        """Of some of the targets."""
        parts = (self.coins, self.permutations, self.weights)
        return Draws(self.unit[targets], *(part[:, targets] for part in parts))

    def designs(self, member: Mask) -> Mask:
        """Permuted memberships (permutation, target)."""
        return exchanged(member, self.unit, self.coins, self.permutations)


def draw(
    ids: NDArray[np.str_],
    pair: NDArray[np.integer],
    dataset: str,
    split: int,
    *,
    seed: int,
    permutations: int,
    replicates: int,
) -> Draws:
    """The draws of a split for its targets `ids`, in whatever order these stand; pair: (target,), -1 of none."""
    names = [name if number < 0 else f"pair {number:09}" for name, number in zip(ids, pair, strict=True)]
    units, unit = np.unique(names, return_inverse=True)

    def rng(name: str) -> np.random.Generator:
        return seeds.generator(seed, STUDY, dataset, name, split)

    def uniform(name: str, count: int) -> Array:
        return rng(name).random((count, len(units)))[:, unit]

    weights = bootstrap.two_way_weights(1, len(units), replicates, rng("replicates")).records[:, unit]
    return Draws(unit, uniform("coins", permutations) < 0.5, uniform("permutations", permutations), weights)


def judge_run(run: Run, draws: Draws, fprs: tuple[float, ...]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Facts about a run by name, those of `memorization` among them, and the arrays that judge several runs together.

    Arrays, of dims DIMS: observed, permuted and bootstrapped AUCs of query members against non-members; alone, those of
    the dS of one manipulation; permuted_raw and permuted_reference: raw TPRs under the first FLAGGED permutations. All
    of it is NaN where the run diverged, but counts. Raises ValueError without query members or without two non-members.
    """
    outside, groups = run.outside, {name: getattr(run, name) for name in GROUPS}
    facts: dict[str, Any] = {f"{name}_targets": np.count_nonzero(group) for name, group in groups.items()}
    facts |= {"nonmember_targets": np.count_nonzero(outside), "diverged": run.diverged()}
    if not run.query.any() or np.count_nonzero(outside) < 2:
        raise ValueError("a run is judged on query members and at least two non-members")
    if run.diverged():
        return facts | dict.fromkeys(NEEDED, np.nan), _blank(run, draws)
    tuned, reference = robustness(run.tuned), robustness(run.reference)
    scores = score(tuned, reference)[:, : len(JUDGED)].T
    samples = {}
    for name, group in groups.items():
        chosen = group | outside
        for signal, values in zip(JUDGED, scores, strict=True):
            if group.any():
                found, sample = _estimates(values[chosen], group[chosen], fprs, draws.weights[:, chosen])
                facts |= {f"{name}_{signal}_{metric}": value for metric, value in found.items()}
                samples[name, signal] = sample
    facts["larger_auc"] = max(facts[f"query_{signal}_auc"] for signal in JUDGED)
    attacked = run.query | outside
    arrays = {"bootstrapped": np.stack([samples["query", signal] for signal in JUDGED])}
    designs = draws.on(attacked).designs(run.query[attacked])
    arrays |= _permuted(run, scores, attacked, designs)
    of_rule = np.append(arrays["observed"], arrays["observed"].max())
    null = np.vstack([arrays["permuted"], arrays["permuted"].max(0)])
    facts |= {f"{name}_p": p for name, p in zip((*JUDGED, LARGER), p_value(of_rule, null), strict=True)}
    for name, values in {"raw": tuned[attacked], "reference": reference[attacked]}.items():
        facts[f"{name}_tpr"] = _raw_tpr(values, run.query[attacked])
        arrays[f"permuted_{name}"] = np.array([_raw_tpr(values, design) for design in designs[:FLAGGED]])
    return facts | _performance(run, attacked), arrays


def deltas(run: Run) -> dict[str, Array]:
    """dS of the loss (target,) of query members and non-members; nothing of a run that diverged."""
    if run.diverged():
        return {}
    found = (robustness(run.tuned) - robustness(run.reference))[:, LOSS]
    groups = {"query": run.query, "nonmember": run.outside}
    return {name: found[group] for name, group in groups.items() if group.any()}


def _blank(run: Run, draws: Draws) -> dict[str, Array]:
    sizes = {
        "signal": len(JUDGED), "permutation": len(draws.permutations), "replicate": len(draws.weights),
        "manipulation": run.tuned.shape[1], "repeat": min(FLAGGED, len(draws.permutations)),
    }  # fmt: skip
    return {name: np.full([sizes[dim] for dim in dims], np.nan) for name, dims in DIMS.items()}


def _estimates(scores: Array, member: Mask, fprs: tuple[float, ...], weights: Array) -> tuple[dict[str, float], Array]:
    """AUC and TPRs by name with their 95 % intervals, and the AUC's replicates; weights: (replicate, target)."""
    ranking = roc.rank(scores, member)

    def metrics(of_cell: Array | None) -> Array:
        fpr, tpr = roc.curve(ranking, of_cell)
        return np.array([roc.area(fpr, tpr), *roc.at_fpr(fpr, tpr, fprs)])

    observed, samples = metrics(None), np.array([metrics(drawn[ranking.order]) for drawn in weights])
    found: dict[str, float] = {}
    for name, value, sample in zip(("auc", *(f"tpr@{fpr:g}" for fpr in fprs)), observed, samples.T, strict=True):
        low, high = bootstrap.interval(sample)
        found |= {name: float(value), f"{name}_low": low, f"{name}_high": high}
    return found, samples[:, 0]


def _permuted(run: Run, scores: Array, attacked: Mask, designs: Mask) -> dict[str, Array]:
    member = run.query[attacked]
    alone = score(run.tuned[attacked].astype(np.float64), run.reference[attacked])[..., : len(JUDGED)]
    return {
        "observed": aucs(scores[:, attacked], member[None])[:, 0],
        "permuted": aucs(scores[:, attacked], designs),
        "alone": aucs(alone.transpose(2, 1, 0), member[None])[..., 0],
    }


def _raw_tpr(robust: Array, member: Mask) -> float:
    """TPR at 10 % FPR of the loss S (target, signal), uncalibrated."""
    return float(roc.tpr_at_fpr(score(robust)[:, LOSS], member, FLAG_FPR))


def _performance(run: Run, attacked: Mask) -> dict[str, float]:
    """Vanilla losses and their AUC, accuracy or R2, and the gaps of probe losses."""
    loss, base = (values[:, LOSS].astype(np.float64) for values in (run.vanilla, run.base))
    learned = score(run.taught.astype(np.float64), run.untaught)[attacked, LOSS]
    by_manipulation = gaps(run.tuned[attacked][..., LOSS], run.query[attacked])
    return {
        "loss": loss[attacked].mean(),
        "base_loss": base[attacked].mean(),
        "loss_change_members": (loss - base)[run.query].mean(),
        "loss_change_nonmembers": (loss - base)[run.outside].mean(),
        "vanilla_auc": float(aucs(learned[None], run.query[attacked][None])[0, 0]),
        # Errors of numbers are in deviations of the reference set, whose mean has R2 = 0.
        "quality": 1 - run.vanilla[run.outside, ERROR].mean(dtype=np.float64),
        "base_quality": 1 - run.base[run.outside, ERROR].mean(dtype=np.float64),
        "mu_gap": by_manipulation.mean(),
        "sigma_gap": by_manipulation.std(),
    }
