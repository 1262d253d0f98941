"""The section `predict` and the section `own`: their shapes, and what only several of their keys can get wrong."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StrictInt

from memaudit.common.tar_members import is_archive
from memaudit.config.chance_memorized import chance_faults
from memaudit.config.field_types import Adapter, Checksum, Count, Fraction, Name, Positive, Section, Share
from memaudit.config.name_checks import hint, licence_faults, unknown
from memaudit.config.release_section import Text
from memaudit.config.shared_keys import SharedKeys

NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Questions(Section):
    """Records of a table as questions: the first columns that say most of the target, each in bins of equal size."""

    features: Count = Field(description="columns that the question states, those with most mutual information")
    bins: Annotated[int, Field(ge=2)] = Field(description="bins of a column")


class Table(Section):
    """A classification table of the catalogue."""

    kind: Literal["table"]
    dataset: Name = Field(description="table whose records are trained on")
    questions: Questions | None = Field(None, description="for networks of text; null: numbers")


class Cifar10(Section):
    """CIFAR-10, binary version: cifar-10-binary.tar.gz, or data_batch_1.bin to data_batch_5.bin and test_batch.bin."""

    kind: Literal["cifar10"]
    path: Text = Field(description="the archive, or the folder of the files; relative paths: project's folder")
    sha256: Checksum = None


class Digits(Section):
    """Handwritten digits on photographs, 8 x 8 grey pixels, as scikit-learn ships both."""

    kind: Literal["digits"]
    contrast: Fraction = Field(description="weight of the digit, the patch of a photograph has the rest")


class Choices(Section):
    """Multiple-choice questions, a row each."""

    kind: Literal["choices"]
    path: Text = Field(
        description="Parquet, JSON Lines, CSV or tar file: of the working folder, or else of the project's"
    )
    member: Text | None = Field(None, description="name of the CSV or JSON Lines file in a tar file")
    sha256: Checksum = None
    question: Text = Field("question", description="column of the question")
    choices: Text | None = Field("choices", description="column of the list of choices; null: `options` for all")
    answer: Text = Field("answer", description="column of the right one: its place from 0 on, or its letter")
    options: list[Text] | None = Field(None, description="the choices of every question, where no column has them")
    longest: Count | None = Field(None, description="most characters of a prompt, longer ones are left out")
    rows: Count = Field(14000, description="questions in the file, for `snakemake plan`")
    tokens: Count = Field(200, description="tokens that a prompt costs with its padding, above the mean; for the plan")


class Docstrings(Section):
    """Docstrings of installed packages, and which package each belongs to; equally many of each."""

    kind: Literal["docstrings"]
    packages: Annotated[list[Text], Field(min_length=2)] = Field(description="packages of the lock, the classes")
    words: Count = Field(description="first words of each that the question states")
    vocabulary: Annotated[int, Field(ge=2)] = Field(description="words that are known, the most frequent ones")


class Mlp(Section):
    """Layers of one width, from scratch."""

    kind: Literal["mlp"]
    width: Count = Field(description="numbers in a layer")
    depth: Count = Field(description="layers before the head")
    together: Count = Field(1, description="models trained at once, their weights stacked")


class Wrn(Section):
    """Wide residual network from scratch; WRN16-4 is depth 16, widen 4."""

    kind: Literal["wrn"]
    shape: Annotated[list[Count], Field(min_length=3, max_length=3)] = Field(description="channels, height, width")
    depth: Count = Field(description="6 n + 4")
    widen: Count = Field(description="factor on the channels")
    base: Count = Field(16, description="channels that it widens")
    together: Count = Field(1, description="models trained at once, their weights stacked")


class InContext(Section):
    """A tabular in-context model, fine-tuned on its queries under one public context."""

    kind: Literal["in_context"]
    model: Name = Field(description="a TabICL, mode raw")
    context: Count = Field(description="records of the context; no model is trained on them")
    adapter: Adapter | None = Field(None, description="null: all weights are trained")


class Pretraining(Section):
    """What teaches a small language model to read cells and to answer."""

    steps: Count = Field(description="steps")
    batch: Count = Field(description="questions in a step")
    learning_rate: Positive = Field(description="largest learning rate")


class Small(Section):
    """A small language model of `transformers`, with weights of our own."""

    family: Literal["llama", "gpt2"] = Field(description="architecture")
    width: Count = Field(description="hidden size")
    layers: Count = Field(description="layers")
    heads: Count = Field(description="attention heads")
    inner: Count = Field(description="width of a layer's inner part")
    pretraining: Pretraining


class Language(Section):
    """A causal language model that is fine-tuned to answer with one token."""

    kind: Literal["text"]
    model: Name | None = Field(None, description="of family `text`, in the catalogue")
    small: Small | None = Field(None, description="or a small one, trained on made-up questions first")
    adapter: Adapter | None = Field(None, description="null: all weights are trained")


class Training(Section):
    """How models are trained and looked at. Lengths are in epochs, which need not be whole."""

    epochs: Positive = Field(description="length of the training")
    batch: Count = Field(description="records in a step")
    learning_rate: Positive = Field(description="largest learning rate")
    optimiser: Literal["adamw", "sgd"] = Field("adamw", description="AdamW, or gradient descent with momentum")
    momentum: Share = Field(0.9, description="of `sgd`")
    weight_decay: NotNegative = Field(0.0, description="weight decay")
    warmup: NotNegative = Field(0.0, description="epochs over which the learning rate rises")
    decay: Literal["none", "linear", "cosine"] = Field("none", description="how the learning rate falls to 0 then")
    clip_norm: Positive | None = Field(None, description="largest norm of a gradient; null: none")
    micro_batch: Count | None = Field(
        None, description="records whose activations are in memory at once, which changes no result; null: the batch"
    )
    every: Positive = Field(0.2, description="epochs between two checkpoints")
    until: Positive = Field(description="epoch up to which checkpoints are that close")
    later: Annotated[int, Field(ge=0)] = Field(0, description="checkpoints from there to the end, at equal distances")


class Setting(Section):
    """Data, network and training: what the paper calls a combination of data set and model."""

    data: Annotated[Table | Cifar10 | Digits | Choices | Docstrings, Field(discriminator="kind")]
    network: Annotated[Mlp | Wrn | InContext | Language, Field(discriminator="kind")]
    training: Training
    max_records: Count | None = Field(None, description="records that take part at most; null: all")
    label_noise: Share = Field(description="share of the records that get another label")
    canaries: Annotated[int, Field(ge=0)] = Field(0, description="records with columns and label drawn on their own")
    models: Annotated[int, Field(ge=8)] = Field(description="shadow models, targets among them")
    targets: Count = Field(description="models whose memorization is predicted, the first ones")
    shard: Count = Field(description="models per job")
    interrupt: Literal["first", "closest"] = Field(
        "first", description="checkpoint of the prediction: the first beyond `drop`, or the closest to it"
    )
    drop: Fraction | None = Field(None, description="of this setting; null: `predict/drop`")


class Theorem(Section):
    """Simulation of Theorem 1."""

    rates: list[Fraction] = Field(min_length=1, description="shares of outliers")
    separations: list[NotNegative] = Field(min_length=1, description="distances of the classes' centres")
    records: Annotated[int, Field(ge=4)] = Field(description="records of a repeat")
    dimensions: Count = Field(description="dimensions of the hidden states")
    directions: Annotated[int, Field(ge=2)] = Field(description="random directions")
    repeats: Annotated[int, Field(ge=2)] = Field(description="repeats behind each mean")


class Scoring(Section):
    """How predictors are computed."""

    directions: Annotated[int, Field(ge=2)] = Field(2000, description="random directions of PSMI at most")
    accuracy: Positive | None = Field(None, description="standard error, in nats, at which PSMI stops; null: never")
    dimensions: Count = Field(500, description="principal components of the Mahalanobis distance at most")


class Predict(Section):
    """Which records will be memorized, and how early in training it can be predicted (predicting-memorization)."""

    cases: list[Name] = Field(description="those of `settings` that are run; []: the study is left out")
    settings: dict[Name, Setting] = Field(description="catalogue of settings")
    drop: Fraction = Field(0.95, description="fall of the median training loss at which training is interrupted")
    tolerance: Share = Field(0.03, description="how much less a target's loss may have fallen; beyond, it is left out")
    memorized: Positive = Field(4.0, description="least log-LiRA of a memorized record, in nats")
    thresholds: list[NotNegative] = Field(min_length=1, description="other values of `memorized`, for a figure")
    fpr: list[Fraction] = Field(min_length=1, description="false positive rates at which TPRs are given")
    tpr: list[Fraction] = Field(min_length=1, description="true positive rates at which FPRs are given")
    replicates: Annotated[int, Field(ge=20)] = Field(description="bootstrap replicates behind each interval")
    scoring: Scoring = Field(Scoring(), description="how predictors are computed")
    theorem: Theorem


class Own(Section):
    """A ranking of your own training records by their risk of being memorized (`snakemake predict_own`)."""

    name: Name = Field(description="name of the ranking: results/<run>/own/<name>/")
    records: Text = Field(description="Parquet table: id, label, and if there are any loss, logits, hidden")
    states: Text | None = Field(None, description=".npy file of hidden states (record, feature); null: column hidden")
    classes: list[Text | StrictInt] | None = Field(
        None, description="classes in the order of `logits`; null: without logits"
    )
    case: Name | None = Field(
        None, description="of predict/cases: where the threshold was measured; null: resources/recommended.json"
    )
    predictor: Literal["psmi", "learned", "learned_checkpoints"] = Field(
        "psmi",
        description="psmi; or learned, which reads `logits`, too; or learned_checkpoints: `losses`, `gaps`",
    )
    scoring: Scoring = Field(Scoring(), description="how predictors are computed")


def predict_faults(predict: Predict, own: Own | None, shared: SharedKeys) -> Iterator[str]:
    """Faults of the sections, each naming its key path and a remedy."""
    for name in predict.cases:
        if name not in predict.settings:
            yield f"predict/cases: unknown setting {name!r}{hint(name, list(predict.settings))}"
        elif not name.isidentifier():
            yield f"predict/settings/{name}: call a setting by letters, digits and _ alone"
        else:
            setting, where = predict.settings[name], f"predict/settings/{name}"
            yield from _data_faults(where, setting, shared)
            yield from _network_faults(f"{where}/network", setting, shared)
            yield from _size_faults(where, setting)
    for key in ("cases", "thresholds", "fpr", "tpr"):
        if len(set(values := getattr(predict, key))) < len(values):
            yield f"predict/{key}: a value stands twice"
    if own:
        yield from _own_faults(own, predict)


def _own_faults(own: Own, predict: Predict) -> Iterator[str]:
    if own.case and own.predictor != "psmi":
        yield "own/case: learned predictors were measured in many settings; set it to null, or own/predictor to psmi"
    if own.predictor == "learned" and not own.classes:
        yield "own/classes: this learned predictor reads `logits`; name the classes in their order"
    if own.case and own.case not in predict.cases:
        yield f"own/case: {own.case!r} is none of predict/cases{hint(own.case, predict.cases)}"
    elif own.case and own.case in predict.settings:
        yield from chance_faults(own.case, predict.settings[own.case].models, predict.memorized)


def _data_faults(where: str, setting: Setting, shared: SharedKeys) -> Iterator[str]:
    data, text = setting.data, setting.network.kind == "text"
    if data.kind == "table":
        yield from unknown(f"{where}/data/dataset", [data.dataset], "datasets", shared)
        entry = shared.datasets.get(data.dataset)
        if entry and (entry.kind != "table" or entry.task != "classification"):
            yield f"{where}/data/dataset: {data.dataset} is no classification table"
        if text != (data.questions is not None):
            yield f"{where}/data/questions: networks of text read questions, and no others do"
    elif text != (data.kind in ("choices", "docstrings")):
        yield f"{where}/data/kind: a network {setting.network.kind} does not read {data.kind}"
    if data.kind in ("cifar10", "digits") and setting.network.kind != "wrn":
        yield f"{where}/network/kind: images are for wrn"
    if data.kind == "choices" and (data.choices is None) == (data.options is None):
        yield f"{where}/data/choices: give `choices`, a column, or `options`, the same for all, and the other as null"
    if data.kind == "choices" and is_archive(data.path) != (data.member is not None):
        yield f"{where}/data/member: name the file in the archive, for an archive (.tar, .tar.gz) alone"
    if data.kind == "docstrings" and (setting.max_records or 0) < 2 * len(data.packages):
        yield f"{where}/max_records: say how many docstrings are read, 2 or more of each package"
    if data.kind == "choices" and setting.canaries:
        yield f"{where}/canaries: questions in words have no columns to draw; say 0"


def _network_faults(where: str, setting: Setting, shared: SharedKeys) -> Iterator[str]:
    network = setting.network
    if network.kind in ("in_context", "text") and network.model:
        yield from unknown(f"{where}/model", [network.model], "models", shared)
        yield from licence_faults({f"{where}/model": network.model}, shared)
        entry, family = shared.models.get(network.model), {"in_context": "tabicl"}.get(network.kind, "text")
        if entry and (entry.family, entry.mode, entry.task) != (family, "raw", "classification"):
            yield f"{where}/model: {network.model} is no classifier of family {family}, mode raw"
    if network.kind == "wrn" and network.depth % 6 != 4:
        yield f"{where}/depth: {network.depth} is no 6 n + 4; say 10, 16, 22 or 28"
    if network.kind != "text":
        return
    if (network.model is None) == (network.small is None):
        yield f"{where}: give `model` or `small`, and one of them alone"
    if network.model and setting.data.kind != "choices":
        yield f"{where}/model: a `small` language model alone has the tokens of tables and docstrings"
    if network.small and setting.data.kind == "choices":
        yield f"{where}/small: knows cells of tables and words of docstrings alone; questions in words need a `model`"
    if network.small and network.small.width % network.small.heads:
        yield f"{where}/small/heads: the width {network.small.width} cannot be shared by {network.small.heads} heads"
    if network.small and network.small.family == "gpt2" and network.adapter:
        yield f"{where}/adapter: GPT-2 has no linear layers of torch for it; take llama, or null"


def _size_faults(where: str, setting: Setting) -> Iterator[str]:
    training, together = setting.training, getattr(setting.network, "together", 1)
    for key in ("shard", "models"):
        if getattr(setting, key) % together:
            yield f"{where}/{key}: {getattr(setting, key)} is no multiple of the {together} models trained together"
    if setting.models % 2:
        yield f"{where}/models: {setting.models} is odd: each record is in half of the models"
    if setting.targets > setting.models:
        yield f"{where}/targets: {setting.targets} of {setting.models} models"
    if training.until > training.epochs:
        yield f"{where}/training/until: later than the end, epoch {training.epochs:g}"
    if training.warmup >= training.epochs:
        yield f"{where}/training/warmup: as long as the whole training"
    if training.until < training.epochs and not training.later:
        yield f"{where}/training/later: at least 1, or the last checkpoint is not the end of the training"
