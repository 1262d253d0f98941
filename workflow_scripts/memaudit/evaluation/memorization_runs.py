"""One model at one epoch, judged on the targets of one split (ICLMEM, sections 4.2 and 5, Tables 8 to 12).

Whom the model was asked about as a query is a member; rows that it saw as context alone are a group of their own.
Intervals resample records. All draws belong to a split: its runs share permutations, placebos and bootstrap weights.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memaudit import seeds
from memaudit.evaluation import bootstrap, roc
from memaudit.evaluation.memorization import SIGNALS, gaps, robustness, score
from memaudit.evaluation.memorization_null import aucs, first, p_value

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

STUDY = "iclmem"
JUDGED = ("loss", "entropy")  # the primary and the second signal
LARGER = "larger"  # of their two AUCs
GROUPS = ("query", "context")
FLAG_FPR = 0.1
LOSS, ERROR = SIGNALS.index("loss"), SIGNALS.index("error")
# Facts of `judge_run` that all rules need.
NEEDED = (
    "loss", "base_loss", "quality", "base_quality", "mu_gap", "sigma_gap", "larger_auc", "raw_tpr", "reference_tpr",
    "loss_p", "entropy_p", "larger_p", "loss_change_members", "loss_change_nonmembers",
)  # fmt: skip
# The arrays of `judge_run`.
DIMS = {
    "observed": ("signal",), "permuted": ("signal", "permutation"), "bootstrapped": ("signal", "replicate"),
    "alone": ("signal", "manipulation"), "placebo": ("signal", "repeat"),
    "placebo_permuted": ("signal", "permutation"), "placebo_gap": ("repeat",), "placebo_raw": ("repeat",),
    "placebo_reference": ("repeat",),
}  # fmt: skip


class Run(NamedTuple):
    """What one model and its base say of the targets of one split.

    tuned, reference: signals (target, manipulation, signal) of the effective manipulations; vanilla, base: (target,
    signal) with the context of the fine-tuning; query, context, outside: (target,) who was asked as a query by then,
    who stood in a context alone, and who is a non-member.
    """

    tuned: Array
    reference: Array
    vanilla: Array
    base: Array
    query: Mask
    context: Mask
    outside: Mask

    def diverged(self) -> bool:
        """Whether an answer is no finite number."""
        return not (np.isfinite(self.tuned).all() and np.isfinite(self.vanilla).all())


@dataclass(frozen=True)
class Draws:
    """What the runs of one split share: priorities of its targets for permutations (permutation, target) and placebos
    (repeat, target), and how often each is resampled (replicate, target)."""

    permutations: Array
    placebos: Array
    weights: Array

    def on(self, targets: NDArray[np.integer] | Mask) -> "Draws":
        """Of some of the targets."""
        return Draws(self.permutations[:, targets], self.placebos[:, targets], self.weights[:, targets])


def draw(
    ids: NDArray[np.str_], dataset: str, split: int, *, seed: int, permutations: int, placebos: int, replicates: int
) -> Draws:
    """The draws of a split for its targets `ids`, in whatever order these stand."""
    place = np.argsort(np.argsort(ids))

    def rng(name: str) -> np.random.Generator:
        return seeds.generator(seed, STUDY, dataset, name, split)

    weights = bootstrap.two_way_weights(1, len(ids), replicates, rng("replicates")).records
    permuted, shown = (
        rng(name).random((count, len(ids))) for name, count in (("permutations", permutations), ("placebos", placebos))
    )
    return Draws(permuted[:, place], shown[:, place], weights[:, place])


def judge_run(run: Run, draws: Draws, fprs: tuple[float, ...]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Facts about a run by name, those of `memorization` among them, and the arrays that judge several runs together.

    Arrays, of dims DIMS: observed, permuted and bootstrapped AUCs of query members against non-members; alone, those of
    the dS of one manipulation; placebo, placebo_permuted, placebo_gap, placebo_raw and placebo_reference: AUC, its
    permutations, mu_gap and raw TPRs of non-members against non-members. All of it is NaN where the run diverged, but
    counts. Raises ValueError without query members or without two non-members.
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
    arrays |= _permuted(run, scores, attacked, draws) | _placebos(tuned, reference, scores, outside, draws)
    of_rule = np.append(arrays["observed"], arrays["observed"].max())
    null = np.vstack([arrays["permuted"], arrays["permuted"].max(0)])
    facts |= {f"{name}_p": p for name, p in zip((*JUDGED, LARGER), p_value(of_rule, null), strict=True)}
    raw = {"raw_tpr": tuned, "reference_tpr": reference}
    facts |= {name: _raw_tpr(values[attacked], run.query[attacked]) for name, values in raw.items()}
    return facts | _performance(run, attacked), arrays


def deltas(run: Run) -> dict[str, Array]:
    """dS of the loss (target,) of query members, non-members and context members; nothing of a run that diverged."""
    if run.diverged():
        return {}
    found = (robustness(run.tuned) - robustness(run.reference))[:, LOSS]
    groups = {"query": run.query, "nonmember": run.outside, "context": run.context}
    return {name: found[group] for name, group in groups.items() if group.any()}


def _blank(run: Run, draws: Draws) -> dict[str, Array]:
    sizes = {
        "signal": len(JUDGED), "permutation": len(draws.permutations), "replicate": len(draws.weights),
        "manipulation": run.tuned.shape[1], "repeat": len(draws.placebos),
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


def _permuted(run: Run, scores: Array, attacked: Mask, draws: Draws) -> dict[str, Array]:
    member = run.query[attacked]
    designs = first(draws.permutations[:, attacked], np.count_nonzero(member))
    alone = score(run.tuned[attacked].astype(np.float64), run.reference[attacked])[..., : len(JUDGED)]
    return {
        "observed": aucs(scores[:, attacked], member[None])[:, 0],
        "permuted": aucs(scores[:, attacked], designs),
        "alone": aucs(alone.transpose(2, 1, 0), member[None])[..., 0],
    }


def _placebos(tuned: Array, reference: Array, scores: Array, outside: Mask, draws: Draws) -> dict[str, Array]:
    """What the rules see where half of the non-members are called members."""
    draws, half = draws.on(outside), np.count_nonzero(outside) // 2
    designs, loss = first(draws.placebos, half), tuned[outside, LOSS]
    return {
        "placebo": aucs(scores[:, outside], designs),
        "placebo_permuted": aucs(scores[:, outside], first(draws.permutations, half)),
        "placebo_gap": designs @ loss / half - ~designs @ loss / (len(loss) - half),
        "placebo_raw": np.array([_raw_tpr(tuned[outside], design) for design in designs]),
        "placebo_reference": np.array([_raw_tpr(reference[outside], design) for design in designs]),
    }


def _raw_tpr(robust: Array, member: Mask) -> float:
    """TPR at 10 % FPR of the loss S (target, signal), uncalibrated."""
    return float(roc.tpr_at_fpr(score(robust)[:, LOSS], member, FLAG_FPR))


def _performance(run: Run, attacked: Mask) -> dict[str, float]:
    """Vanilla losses, accuracy or R2, and the gaps of probe losses."""
    loss, base = (values[:, LOSS].astype(np.float64) for values in (run.vanilla, run.base))
    by_manipulation = gaps(run.tuned[attacked][..., LOSS], run.query[attacked])
    return {
        "loss": loss[attacked].mean(),
        "base_loss": base[attacked].mean(),
        "loss_change_members": (loss - base)[run.query].mean(),
        "loss_change_nonmembers": (loss - base)[run.outside].mean(),
        # Errors of numbers are in deviations of the reference set, whose mean has R2 = 0.
        "quality": 1 - run.vanilla[run.outside, ERROR].mean(dtype=np.float64),
        "base_quality": 1 - run.base[run.outside, ERROR].mean(dtype=np.float64),
        "mu_gap": by_manipulation.mean(),
        "sigma_gap": by_manipulation.std(),
    }
