"""The section `tabpate`: its shape, and what only several of its keys together can get wrong."""

import itertools
import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from memaudit.common.project_paths import config_path
from memaudit.config.field_types import Count, Fraction, Name, Positive, Section
from memaudit.config.name_checks import licence_faults, unknown
from memaudit.config.release_section import Mechanism
from memaudit.config.shared_keys import SharedKeys


class Arm(Section):
    """What the arms of every method have."""

    datasets: list[Name] | None = Field(
        None, description="those of tabpate/datasets that have the arm; null: all of them"
    )
    epsilons: list[Positive] | None = Field(None, description="epsilons that it has; null: all of tabpate/epsilons")
    held_out: bool = Field(False, description="without the records that are public for PromptPATE: the same 70 %")
    tuned: Name | None = Field(
        None, description="arm of the file tabpate/tuned whose settings at each epsilon replace these; null: none"
    )
    chosen_on: list[Name] = Field(
        [], description="tables on which the method's form was chosen: no utility is measured there"
    )
    by_dataset: dict[Name, dict[str, Any]] = Field({}, description="settings that a table has instead, by table")


class TabPate(Arm):
    """TabPATE: queries from public bounds or noisy moments, labels by noisy votes or by group."""

    method: Literal["tabpate"]
    settings: Mechanism


class Moments(Section):
    """Records drawn from noisy moments of each class, which is their label."""

    queries: Count = Field(description="records of the context")
    narrowed: bool = Field(True, description="half of the budget narrows the public bounds first")
    equal_classes: bool = Field(False, description="equal numbers of records of each class, at no cost")


class ClassMoments(Arm):
    """Moments of each class: not in the paper, no teacher is queried; number targets have parts of their range."""

    method: Literal["class-moments"]
    settings: Moments


class Tuning(Section):
    """Several alphas are released and one is chosen by its losses; one budget pays for all (privacy/tuned_alpha.py)."""

    teachers: Annotated[int, Field(ge=2)] = Field(description="disjoint parts of the private records")
    queries: Count = Field(description="most records that each candidate labels")
    candidates: list[Annotated[float, Field(ge=0, lt=1)]] = Field(
        min_length=2,
        description="alphas to choose from; each has an equal part of the budget, of which its alpha is for moments",
    )
    share: Fraction = Field(description="share of the budget for the choice")
    prior: Literal["uniform", "gaussian"] = Field("uniform", description="where queries come from if alpha is 0")
    by_class: bool = Field(False, description="moments of each class, not of all records together")
    narrowed: bool = Field(False, description="half of alpha narrows the public bounds first")
    threshold: Positive | None = Field(None, description="votes that a query needs to be answered; null: none")
    sigma1: Positive | None = Field(None, description="noise of that check, in votes")
    sigma2: Positive | None = Field(None, description="noise of each class's votes; null: all queries fit the budget")


class TunedTabPate(Arm):
    """TabPATE whose alpha is chosen on the private records, at a price."""

    method: Literal["tabpate-tuned"]
    settings: Tuning


class Voting(Section):
    """Confident-GNMax on queries that are there."""

    teachers: Annotated[int, Field(ge=2)] = Field(description="disjoint parts of the private records")
    queries: Count = Field(description="most public records that are labelled")
    threshold: Positive | None = Field(None, description="votes that a query needs to be answered; null: none")
    sigma1: Positive | None = Field(None, description="noise of that check, in votes")
    sigma2: Positive | None = Field(None, description="noise of each class's votes; null: all queries fit the budget")
    accounting: Literal["as_published", "joint"] = Field("joint", description="as in the paper, or with all of delta")


class PromptPate(Arm):
    """PromptPATE (Duan et al. 2023): public records of the same distribution are labelled."""

    method: Literal["prompt-pate"]
    settings: Voting


class Asking(Section):
    """Noisy votes on each query at hand, which share the budget."""

    teachers: Annotated[int, Field(ge=2)] = Field(description="disjoint parts of the private records")


class QueryTime(Arm):
    """Query-Time: sample and aggregate; nothing is released but answers."""

    method: Literal["query-time"]
    settings: Asking


class Prototyping(Section):
    """Noisy means of the parts of each class."""

    prototypes: Annotated[int, Field(ge=2)] = Field(description="records of the context, all classes together")
    intervals: Annotated[int, Field(ge=2)] = Field(10, description="equal parts of a number target's range, as classes")


class Prototypes(Arm):
    """DP-TabICL (Carey et al. 2024), central variant."""

    method: Literal["dp-tabicl"]
    settings: Prototyping


class Training(Section):
    """DP-SGD; what is left out is as in memaudit/privacy/dp_network.py."""

    steps: Count = Field(100, description="steps of training")
    batch: Count = Field(256, description="expected number of units in a step")
    clip: Positive = Field(1.0, description="largest norm of a unit's gradient")
    learning_rate: Positive = Field(0.1, description="largest learning rate of the schedule")


class Network(Arm):
    """RealMLP trained with DP-SGD."""

    method: Literal["dp-sgd"]
    settings: Training


class Descent(Section):
    """Gradient descent with noise on all records (memaudit/privacy/noisy_descent.py)."""

    steps: Count = Field(100, description="steps of descent, each a noisy sum of gradients")
    clip: Positive = Field(1.0, description="largest norm of a record's gradient")
    learning_rate: Positive = Field(1.0, description="of the mean gradient, times 4 for classes and 0.5 for numbers")
    penalty: Annotated[float, Field(ge=0)] = Field(1e-3, description="L2 penalty on the weights")


class Regression(Arm):
    """Private logistic regression for classes, linear regression for numbers: the simple baseline."""

    method: Literal["dp-linear"]
    settings: Descent


class Synthesis(Section):
    """A synthesizer of categorical tables, on bins whose edges are released with noise."""

    bins: Annotated[int, Field(ge=2)] = Field(description="most bins of a number")
    bins_share: Fraction = Field(0.1, description="share of the budget, in rho, for the edges of the bins")
    columns: Count = Field(description="columns that are modelled; the others are drawn uniformly")
    iterations: Count = Field(description="iterations of each fit of the graphical model")
    rounds: Count = Field(16, description="AIM's rounds for each column")
    rows: Count = Field(description="synthetic records")


class Synthesizer(Arm):
    """AIM or MST (McKenna et al. 2022, 2021)."""

    method: Literal["aim", "mst"]
    settings: Synthesis


Method = Annotated[
    TabPate | ClassMoments | TunedTabPate | PromptPate | QueryTime | Prototypes | Network | Regression | Synthesizer,
    Field(discriminator="method"),
]


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
        numbers = [dataset for dataset in arm.datasets or tasks if tasks.get(dataset) == "regression"]
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
    for dataset in (one for one in datasets if one not in arm.by_dataset and one in (arm.datasets or datasets)):
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
        for task in sorted({task for table, task in tasks.items() if table in (arm.datasets or tasks)}):
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
