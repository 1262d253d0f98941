"""The section `tabpate`: its shape, and what only several of its keys together can get wrong."""

import itertools
import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from memaudit.common.project_paths import config_path
from memaudit.config.arm_tables import tables_of
from memaudit.config.field_types import Count, Fraction, Name, Positive, Section
from memaudit.config.name_checks import licence_faults, unknown
from memaudit.config.shared_keys import SharedKeys
from memaudit.config.tabpate_arms import Arm, Method


class Roles(Section):
    """Who is private, who is public for PromptPATE, and on whom all are tested; drawn anew in each repeat."""

    test: Fraction = Field(description="share of the units on which all methods are tested")
    held_out: Fraction = Field(description="share of the others that is public for PromptPATE")
    max_records: Count | None = Field(None, description="records that take part at most; null: all")


class Poisoned(Section):
    """Brainwash on the student: every number of mislabelled copies is a release of its own."""

    epsilons: list[Positive] = Field(min_length=1, description="epsilons that are attacked so")
    sets: Annotated[int, Field(ge=16)] = Field(description="shadow contexts")
    targets: Annotated[int, Field(ge=2)] = Field(description="private records that are attacked")
    budgets: list[Count] = Field(min_length=1, description="numbers of mislabelled copies, beside none")


class Shadows(Section):
    """Attacks on released students: each shadow context is half of the private records and runs the whole mechanism."""

    datasets: list[Name] = Field(description="those of tabpate/datasets whose students are attacked")
    arms: list[Name] = Field(
        description="arms that are attacked, beside the model without privacy; AIM and MST are in tabpate/synthesizers"
    )
    epsilons: list[Positive] = Field(min_length=1, description="epsilons that are attacked")
    sets: Annotated[int, Field(ge=16)] = Field(description="shadow contexts of each arm and epsilon")
    shard: Count = Field(description="shadow contexts per job")
    fpr: list[Fraction] = Field(min_length=1, description="target false positive rates")
    permutations: Annotated[int, Field(ge=19)] = Field(description="redraws of the membership matrix behind each null")
    poisoned: Poisoned


class Vary(Section):
    """One setting of the mechanism that is varied, the others as in the base arm."""

    teachers: list[int] = Field([], description="numbers K of teachers")
    sigma1: list[Positive] = Field([], description="noise of the check, in votes")
    sigma2: list[Positive] = Field([], description="noise of the votes")
    threshold: list[Positive] = Field([], description="votes that a query needs")
    queries: list[Count] = Field([], description="numbers M of queries")
    alpha: list[Fraction] = Field([], description="shares of epsilon for moments; the prior is then `moments`")
    prior: list[Literal["uniform", "gaussian"]] = Field([], description="priors that cost nothing")


class Ablations(Section):
    """What each setting of the published mechanism does."""

    datasets: list[Name] = Field(description="those of tabpate/datasets on which settings are varied")
    base: Name = Field(description="arm whose settings are varied; its method is tabpate")
    epsilons: list[Positive] = Field(min_length=1, description="epsilons at which they are varied")
    vary: Vary


class Refits(Section):
    """Refits of AIM and MST with and without a canary, for their empirical epsilon, which is that of no table."""

    arms: list[Name] = Field(description="arms of AIM or MST that are refitted; []: none")
    epsilons: list[Positive] = Field(min_length=1, description="epsilons at which they are refitted")
    refits: Annotated[int, Field(ge=10)] = Field(
        description="with the canary and as many without it, at each epsilon and with the noise off"
    )
    iterations: Count = Field(
        description="of each fit; fewer cost accuracy, never privacy. Rounds are those of the arm, not tuned ones"
    )


class Tabpate(Section):
    """What a private context costs, and whether it protects (TabPATE, Sections 4 and 5, Appendices B to D)."""

    datasets: list[Name] = Field(
        description="tables whose records are private, with public facts in config/public; []: the study is left out"
    )
    models: dict[Literal["classification", "regression"], Name] = Field(description="model of teachers and students")
    epsilons: list[Positive] = Field(min_length=1, description="privacy budgets")
    delta: Fraction = Field(description="delta of all of them, at most 1 / records")
    tuned: str | None = Field(
        None,
        description="file of tuned settings (`make tune_tabpate`), of the working folder, else of the project's; null: "
        "none",
    )
    repeats: Annotated[int, Field(ge=1)] = Field(description="times that roles are drawn and every mechanism runs")
    roles: Roles
    replicates: Annotated[int, Field(ge=20)] = Field(description="bootstrap replicates behind each interval")
    shard: Count = Field(description="releases per job")
    arms: dict[Name, Method] = Field(
        description="methods compared; `as_published` is the one that others are held against"
    )
    ablations: Ablations
    shadows: Shadows
    audit: Count = Field(description="runs of the label mechanism with and without a record, each")
    synthesizers: Refits


def tabpate_faults(tabpate: Tabpate, shared: SharedKeys) -> Iterator[str]:
    """Faults of the section `tabpate`, each naming its key path and a remedy."""
    if not tabpate.datasets:
        return
    for where, names in (
        ("datasets", tabpate.datasets),
        ("shadows/datasets", tabpate.shadows.datasets),
        ("ablations/datasets", tabpate.ablations.datasets),
    ):
        yield from unknown(f"tabpate/{where}", names, "datasets", shared)
    tasks = {name: shared.datasets[name].task for name in tabpate.datasets if name in shared.datasets}
    for name, task in tasks.items():
        if shared.datasets[name].kind != "table":
            yield f"tabpate/datasets: {name} is no table"
        elif task not in tabpate.models:
            yield f"tabpate/models/{task}: missing; {name} needs one"
        rows = shared.datasets[name].rows
        if rows and tabpate.delta > 1 / rows:
            yield f"tabpate/delta: {tabpate.delta:g} is more than 1 / {rows}, the records of {name}"
    for task, model in tabpate.models.items():
        yield from unknown(f"tabpate/models/{task}", [model], "models", shared)
        if model in shared.models and shared.models[model].task != task:
            yield f"tabpate/models/{task}: {model} is for {shared.models[model].task}"
    yield from licence_faults({f"tabpate/models/{task}": model for task, model in tabpate.models.items()}, shared)
    yield from _arm_faults(tabpate, tasks, shared)


def _arm_faults(tabpate: Tabpate, tasks: dict[str, str], shared: SharedKeys) -> Iterator[str]:
    for needed in ("as_published", tabpate.ablations.base):
        if needed not in tabpate.arms or tabpate.arms[needed].method != "tabpate":
            yield f"tabpate/arms/{needed}: missing; comparisons need this arm, of the method tabpate"
    for name, arm in tabpate.arms.items():
        settings = arm.settings
        if not name.isidentifier():
            yield f"tabpate/arms/{name}: call an arm by letters, digits and _ alone"
        for key in ("datasets", "chosen_on"):
            yield from unknown(f"tabpate/arms/{name}/{key}", getattr(arm, key) or [], "datasets", shared)
        if arm.method == "tabpate" and settings.labels == "group":
            yield f"tabpate/arms/{name}/settings/labels: TabPATE labels by votes; by group is the method class-moments"
        if arm.method == "prompt-pate" and not arm.held_out:
            yield f"tabpate/arms/{name}/held_out: PromptPATE's public records cannot be private, too; set it to true"
        if arm.method == "tabpate-tuned" and len(set(settings.candidates)) < len(settings.candidates):
            yield f"tabpate/arms/{name}/settings/candidates: the same alpha twice, and each is paid for; name it once"
        numbers = [dataset for dataset in tables_of(arm.datasets, list(tasks)) if tasks.get(dataset) == "regression"]
        if arm.method == "dp-tabicl" and numbers and settings.prototypes < settings.intervals:
            few = f"{settings.prototypes} are fewer than `intervals`, {settings.intervals} of the target of "
            yield f"tabpate/arms/{name}/settings/prototypes: {few}{numbers[0]}; take at least one for each"
        for noise in ("sigma1", "sigma2") if getattr(settings, "threshold", None) else ():
            if getattr(settings, noise) is None:
                yield f"tabpate/arms/{name}/settings/{noise}: goes with `threshold`; name both noises, in votes"
        yield from unknown(f"tabpate/arms/{name}/by_dataset", list(arm.by_dataset), "datasets", shared)
        for dataset, changes in arm.by_dataset.items():
            yield from _settings_faults(f"tabpate/arms/{name}/by_dataset/{dataset}", arm, changes)
        yield from _variant_faults(name, arm, tabpate.datasets)
    yield from _tuned_faults(tabpate, tasks)
    yield from _shadow_faults(tabpate, tasks)


def _variant_faults(name: str, arm: Arm, datasets: list[str]) -> Iterator[str]:
    """Tables of the run that would silently miss the settings of the table that they are a part or a variant of."""
    for dataset in (one for one in datasets if one not in arm.by_dataset and one in tables_of(arm.datasets, datasets)):
        for other in arm.by_dataset:
            if dataset.startswith(f"{other}-"):
                where = f"tabpate/arms/{name}/by_dataset"
                yield f"{where}: has settings of {other}, but none of {dataset}, a variant of it; name {dataset}, too"


def _settings_faults(where: str, arm: Arm, changes: dict[str, Any]) -> Iterator[str]:
    """Faults of an arm's settings with these changes."""
    try:
        type(arm.settings).model_validate(arm.settings.model_dump() | changes)
    except ValidationError as error:
        for fault in error.errors():
            yield f"{where}/{'/'.join(map(str, fault['loc']))}: {fault['msg'].lower()}"


def _tuned_faults(tabpate: Tabpate, tasks: dict[str, str]) -> Iterator[str]:
    """What a file of tuned settings lacks for the arms that take theirs from it."""
    arms = {name: arm for name, arm in tabpate.arms.items() if arm.tuned and tabpate.tuned}
    if not arms:
        return
    path = config_path(tabpate.tuned)
    if not path.is_file():
        yield f"tabpate/tuned: there is no file {tabpate.tuned}; run `make tune_tabpate`, or set it to null"
        return
    found = json.loads(path.read_text(encoding="utf-8"))
    tuned, tables = found["arms"], found["effort"]["tables"]
    for name in sorted(set(tasks).intersection(itertools.chain.from_iterable(tables.values()))):
        yield f"tabpate/datasets: {tabpate.tuned} was tuned on {name}; leave it out, or set tabpate/tuned to null"
    for name, arm in arms.items():
        for task in sorted({task for table, task in tasks.items() if table in tables_of(arm.datasets, list(tasks))}):
            for epsilon in arm.epsilons or tabpate.epsilons:
                one = tuned.get(arm.tuned, {}).get(task, {}).get(f"{epsilon:g}")
                where = f"tabpate/arms/{name}/tuned"
                if one is None:
                    missing = f"{tabpate.tuned} has no settings of {arm.tuned} for {task} at epsilon {epsilon:g}"
                    yield f"{where}: {missing}; tune it, or set this to null"
                else:
                    yield from _settings_faults(f"{where}/{task}/{epsilon:g}", arm, one["settings"])


def _shadow_faults(tabpate: Tabpate, tasks: dict[str, str]) -> Iterator[str]:
    for where, sets in (("", tabpate.shadows.sets), ("poisoned/", tabpate.shadows.poisoned.sets)):
        if sets % 8:
            yield f"tabpate/shadows/{where}sets: {sets} is no multiple of 8: no balanced design"
    if len(tabpate.shadows.arms) and tabpate.shadows.poisoned.sets > tabpate.shadows.sets:
        yield "tabpate/shadows/poisoned/sets: more than tabpate/shadows/sets; they are the first ones of these"
    for name in tabpate.shadows.arms:
        if name not in tabpate.arms or tabpate.arms[name].method in ("aim", "mst"):
            yield f"tabpate/shadows/arms: {name} is no arm, or one whose synthesizer needs an environment of its own"
    for name in tabpate.synthesizers.arms:
        if name not in tabpate.arms or tabpate.arms[name].method not in ("aim", "mst"):
            yield f"tabpate/synthesizers/arms: {name} is no arm of AIM or MST; the releases of others: tabpate/shadows"
    for name in tabpate.shadows.datasets:
        if tasks.get(name) == "regression":
            yield f"tabpate/shadows/datasets: {name} has a number target; students are attacked by their classes"
