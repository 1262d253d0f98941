"""The two stages of an audit as config overlays: quick first numbers, then sizes that fit the user's time budget.

The rule for the second stage: its seconds are predicted for each number of contexts and records (`Cost`), from what the
first stage took. The number of records doubles from that of the first stage while ENOUGH contexts fit the budget; then
the number of contexts grows, up to MOST_SETS.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import yaml

from memaudit.auditing.reading import model_choice
from memaudit.auditing.reading.request import FPR
from memaudit.auditing.running import optional_studies
from memaudit.common.project_paths import PROJECT

BLOCK = 8
QUICK_SETS, QUICK_RECORDS = 32, 1000
QUICK_SHARD = QUICK_SETS // 2  # so that two cores have answers sooner
ENOUGH, MOST_SETS, FEWEST_SETS = 64, 256, 32
MOST_RECORDS = 8000
ARM_SETS = 32  # of a further model, a smaller context, a mitigation
START_SECONDS = 5.0  # of a job that queries a model: imports, and loading the model
FIXED_SECONDS = 60.0  # of the workflow: its start and that of its two dozen jobs, the split, the page
QUICK_SECONDS = 32.0  # expected for the first stage
PAGE_SECONDS = 15.0  # to rate the records again with the smallest leak, and to write the page again
OVERTIME = 1.5  # times its budget that an audit may be expected to take before its second stage is left out
RATERS = 2  # processes that rate records at the same time
JOBS = 4  # most jobs that query a model at the same time
OTHER_JOBS = 7  # that query a model, besides those of `main`
# Seconds of the second stage's statistics in those of the first stage's rating of records: of the rating (twice the
# redraws and replicates, and the smallest leak), and of groups and mitigations; each grows with the answers, in UNIT.
UNIT = 25_600
RATING, OTHERS = (3.5, 0.68), (1.3, 0.1)
# Cost of each part, in shadow contexts of the usual size.
DEFENCES, SMALLER, NOISY = 4.5 * ARM_SETS, 0.6 * ARM_SETS, 5 * 32
POISONED = 16 * 40
INFERRED = 1.0 * ARM_SETS  # of a column, or of linkability: 128 targets with up to 12 values in 32 contexts
ATTENTION_SETS = 64  # at most: of the attack that reads attention
POPULATION, KEYS = 2, 16  # of mitigations: contexts of their own; `models.anonymous_keys.K`, which needs torch
KEYED = 3 * ARM_SETS  # answers with other keys, and attention without and with them
NAME = "table"
MEMBERS, NONMEMBERS = 0.8, 0.2
SIDE = "audit"


def quick_sizes(records: int) -> dict[str, Any]:
    """Sizes of the first stage."""
    return {"sets": QUICK_SETS, "records": min(records, QUICK_RECORDS)}


@dataclass(frozen=True)
class Cost:
    """Seconds of the second stage on a number of cores.

    seconds: of a shadow context of `quick_records` records; rating: CPU seconds of the first stage's rating of records;
    models: number of models compared; poison: whether attacks with mislabelled copies are run; white_box: whether
    attention is read; questions: columns that are inferred, and one for
    linkability; elsewhere: CPU seconds for private contexts and fine-tuning.
    """

    quick_records: int
    seconds: float
    rating: float
    cores: int
    models: int = 1
    poison: bool = False
    white_box: bool = False
    questions: int = 0
    elsewhere: float = 0.0

    def of(self, sets: int, records: int) -> float:
        """Seconds of this many contexts and records, from the start of the stage to the page.

        A context of n records costs (n / n_quick)^2 as much as the first stage's. The rating is one job in two
        processes, which waits for the main contexts; everything else shares the cores with it.
        """
        context = self.seconds * (records / self.quick_records) ** 2
        jobs = ceil(sets / max(ARM_SETS, sets // JOBS))
        main = context * sets + START_SECONDS * jobs
        extra = DEFENCES + SMALLER + NOISY + ARM_SETS * (self.models - 1) + POISONED * self.poison
        extra += (ATTENTION_SETS + KEYED) * self.white_box + INFERRED * self.questions
        answers = (sets * records - QUICK_SETS * self.quick_records) * MEMBERS / UNIT
        rating, others = (self.rating * (fixed + each * answers) for fixed, each in (RATING, OTHERS))
        cores = min(self.cores, JOBS)
        every = main + context * extra + START_SECONDS * OTHER_JOBS + rating + others + self.elsewhere
        return FIXED_SECONDS + max(every / cores, main / cores + rating / min(cores, RATERS))


def full_sizes(records: int, left: float, cost: Cost) -> dict[str, Any]:
    """Sizes of the second stage; records: of the table; left: seconds of the budget."""

    def sets(size: int) -> int:
        fitting = [number for number in range(FEWEST_SETS, MOST_SETS + 1, 16) if cost.of(number, size) <= left]
        return max(fitting, default=FEWEST_SETS)

    size = min(records, cost.quick_records)
    while size < min(records, MOST_RECORDS) and sets(min(2 * size, records, MOST_RECORDS)) >= ENOUGH:
        size = min(2 * size, records, MOST_RECORDS)
    facts = {"seconds per set": round(cost.seconds, 4), "seconds left": round(left, 1)}
    return {"sets": sets(size), "records": size, **facts, "seconds expected": round(cost.of(sets(size), size), 1)}


def guessed_seconds(minutes: float, quick: bool) -> dict[str, float]:
    """Seconds that each stage is expected to take before anything is measured; quick: whether the first is the last."""
    return {"quick": QUICK_SECONDS} | ({} if quick else {"full": max(60 * minutes - QUICK_SECONDS, FIXED_SECONDS)})


def too_short(minutes: float) -> bool:
    """Whether the second stage fits a budget on no machine."""
    return 60 * minutes * OVERTIME < QUICK_SECONDS + FIXED_SECONDS


def fits(minutes: float, sizes: Mapping[str, Any]) -> bool:
    """Whether the second stage fits the budget with some overtime; sizes: as `full_sizes` gives them."""
    return sizes["seconds expected"] - sizes["seconds left"] <= (OVERTIME - 1) * 60 * minutes


def enough(minutes: float, sizes: Mapping[str, Any]) -> int:
    """Whole minutes that the second stage fits; minutes, sizes: of one that it does not fit."""
    return ceil(minutes + (sizes["seconds expected"] - sizes["seconds left"]) / 60)


def left_out(minutes: float, needed: int) -> str:
    """A line for an audit that ends with its first numbers; needed: of `enough`."""
    return (
        f"these are first numbers: mitigations and the rest would take about {needed} minutes on this machine, and the "
        f"budget is {minutes:g}; --minutes {needed} has them, --whole has them whatever they take"
    )


def overrun(seconds: float, minutes: float, sizes: Mapping[str, Any]) -> str | None:
    """A line for an audit that took more than twice its budget, None for others; sizes: as `full_sizes` gives them."""
    if seconds <= 2 * 60 * minutes:
        return None
    expected = f"{sizes['seconds expected'] / 60:.1f} minutes"
    if sizes["seconds expected"] > sizes["seconds left"]:
        why = f"the smallest second stage of this request was expected to take {expected} here; --quick leaves it out"
    else:
        why = f"the second stage was expected to take {expected}, by the pace of the first; was the machine busier?"
    return f"took {seconds / 60:.1f} minutes where {minutes:g} were asked: {why}"


def overlay(
    stage: str,
    facts: Mapping[str, Any],
    sizes: Mapping[str, Any],
    chosen: Mapping[str, Any],
    models: tuple[Mapping[str, Any], Sequence[str]],
) -> dict[str, Any]:
    """The config of a stage.

    facts: of the intake; sizes: of `quick_sizes` or `full_sizes`; chosen: threats, seed, base_rates, shown, quick
    (whether the first stage is the last), show_values, epsilons, finetune, owner, review_by, records, model_labels and
    context_rows (None: all rows with a target);
    models: of `model_choice.entries`.
    """
    complete = stage == "full"
    added, names = models
    arms = ["main", *(f"model_{place}" for place in range(2, len(names) + 1))]
    labels = dict(zip(arms, chosen["model_labels"], strict=True))
    if not complete:
        arms, labels = arms[:1], {"main": labels["main"]}
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
        "attacks": _attacks(facts, sizes, dict(zip(arms, names, strict=False)), complete),
        "audit": _audit(facts, sizes, chosen, labels, complete),
    }
    if not complete:
        return config
    if "white-box" in chosen["threats"]:
        _add_attention(config, names[0], sizes["sets"])
    return config | _extras(sizes["records"], names[0], chosen, config["models"])


def _audit(
    facts: Mapping[str, Any],
    sizes: Mapping[str, Any],
    chosen: Mapping[str, Any],
    labels: Mapping[str, str],
    complete: bool,
) -> dict[str, Any]:
    """The section of the audit itself; labels: of the models, by their conditions."""
    audit = {key: chosen[key] for key in ("threats", "base_rates", "shown", "show_values", "epsilons", "finetune")}
    audit |= {"dataset": NAME, "facts": "table/facts.json", "models": dict(labels), "by": list(facts["by"])}
    audit |= {"fpr": FPR, "infer": list(facts["infer"])}
    audit |= {key: chosen[key] for key in ("owner", "review_by", "records")}
    audit |= {"context_rows": chosen["context_rows"] or facts["rows"] - facts["without_target"]}
    audit |= {"groups": 12, "permutations": 99, "complete": complete, "plan": dict(sizes)}
    return audit | {"smallest": complete or chosen["quick"]}


def _add_attention(config: dict[str, Any], model: str, sets: int) -> None:
    """Add the model whose attention is read, its section, and k-anonymous keys where they can be changed."""
    entries, inside = model_choice.readable(model, config["models"])
    config["models"] |= entries
    if inside == model:  # not of a model that is audited as deployed: its keys are the package's
        config["attacks"]["arms"]["defended"]["variants"].append({"population": POPULATION, "keys": KEYS})
    seen = min(sets, ATTENTION_SETS)
    config["attacks"]["attention"] = {"datasets": [NAME], "model": inside, "sets": seen, "shard": ARM_SETS}


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
    first = {"population": POPULATION}
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
        "shard": max(ARM_SETS, sets // JOBS) if complete else QUICK_SHARD,
        "fpr": [0.1, FPR],
        "replicates": 200 if complete else 100,
        "permutations": 39 if complete else 19,
        "decimals": [1, 2],
        "arms": arms,
        "perturbation": {
            "targets": 64, "sets": 32, "shard": 32, "counts": [20], "scales": [0.1], "count": 20, "scale": 0.1,
            "directions": 4, "steps": 5,
        },
        "active": {
            "arms": ["main"], "targets": 8, "sets": 32, "shard": 32, "budgets": [4], "most": 4, "grouped": 64,
            "together": 8, "copies": [1, 4],
        },
        "detectable": 0.6,
        "inference": {"sensitive": {NAME: first_column}, "sets": 16},
    }  # fmt: skip
