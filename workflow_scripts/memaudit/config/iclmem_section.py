"""The section `iclmem`: its shape, and what only several of its keys together can get wrong."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from memaudit.config.arm_tables import tables_of
from memaudit.config.field_types import Adapter, Count, Fraction, Name, Positive, Section
from memaudit.config.iclmem_arm_faults import setting_faults
from memaudit.config.iclmem_comparisons import defence_faults, dose_faults
from memaudit.config.iclmem_ground_truth import GroundTruth, ground_truth_faults
from memaudit.config.name_checks import licence_faults, unknown
from memaudit.config.shared_keys import Dataset, Model, SharedKeys

JOINT = "joint"  # what the models of a joint arm are called, where others have the name of their table
TAKEN = ("reference", "runs", "null")  # inputs beside those of the arms
# Inputs are called by arms, and a Snakemake list of inputs has these names for itself.
RESERVED = {"get", "items", "keys", *dir(list)}
BASELINE = "baseline"
Axis = Literal["copies", "learning_rate", "queries", "trained_weights"]
DOSES = 3  # probed epochs of a condition, or conditions of an axis, that make a dose-response
PLANTED = ("canaries", "shuffled_all")  # labels that are not those of the records
Factor = Annotated[int, Field(ge=2)]


class Private(Section):
    """DP-SGD on the queries; context rows are not protected."""

    epsilon: Positive = Field(description="epsilon of the whole fine-tuning, a query record added or removed")
    delta: Fraction = Field(description="delta, at most 1 / queries")
    clip: Positive = Field(1.0, description="largest norm of a query's gradient")
    sampling_rate: Annotated[float, Field(gt=0, le=1)] = Field(1.0, description="chance of a query to be in a step")


class Arm(Section):
    """One way to fine-tune; what is left out is as in `iclmem`."""

    datasets: list[Name] | None = Field(
        None,
        description="those of iclmem/datasets that have the arm; null: all of them, []: the arm is left out. A joint "
        "arm needs all it names",
    )
    learning_rate: Positive = Field(description="AdamW's learning rate")
    queries: Count | None = Field(None, description="query members Q of a step; null: iclmem/queries")
    context: Annotated[int, Field(ge=2)] | None = Field(None, description="context rows; null: those of the table")
    labels: Literal["normal", "shuffled_members", "shuffled_all", "canaries"] = Field(
        "normal", description="as they are, shuffled among members or all, or of those probed the least probable ones"
    )
    epochs: Annotated[list[Count], Field(min_length=1)] | None = Field(
        None, description="epochs at which the model is probed, the last being its end; null: iclmem/epochs"
    )
    pairs: Literal["fixed", "random", "random_contexts"] = Field(
        "fixed",
        description="context-query pairs: the same in every epoch, or drawn anew, or the same queries in `context` rows"
        " that are drawn anew from those of the table",
    )
    joint: bool = Field(False, description="one model for all tables of the arm, a step for each in every epoch")
    splits_per_job: Count | None = Field(None, description="splits per job; null: iclmem/splits_per_job")
    adapter: Adapter | None = Field(None, description="LoRA; null: all weights train")
    private: Private | None = Field(None, description="DP-SGD; null: plain AdamW")
    placebo: bool = Field(
        False, description="fine-tune on other records than the query members, who are judged all the same: no memory"
    )
    copies: Annotated[int, Field(ge=2)] | None = Field(
        None, description="how often the probed query members stand in a step, the other queries once; null: once, too"
    )
    label_smoothing: Fraction | None = Field(
        None, description="share of a query's label that is spread over all classes of the context; null: none"
    )
    control: Literal["positive"] | None = Field(
        None, description="positive: a condition in which every signal is expected to see members, judged apart"
    )
    planted: bool = Field(
        False, description="a second step in every epoch on the queries in contexts without information: sure memory"
    )
    against: Name | None = Field(
        None, description="the arm without this one's defence (adapter, private or label_smoothing): differences to it"
    )


class Targets(Section):
    """Who is probed of each split."""

    queries: Count | None = Field(description="first query members, and as many non-members; null: all of the arm's")
    context: Annotated[int, Field(ge=0)] = Field(description="first context rows, a group of their own")


class Rule(Section):
    """Thresholds of the paper's outcomes (Table 3, Appendix A.4)."""

    loss_ratio: Positive = Field(5.0, description="vanilla loss over the base model's, above which a model collapsed")
    auc: Fraction = Field(description="AUC(dS) on loss or entropy above which memorization is detected")
    mu_gap: Positive = Field(0.05, description="mean gap of probe losses, in nats, below which a context is overfitted")
    sigma_gap: Positive = Field(0.2, description="its spread over the manipulations, in nats, below which it is")
    flag: Fraction = Field(0.1, description="TPR at 10 % FPR that flags a run, raw or calibrated")


class SkewFalse(Section):
    """So many incorrect labels, chosen at random, stand there a factor more often."""

    labels: Count
    factor: Factor


class Mixed(Section):
    """The true label stands there by one factor more often, the incorrect ones by another."""

    correct: Factor
    incorrect: Factor


@with_config(ConfigDict(extra="forbid", strict=True))
class Step(TypedDict, total=False):
    """A step of a manipulation: one of these, see memaudit/attacks/context_manipulations.py."""

    shuffle: Literal["random", "first", "last"]
    drop: Count
    noise: Count
    uniform: Factor
    random: Factor
    skew_true: Factor
    skew_false: SkewFalse
    mixed: Mixed


class Manipulation(Section):
    """A change of a zero-information context; see memaudit/attacks/context_manipulations.py for the steps."""

    name: Name = Field(description="name of the manipulation")
    category: Name = Field(description="category of Table 7")
    steps: list[Step] = Field(description="steps, one key each; none: the baseline")


class Iclmem(Section):
    """Whether a fine-tuned in-context model memorizes rows (ICLMEM, Sections 4 and 5, Appendices A to D)."""

    datasets: list[Name] = Field(description="tables that models are fine-tuned on; []: the study is left out")
    models: dict[Literal["classification", "regression"], Name] = Field(description="base model by task")
    splits: Annotated[int, Field(ge=5)] = Field(description="splits of each table, the units of all intervals")
    splits_per_job: Count = Field(description="splits per job")
    queries: Count = Field(description="query members Q, and as many non-members")
    context: Annotated[int, Field(ge=2)] = Field(description="context rows of the fine-tuning")
    contexts: dict[Name, Annotated[int, Field(ge=2)]] = Field({}, description="by table, where it has another number")
    epochs: list[Count] = Field(min_length=1, description="epochs at which models are probed; the base always is")
    targets: Targets
    candidates: Annotated[int, Field(ge=2)] = Field(description="most numbers to choose from; classes are all offered")
    copies: Count = Field(
        description="copies of a query in a probe: 50 in the paper, no different from 1 in `raw` mode"
    )
    free_text: Literal["refuse", "leave_out", "hash"] = Field(
        description="columns of free text, which these models cannot read; hash: eight numbers for each"
    )
    keep_checkpoints: bool = Field(description="keep the weights of all probed epochs in results/<run>/models/iclmem")
    fpr: list[Fraction] = Field(min_length=1, description="false positive rates at which TPRs are taken")
    replicates: Annotated[int, Field(ge=20)] = Field(description="bootstrap replicates behind each interval")
    permutations: Annotated[int, Field(ge=19)] = Field(
        description="permuted memberships behind each null; of fewer than 100 the stated detectable AUCs are too small"
    )
    bins: Annotated[int, Field(ge=2)] = Field(description="bins of the histograms of dS")
    rules: dict[Name, Rule] = Field(min_length=1, description="rules for outcomes; the first is the study's")
    arms: dict[Name, Arm] = Field(min_length=1, description="ways to fine-tune")
    doses: dict[Axis, Annotated[list[Name], Field(min_length=DOSES)]] = Field(
        {},
        description="axes of the dose-response beside epochs: arms that differ in this setting alone; those of"
        " trained_weights differ in the rank of `adapter`, without one all weights learn",
    )
    ground_truth: GroundTruth | None = Field(None, description="who is memorized, by shadow models; null: not measured")
    manipulations: list[Manipulation] = Field(min_length=1, description="changes of the contexts that probes ask")


def iclmem_faults(study: Iclmem, shared: SharedKeys) -> Iterator[str]:
    """Faults of the section, each naming its key path and a remedy."""
    if not study.datasets:
        return
    yield from unknown("iclmem/datasets", study.datasets, "datasets", shared)
    yield from unknown("iclmem/contexts", list(study.contexts), "datasets", shared)
    yield from _epoch_faults("iclmem/epochs", study.epochs)
    yield from _model_faults(study, shared)
    for name in (name for name in study.datasets if name in shared.datasets):
        yield from _dataset_faults(name, shared.datasets[name], study)
    for key in ("datasets", "fpr"):
        if len(set(getattr(study, key))) < len(getattr(study, key)):
            yield f"iclmem/{key}: a value stands twice"
    names = [manipulation.name for manipulation in study.manipulations]
    yield from (
        f"iclmem/manipulations: {name} stands twice" for name in sorted({n for n in names if names.count(n) > 1})
    )
    yield from _suite_faults(study.manipulations)
    for name, arm in study.arms.items():
        yield from (f"iclmem/arms/{name}{fault}" for fault in _arm_faults(name, arm, study, shared))
    yield from dose_faults(study)
    yield from defence_faults(study)
    if study.ground_truth:
        yield from ground_truth_faults(study.ground_truth, study, shared)


def _suite_faults(suite: list[Manipulation]) -> Iterator[str]:
    """What is wrong with a suite as a whole; values of steps are checked by their types."""
    baselines = [one.name for one in suite if one.category == BASELINE]
    if len(baselines) != 1:
        yield f"iclmem/manipulations: {len(baselines)} are of the category {BASELINE}, which others are held against"
    for one in suite:
        yield from (
            f"iclmem/manipulations/{one.name}/steps/{at}: a step has one key, this one has {len(step)}"
            for at, step in enumerate(one.steps)
            if len(step) != 1
        )


def _epoch_faults(where: str, epochs: list[int]) -> Iterator[str]:
    if epochs != sorted(set(epochs)):
        yield f"{where}: must increase, without repeats"


def _model_faults(study: Iclmem, shared: SharedKeys) -> Iterator[str]:
    used = {f"iclmem/models/{task}": name for task, name in study.models.items()}
    yield from licence_faults(used, shared)
    for task, name in study.models.items():
        where, model = f"iclmem/models/{task}", shared.models.get(name)
        yield from unknown(where, [name], "models", shared)
        if model and model.task != task:
            yield f"{where}: {name} is for {model.task}"
        if model and not _is_probed(model):
            yield f"{where}: {name} cannot be queried without its scaling; take tabicl, or tabpfn v3 or v3.5, mode raw"


def _is_probed(model: Model) -> bool:
    """Whether a model is a network that sees a query among copies of it (attacks/multiple_choice_probe.py)."""
    coupled = model.family == "tabpfn" and model.version is not None and model.version.startswith("v2")
    return model.family in ("tabicl", "tabpfn") and model.mode == "raw" and not coupled


def _dataset_faults(name: str, entry: Dataset, study: Iclmem) -> Iterator[str]:
    where = "iclmem/datasets"
    if name == JOINT:
        yield f"{where}: a table cannot be called {JOINT}, as the models of joint arms are; give it another name"
    if entry.kind != "table" or entry.task not in ("classification", "regression"):
        yield f"{where}: {name} is no table with a class or number as target"
    elif entry.task not in study.models:
        yield f"iclmem/models/{entry.task}: missing; {name} needs one"
    arms = {arm: settings for arm, settings in study.arms.items() if _has(settings, name)}
    if not arms:
        yield f"iclmem/arms: none has {name}; take it from iclmem/datasets, or give it an arm"
        return
    queries = [arm.queries or study.queries for arm in arms.values()]
    controls = max((arm.queries or study.queries for arm in arms.values() if arm.placebo), default=0)
    context = max(_most_context(arm, _context(study, name)) for arm in arms.values())
    if entry.rows and (needed := 2 * max(queries) + context + controls) > entry.rows:
        sides = f"{max(queries)} query members, as many non-members"
        sizes = f"{sides}, {controls} negative controls and {context} context rows"
        yield f"{where}: {name} has {entry.rows} records; {sizes} are {needed}: ask for fewer (iclmem/contexts/{name})"
    if entry.task == "regression":
        probed = [min(count, study.targets.queries or count) for count in queries]
        if 1 / min(probed) >= entry.limits.ks:
            few = f"two groups of {min(probed)} numbers differ by a KS of 1/{min(probed)}"
            yield f"iclmem/queries: {few}, not below datasets/{name}/limits/ks; ask more (or iclmem/targets/queries)"


def _has(arm: Arm, dataset: str) -> bool:
    return arm.datasets is None or dataset in arm.datasets


def _context(study: Iclmem, dataset: str) -> int:
    return study.contexts.get(dataset, study.context)


def _most_context(arm: Arm, of_table: int) -> int:
    """Context rows that an arm draws from; of_table: those of its table."""
    return max(arm.context or 0, of_table) if arm.pairs == "random_contexts" else arm.context or of_table


def _arm_faults(name: str, arm: Arm, study: Iclmem, shared: SharedKeys) -> Iterator[str]:
    if not name.isidentifier() or name in TAKEN or name in RESERVED:
        yield f": call an arm by letters, digits and _ alone, and not {', '.join(TAKEN)}, nor like a method of a list"
    yield from unknown(f"iclmem/arms/{name}/datasets", arm.datasets or [], "datasets", shared)
    yield from _epoch_faults("/epochs", arm.epochs or study.epochs)
    names = tables_of(arm.datasets, study.datasets)
    least = arm.context or min((_context(study, dataset) for dataset in names), default=study.context)
    if set(names) & set(study.datasets) and study.targets.context > least:
        yield f"/context: {least} rows, and iclmem/targets/context wants {study.targets.context} of them probed"
    tasks = {shared.datasets[dataset].task for dataset in names if dataset in shared.datasets}
    if arm.joint and len(names) == 1:
        yield "/joint: it has one table alone; name more in `datasets`, or set it to false"
    if arm.joint and len(tasks) > 1:
        yield f"/datasets: one model cannot have {' and '.join(sorted(tasks))}; name tables of one task"
    yield from setting_faults(arm, study, tasks)
