"""Judge each mitigation by the strongest permitted attack: leakage and accuracy with it, less those without it.

python workflow_scripts/audit/judge_mitigations.py --input main=main.nc settings=settings.nc defended=defended.nc \
    perturbed=perturbed.nc --output mitigations.parquet --wildcards '{"dataset": "table"}' \
    --params '{"seed": 1, "attacks": {"fpr": [0.1, 0.01], "replicates": 200, "decimals": [1, 2],
        "perturbation": {"count": 20, "scale": 0.1}, "rmia": {"gamma": 1.0, "offline_a": 0.3}},
        "audit": {"fpr": 0.01, "threats": ["labels", "probabilities"]}}'

The adversary knows the mitigation: its own contexts have it, and the score is chosen among all scores of their answers.
Leakage is compared on the same targets in the contexts of the same numbers. A mitigation that cannot be tested has a
row with the reason. Where white-box is among the threats, `attention` has the attention of the contexts of `defended`
without and with k-anonymous keys, and both are attacked by the scores that read it, too.
"""

import re
from collections.abc import Iterator
from functools import partial

import xarray as xr

from memaudit.attacks.attack_entry import LABELS, WHITE_BOX
from memaudit.attacks.regression_signals import predicts_numbers
from memaudit.attacks.score_matrices import of_input, variant
from memaudit.attacks.white_box_scores import of_variants, white_box
from memaudit.common import seeds, tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.common.progress_bar import steps
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.mitigation_verdicts import NOISY, STRONGEST
from memaudit.studies.attacks.mitigation_attacks import utilities
from memaudit.studies.attacks.setting_attacks import varies_only
from memaudit.studies.audit.audit_attacks import permitted
from memaudit.studies.audit.mitigated_answers import (
    Mitigated,
    against_noisy_copies,
    gains,
    passive,
    rounded,
    strongest,
)
from memaudit.workflow.job import run

STUDY = "audit"
LABELS_ONLY, NUMBERS_ONLY = "labels only", "predicted numbers only"
KEYS = "keys"
NO_KEYS = "keys are changed in a TabICL or TabPFN in mode raw alone, and this model is audited as deployed"
SAME = "the adversary reads labels alone, which this does not change"


def main(job):
    threats, rmia, fpr = job.params.audit["threats"], job.params.attacks["rmia"], job.params.audit["fpr"]
    usual = passive(threats, rmia)
    defended, settings, everything = (of_input(job, name) for name in ("defended", "settings", "main"))
    names = list(dict.fromkeys(defended.variant.values))
    grids = {re.sub(rf" ?{names[0]}$", "", name) or "none": variant(defended, name) for name in names}
    none = grids.pop("none")
    undefended = strongest(none, usual, fpr)
    results = [*_own("none", undefended, none, none, job)]
    numbers = predicts_numbers(none)
    coarser = {NUMBERS_ONLY if numbers else LABELS_ONLY: passive(["labels"], rmia)}
    decimals = () if numbers else job.params.attacks["decimals"]
    coarser |= {f"decimals {digits}": rounded(threats, rmia, digits) for digits in decimals}
    for name, attacks_on in steps(coarser.items(), "coarser answers"):
        if permitted(threats) == LABELS:
            results += _not_tested(name, SAME, job)
        else:
            results += _against(name, none, attacks_on, (none, undefended), job)
    for name, grid in steps(grids.items(), "changed contexts"):
        results += _against(name, grid, usual, (none, undefended), job)
    # Smaller contexts and noisy copies are compared with the usual contexts of `main`.
    contexts = variant(everything, "usual").isel(model=slice(settings.sizes["model"]))
    whole = strongest(contexts, usual, fpr)
    for name in dict.fromkeys(settings.variant.values):
        if varies_only(name, "context"):
            results += _against(name, variant(settings, name), usual, (contexts, whole), job)
    # Predicted numbers have no noisy copies: no answer is the same again.
    if permitted(threats) != LABELS and "labels" in threats and not numbers:
        results += _noisy_copies(contexts, whole, job)
    if WHITE_BOX in threats:
        results += _seen_inside({"none": none, **grids}, job)
    write_table(tidy.frame(results), job.output[0])
    return {"seed": job.params.seed}


def _seen_inside(grids: dict[str, xr.Dataset], job) -> Iterator[dict]:
    """What an adversary who sees attention detects without and with k-anonymous keys."""
    if not job.input.get("attention"):
        yield from _not_tested(KEYS, NO_KEYS, job, WHITE_BOX)
        return
    seen = of_variants(grids, of_input(job, "attention"))

    def attacks_on(queried: xr.Dataset, population: xr.Dataset):
        return white_box(queried, population, job.params.attacks["rmia"])

    none = seen.pop("none")
    undefended = strongest(none, attacks_on, job.params.audit["fpr"])
    yield from _own("none", undefended, none, none, job, WHITE_BOX)
    for name, grid in seen.items():
        yield from _against(name, grid, attacks_on, (none, undefended), job, WHITE_BOX)


def _against(
    name: str, grid: xr.Dataset, attacks_on, none: tuple[xr.Dataset, Mitigated], job, attack: str = STRONGEST
) -> Iterator[dict]:
    """Leakage and accuracy of one mitigation, and their differences; the reason where it cannot be attacked."""
    try:
        attacked = strongest(grid, attacks_on, job.params.audit["fpr"])
        changes = gains(
            attacked,
            none[1],
            _fprs(job),
            rng=_rng(job, "difference", name, *_inside(attack)),
            replicates=_replicates(job),
        )
    except AuditError as problem:
        yield from _not_tested(name, str(problem), job, attack)
        return
    yield from _own(name, attacked, grid, none[0], job, attack)
    yield from rows(STUDY, _keys(name, job, attack), changes)


def _own(
    name: str, attacked: Mitigated, grid: xr.Dataset, none: xr.Dataset, job, attack: str = STRONGEST
) -> Iterator[dict]:
    """AUC and TPRs of the strongest score, its choice, and the accuracy of the same contexts."""
    keys = _keys(name, job, attack)
    options = {"fprs": _fprs(job), "rng": _rng(job, name, *_inside(attack)), "replicates": _replicates(job)}
    yield from rows(STUDY, keys, attacked.estimates(**options))
    score, share = attacked.most_chosen()
    yield tidy.row(STUDY, {**keys, "score": score}, "chosen", share, n=len(attacked.membership))
    own, differences = utilities(grid, none, partial(_rng, job, "utility"), _replicates(job))
    yield from rows(STUDY, keys, own if name == "none" else [*own, *differences])


def _noisy_copies(contexts: xr.Dataset, whole: Mitigated, job) -> Iterator[dict]:
    """Labels alone, attacked with noisy copies of some records, less the strongest score without the mitigation."""
    settings, keys = job.params.attacks["perturbation"], _keys(LABELS_ONLY, job, NOISY)
    try:
        attacked = against_noisy_copies(of_input(job, "perturbed"), contexts, settings["scale"], settings["count"])
        options = {"replicates": _replicates(job)}
        changes = gains(attacked, whole, _fprs(job), rng=_rng(job, "noisy copies"), **options)
        own = attacked.estimates(fprs=_fprs(job), rng=_rng(job, "noisy copies, own"), **options)
    except AuditError as problem:
        yield from _not_tested(LABELS_ONLY, str(problem), job, NOISY)
        return
    yield from rows(STUDY, keys, [*own, *changes])


def _not_tested(name: str, reason: str, job, attack: str = STRONGEST) -> Iterator[dict]:
    yield tidy.row(STUDY, _keys(name, job, attack), "tested", 0.0, unit="yes or no", method=reason)


def _keys(name: str, job, attack: str = STRONGEST) -> dict[str, str]:
    return {"dataset": job.wildcards.dataset, "mitigation": name, "attack": attack}


def _inside(attack: str) -> list[str]:
    """What the random streams of another attack than the strongest score are named after."""
    return [] if attack == STRONGEST else [attack]


def _fprs(job) -> list[float]:
    return sorted({*job.params.attacks["fpr"], job.params.audit["fpr"]}, reverse=True)


def _replicates(job) -> int:
    return job.params.attacks["replicates"]


def _rng(job, *names: str):
    return seeds.generator(job.params.seed, STUDY, "mitigations", job.wildcards.dataset, *names)


if __name__ == "__main__":
    run(main, globals())
