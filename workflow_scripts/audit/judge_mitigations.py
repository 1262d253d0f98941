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
from memaudit.common import tidy
from memaudit.common.errors import AuditError
from memaudit.common.io import write_table
from memaudit.common.progress_bar import steps
from memaudit.statistics.attack_performance import rows
from memaudit.statistics.mitigation_verdicts import STRONGEST
from memaudit.studies.attacks.mitigation_attacks import utilities
from memaudit.studies.attacks.setting_attacks import varies_only
from memaudit.studies.audit import mitigation_rows
from memaudit.studies.audit.audit_attacks import permitted
from memaudit.studies.audit.mitigated_answers import Candidates, Mitigated, passive, rounded, strongest
from memaudit.studies.audit.mitigation_rows import LABELS_ONLY, STUDY, keys_of
from memaudit.workflow.job import run

NUMBERS_ONLY, KEYS = "predicted numbers only", "keys"
NO_KEYS = "keys are changed in a TabICL or TabPFN in mode raw alone, and this model is audited as deployed"
SAME = "the adversary reads labels alone, which this does not change"
Usual = tuple[xr.Dataset, Mitigated]  # score matrix without the mitigation, and its strongest scores


def main(job):
    usual = passive(job.params.audit["threats"], job.params.attacks["rmia"])
    defended = of_input(job, "defended")
    names = list(dict.fromkeys(defended.variant.values))
    grids = {re.sub(rf" ?{names[0]}$", "", name) or "none": variant(defended, name) for name in names}
    none = grids["none"], strongest(grids["none"], usual, job.params.audit["fpr"])
    changed = {name: grid for name, grid in grids.items() if name != "none"}
    results = [*_own("none", none[1], none[0], none, job), *_coarser_answers(none, job)]
    for name, grid in steps(changed.items(), "changed contexts"):
        results += _against(name, grid, usual, none, job)
    results += _settings(usual, job)
    if WHITE_BOX in job.params.audit["threats"]:
        results += _seen_inside(grids, job)
    write_table(tidy.frame(results), job.output[0])
    return {"seed": job.params.seed}


def _coarser_answers(none: Usual, job) -> Iterator[dict]:
    """Labels, or predicted numbers, alone, and probabilities with fewer decimals."""
    threats, rmia = job.params.audit["threats"], job.params.attacks["rmia"]
    numbers = predicts_numbers(none[0])
    coarser = {NUMBERS_ONLY if numbers else LABELS_ONLY: passive(["labels"], rmia)}
    decimals = () if numbers else job.params.attacks["decimals"]
    coarser |= {f"decimals {digits}": rounded(threats, rmia, digits) for digits in decimals}
    for name, attacks_on in steps(coarser.items(), "coarser answers"):
        if permitted(threats) == LABELS:
            yield from mitigation_rows.not_tested_rows(name, SAME, job)
        else:
            yield from _against(name, none[0], attacks_on, none, job)


def _settings(usual: Candidates, job) -> Iterator[dict]:
    """Smaller contexts and many queries of labels, which are compared with the usual contexts of `main`."""
    threats, settings = job.params.audit["threats"], of_input(job, "settings")
    contexts = variant(of_input(job, "main"), "usual").isel(model=slice(settings.sizes["model"]))
    whole = strongest(contexts, usual, job.params.audit["fpr"])
    for name in dict.fromkeys(settings.variant.values):
        if varies_only(name, "context"):
            yield from _against(name, variant(settings, name), usual, (contexts, whole), job)
    # Predicted numbers have no noisy copies: no answer is the same again.
    if permitted(threats) != LABELS and "labels" in threats and not predicts_numbers(contexts):
        yield from mitigation_rows.queried_label_rows(contexts, whole, job)


def _seen_inside(grids: dict[str, xr.Dataset], job) -> Iterator[dict]:
    """What an adversary who sees attention detects without and with k-anonymous keys."""
    if not job.input.get("attention"):
        yield from mitigation_rows.not_tested_rows(KEYS, NO_KEYS, job, WHITE_BOX)
        return
    seen = of_variants(grids, of_input(job, "attention"))
    attacks_on = partial(white_box, rmia=job.params.attacks["rmia"])
    grid = seen.pop("none")
    none = grid, strongest(grid, attacks_on, job.params.audit["fpr"])
    yield from _own("none", none[1], grid, none, job, WHITE_BOX)
    for name, keyed in seen.items():
        yield from _against(name, keyed, attacks_on, none, job, WHITE_BOX)


def _against(name: str, grid: xr.Dataset, attacks_on: Candidates, none: Usual, job, attack=STRONGEST) -> Iterator[dict]:
    """Leakage and accuracy of one mitigation, and their differences; the reason where it cannot be attacked."""
    try:
        attacked = strongest(grid, attacks_on, job.params.audit["fpr"])
        changes = mitigation_rows.changes(name, attacked, none[1], job, attack)
    except AuditError as problem:
        yield from mitigation_rows.not_tested_rows(name, str(problem), job, attack)
        return
    yield from _own(name, attacked, grid, none, job, attack)
    yield from rows(STUDY, keys_of(name, job, attack), changes)


def _own(name: str, attacked: Mitigated, grid: xr.Dataset, none: Usual, job, attack=STRONGEST) -> Iterator[dict]:
    """Leakage by the strongest score, and the accuracy of the same contexts with its difference to `none`."""
    yield from mitigation_rows.leakage_rows(name, attacked, job, attack)
    rng_of = partial(mitigation_rows.stream, job, "utility")
    own, differences = utilities(grid, none[0], rng_of, job.params.attacks["replicates"])
    yield from rows(STUDY, keys_of(name, job, attack), own if name == "none" else [*own, *differences])


if __name__ == "__main__":
    run(main, globals())
