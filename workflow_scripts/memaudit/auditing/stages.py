"""The two stages of an audit as config overlays: quick first numbers, then sizes that fit the user's time budget.

The rule for the second stage: a fixed part of the budget goes to statistics and the start of jobs. The rest, divided by
the first stage's seconds per shadow context, gives the number of contexts; a context of n records costs
(n / n_quick)^2 as much. The number of records doubles from that of the first stage while ENOUGH contexts are
affordable; then the number of contexts grows, up to MOST_SETS.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from memaudit.auditing import model_choice, optional_studies
from memaudit.common.project_paths import PROJECT

BLOCK = 8
QUICK_SETS, QUICK_RECORDS = 32, 1000
ENOUGH, MOST_SETS, FEWEST_SETS = 64, 256, 32
MOST_RECORDS = 8000
ARM_SETS = 32  # of a further model, a smaller context, a mitigation
START_SECONDS = 5.0  # of a job that queries a model: imports, and loading the model
FIXED_SECONDS = 85.0  # start of jobs, calibration, permutations, planted checks, the page
QUICK_SECONDS = 45.0  # expected for the first stage
# Statistics of the second stage, in those of the first: for its redraws, and for each entry of the first stage.
PER_STAGE, PER_ENTRY = 2.0, 0.3
JOBS = 4  # most jobs that query a model at the same time
# Cost of each part, in shadow contexts of the usual size.
DEFENCES, SMALLER, NOISY = 4.5 * ARM_SETS, 0.6 * ARM_SETS, 1.5 * 16
POISONED = 16 * 40
FPR = 0.01
NAME = "table"
MEMBERS, NONMEMBERS = 0.8, 0.2
SIDE = "audit"


def quick_sizes(records: int) -> dict[str, Any]:
    """Sizes of the first stage."""
    return {"sets": QUICK_SETS, "records": min(records, QUICK_RECORDS)}


def full_sizes(
    records: int,
    quick_records: int,
    seconds: float,
    left: float,
    *,
    cores: int,
    models: int,
    poison: bool,
    seconds_elsewhere: float = 0.0,
) -> dict[str, Any]:
    """Sizes of the second stage.

    records: of the table; quick_records: of the first stage, at `seconds` for a shadow context; left: seconds of the
    budget, on this number of cores; models: number of models compared; poison: whether attacks with mislabelled copies
    are run; seconds_elsewhere: CPU seconds for private contexts and fine-tuning.
    """
    extra = _extra_sets(models, poison)
    usable = max((left - FIXED_SECONDS) * min(cores, JOBS) - seconds_elsewhere, 0.0)

    def sets(size: int) -> float:
        return usable / max(seconds * (size / quick_records) ** 2, 1e-6) - extra

    size = min(records, quick_records)
    while size < min(records, MOST_RECORDS) and sets(min(2 * size, records, MOST_RECORDS)) >= ENOUGH:
        size = min(2 * size, records, MOST_RECORDS)
    contexts = int(min(max(sets(size), FEWEST_SETS), MOST_SETS)) // 16 * 16
    return {"sets": contexts, "records": size, "seconds per set": round(seconds, 4), "seconds left": round(left, 1)}


def _extra_sets(models: int, poison: bool) -> float:
    """Cost of all but the main contexts, in shadow contexts."""
    return DEFENCES + SMALLER + NOISY + ARM_SETS * (models - 1) + POISONED * poison


def guessed_seconds(minutes: float, quick: bool) -> dict[str, float]:
    """Seconds that each stage is expected to take before anything is measured; quick: whether the first is the last."""
    return {"quick": QUICK_SECONDS} | ({} if quick else {"full": max(60 * minutes - QUICK_SECONDS, FIXED_SECONDS)})


def full_seconds(
    sizes: Mapping[str, Any],
    quick_records: int,
    statistics: float,
    *,
    cores: int,
    models: int,
    poison: bool,
    seconds_elsewhere: float = 0.0,
) -> float:
    """Seconds that the second stage is expected to take.

    sizes: of `full_sizes`; statistics: CPU seconds of rating records in the first stage; otherwise as `full_sizes`.
    """
    ratio = sizes["records"] / quick_records
    queries = (sizes["sets"] + _extra_sets(models, poison)) * sizes["seconds per set"] * ratio**2
    entries = ratio * sizes["sets"] / QUICK_SETS
    judged = statistics * (PER_STAGE + PER_ENTRY * entries)
    jobs = 2 * JOBS * START_SECONDS
    return 2 * START_SECONDS + (queries + judged + jobs + seconds_elsewhere) / min(cores, JOBS)


def overlay(
    stage: str,
    facts: Mapping[str, Any],
    sizes: Mapping[str, Any],
    chosen: Mapping[str, Any],
    models: tuple[Mapping[str, Any], Sequence[str]],
) -> dict[str, Any]:
    """The config of a stage.

    facts: of the intake; sizes: of `quick_sizes` or `full_sizes`; chosen: threats, seed, base_rates, shown,
    show_values, epsilons, finetune, owner, review_by, model_labels and context_rows (None: all rows with a target);
    models: of `model_choice.entries`.
    """
    complete = stage == "full"
    added, names = models
    arms = ["main", *(f"model_{place}" for place in range(2, len(names) + 1))]
    labels = dict(zip(arms, chosen["model_labels"], strict=True))
    if not complete:
        arms, labels = arms[:1], {"main": labels["main"]}
    used = dict(zip(arms, names, strict=False))
    audit = {key: chosen[key] for key in ("threats", "base_rates", "shown", "show_values", "epsilons", "finetune")}
    audit |= {"dataset": NAME, "facts": "table/facts.json", "models": labels, "by": list(facts["by"]), "fpr": FPR}
    audit |= {key: chosen[key] for key in ("owner", "review_by")}
    audit |= {"context_rows": chosen["context_rows"] or facts["rows"] - facts["without_target"]}
    audit |= {"groups": 12, "permutations": 99, "complete": complete, "plan": dict(sizes)}
    config = {
        "run": stage,
        "seed": chosen["seed"],
        "data": {
            "datasets": [NAME],
            "public_id_key": None,
            "conflicts": "drop_both" if facts["group"] else "keep",
            "splits": {SIDE: {"members": MEMBERS, "nonmembers": NONMEMBERS}},
        },
        "datasets": {NAME: _dataset(facts, sizes["records"])},
        "models": dict(added),
        "attacks": _attacks(facts, sizes, used, complete),
        "audit": audit,
    }
    return config | (_extras(sizes["records"], names[0], chosen, added) if complete else {})


def _extras(records: int, model: str, chosen: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """Sections of private contexts and fine-tuning, if the user chose them."""
    known = yaml.safe_load((PROJECT / "config" / "config.yaml").read_text(encoding="utf-8"))
    sections: dict[str, Any] = {}
    if chosen["epsilons"]:
        arms, fpr = list(known["tabpate"]["arms"]), [0.1, FPR]
        sections["tabpate"] = optional_studies.private_contexts(NAME, chosen["epsilons"], records, model, arms, fpr)
    if chosen["finetune"]:
        entries, tuned = model_choice.tunable(model, added)
        study = known["iclmem"]
        sections["models"] = dict(added) | entries
        sections["iclmem"] = optional_studies.finetuning(NAME, records, tuned, study["arms"], study["datasets"])
    return sections


def _dataset(facts: Mapping[str, Any], records: int) -> dict[str, Any]:
    types = {name: column["type"] for name, column in facts["columns"].items() if column["use"]}
    return {
        "source": "file",
        "path": "table/table.parquet",
        "public": optional_studies.PUBLIC,
        "target": "target",
        "task": facts["kind"],
        "licence": "private",
        "group": "group" if facts["group"] else None,
        "drop": ["row"],
        "types": types,
        "rows": facts["taken"],
        "columns": len(types),
        "max_records": records,
        "limits": _limits(facts["classes"], records),
    }


def _limits(classes: int, records: int) -> dict[str, Any]:
    """How far the sides of the split may differ.

    Shares of classes differ by rounding: by up to one non-member of each class, and duplicates leave fewer. A mean of
    heavy-tailed numbers strays further in a small table than a share of a class.
    """
    shares = min(max(0.1, classes / (NONMEMBERS * records)), 0.9)
    return {
        "tvd": round(shares, 3), "ks": 0.2, "wasserstein": 0.5, "p_value": 0.0001,
        "reason": "a table of any size; the page shows the checks",
    }  # fmt: skip


def _attacks(facts: Mapping[str, Any], sizes: Mapping[str, Any], used: Mapping[str, str], complete: bool) -> dict:
    sets, context = sizes["sets"], int(0.8 * sizes["records"]) // 2
    smaller = [{"context": max(8, context // part)} for part in (2, 4)]
    first = {"population": 2}
    defended = [first, first | {"bags": 4}, *(first | {"layer": layer} for layer in ("dropped", "random", "coarsened"))]
    arms = {arm: {"model": model, "sets": min(sets, ARM_SETS)} for arm, model in used.items()}
    arms["main"]["sets"] = sets
    model = used["main"]
    first_column = next(name for name, one in facts["columns"].items() if one["use"])
    arms["other_mode"] = {"model": model}  # of the demo: not queried here, but of the table's task
    arms["settings"] = {"model": model, "sets": ARM_SETS, "variants": smaller}
    arms["defended"] = {"model": model, "sets": ARM_SETS, "variants": defended}
    return {
        "datasets": [NAME],
        "split": SIDE,
        "sets": sets,
        "sizes": [BLOCK, sets],
        "shard": max(ARM_SETS, sets // JOBS),
        "fpr": [0.1, FPR],
        "replicates": 200 if complete else 100,
        "permutations": 39 if complete else 19,
        "decimals": [1, 2],
        "arms": arms,
        "perturbation": {
            "targets": 24, "sets": 16, "shard": 16, "counts": [20], "scales": [0.1], "count": 20, "scale": 0.1,
        },
        "active": {"arms": ["main"], "targets": 8, "sets": 16, "shard": 16, "budgets": [4, 8], "most": 8},
        "inference": {"sensitive": {NAME: first_column}, "sets": 16},
    }  # fmt: skip
