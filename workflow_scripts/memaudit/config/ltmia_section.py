"""The section `ltmia`: its shape, and what only several of its keys together can get wrong."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from memaudit.config.field_types import Count, Fraction, Name, Positive, Section, Share
from memaudit.config.ltmia_attacks import Attack, Baselines, attack_faults, baseline_faults
from memaudit.config.ltmia_text_faults import text_faults
from memaudit.config.name_checks import unknown
from memaudit.config.shared_keys import SharedKeys

Text = Annotated[str, StringConstraints(min_length=1)]


class Parts(Section):
    """Texts of a corpus by what becomes of them."""

    member: Count = Field(description="texts that a target is fine-tuned on")
    nonmember: Count = Field(description="texts that it never sees")
    selection: Count = Field(description="texts by whose loss the best epoch is taken; never attacked")
    pretraining: Count = Field(description="most texts for the base models that are trained here")


class Texts(Section):
    """How corpora are cut into texts, and assigned at random."""

    unit: Literal["tokens", "words"] = Field(
        description="of `size`: tokens of a vocabulary made here, or words, for models with tokenizers of their own"
    )
    size: Annotated[int, Field(ge=2)] = Field(description="units of a text")
    least: Annotated[int, Field(ge=2)] = Field(description="fewest units of a text, where its document ends")
    length: Annotated[int, Field(ge=2)] = Field(description="tokens that models read of a text")
    vocabulary: Annotated[int, Field(ge=300)] = Field(description="tokens of the vocabulary made here")
    pretraining_share: Fraction = Field(description="of each corpus, by characters, for the base models")
    likeness: Fraction = Field(description="Jaccard index of runs of five words from which two texts are near copies")
    overlap: Fraction = Field(
        description="largest share of a text's runs of five words that occur in texts drawn before"
    )
    documents: Count = Field(description="fewest documents that the members and non-members of a corpus come from")
    document_share: Fraction = Field(description="largest share of members and non-members from one document")
    document_texts: Count = Field(description="most texts of the pool from one document, if that is fewer")
    parts: Parts


class Shifted(Section):
    """A trap: a corpus whose non-members come from another corpus, as if they were newer texts."""

    members: Name = Field(description="corpus of members and selection texts")
    nonmembers: Name = Field(description="corpus of non-members")


class Lora(Section):
    """Adapters on all linear layers but the head."""

    rank: Count = Field(16, description="rank of the adapters")
    alpha: Positive = Field(32.0, description="their scale is alpha / rank")
    dropout: Share = Field(0.05, description="dropout of what enters them")


class Privacy(Section):
    """DP-SGD; the unit is one text."""

    epsilon: Positive = Field(description="epsilon of the whole fine-tuning, a text added or removed")
    delta: Fraction = Field(description="delta, at most 1 / members")
    clip: Positive = Field(1.0, description="largest norm of a text's gradient")


class Tuning(Section):
    """One way to train a language model, by AdamW with a rate that falls in a straight line."""

    epochs: Annotated[int, Field(ge=0)] = Field(description="passes over the texts; 0: the base itself, a null")
    batch: Count = Field(description="texts of a step")
    learning_rate: Positive = Field(description="the highest learning rate")
    weight_decay: Annotated[float, Field(ge=0)] = Field(0.01, description="of AdamW")
    warmup: Share = Field(0.0, description="share of the steps in which the rate rises")
    lora: Lora | None = Field(None, description="adapters; null: all weights train")
    privacy: Privacy | None = Field(None, description="DP-SGD; null: plain AdamW")


class Pretraining(Tuning):
    """How base models are trained that are made here."""

    below_bigram: bool = Field(False, description="refuse a base model whose loss is not below a bigram table's")


class FineTuning(Tuning):
    """One way to fine-tune a language model."""

    trains_on: Literal["members", "other texts", "other members"] = Field(
        "members",
        description="texts that the target sees: its members; or for a null other texts of the corpus, as many, or "
        "members of another draw, while the labels stay",
    )


class Group(Section):
    """Targets: each model fine-tuned on each corpus, one way."""

    models: list[Name] = Field(description="names of config/language_models.yaml")
    corpora: list[Name] = Field(description="corpora of config/datasets.yaml, or of ltmia/shifted")
    tuning: Name = Field(description="one of ltmia/tunings")


class ClassifierTraining(Section):
    """How a classifier is trained; what is left out is as in its arm."""

    epochs: Count | None = Field(None, description="passes; each draws as many texts as there are")
    batch: Count | None = Field(None, description="texts of a step")
    learning_rate: Positive | None = Field(None, description="of AdamW")
    weight_decay: Annotated[float, Field(ge=0)] | None = Field(None, description="of AdamW")
    warmup: Annotated[int, Field(ge=0)] | None = Field(None, description="epochs in which the rate rises")
    cosine: bool | None = Field(None, description="whether the rate falls to 0 along a cosine")
    smoothing: Share | None = Field(None, description="share by which labels are drawn towards 1/2")
    patience: Count | None = Field(None, description="epochs without a better validation AUC that end the training")


class Shape(Section):
    """Shape of a classifier; what is left out is as in its arm."""

    kind: Literal["transformer", "flat_mlp", "mean_mlp", "logistic"] = Field(
        "transformer", description="a sequence of tokens, all tokens flattened, their mean, or linear (Table 11)"
    )
    width: Count | None = Field(None, description="of the transformer")
    heads: Count | None = Field(None, description="of the transformer")
    feedforward: Count | None = Field(None, description="of the transformer")
    layers: Count | None = Field(None, description="of the transformer")
    hidden: list[Count] | None = Field(None, description="layers of the MLPs")
    dropout: Share | None = Field(None, description="of all of them")


class Choice(Section):
    """Settings chosen by transfer: by the mean AUC on left-out (model, corpus) folds of ltmia/training alone."""

    epochs: list[Count] = Field([], description="[]: the epoch of the best AUC on new texts of ltmia/training")
    weight_decay: list[Annotated[float, Field(ge=0)]] = Field([], description="[]: that of training")
    clamp: list[Positive] = Field([], description="largest absolute standardised features; []: that of the arm")


class Classifier(Section):
    """A classifier of texts by the features of their tokens."""

    arm: Literal["paper", "repository"] = Field("paper", description="defaults: the paper's, or its repository's")
    architecture: Shape = Shape()
    training: ClassifierTraining = ClassifierTraining()
    choice: Choice = Choice()


class Diversity(Section):
    """Training on more combinations with as many texts in all (Table 12); by the first classifier."""

    samples: Count = Field(description="texts in all")
    combinations: list[Count] = Field(description="numbers of combinations; []: not measured")
    draws: Count = Field(description="random choices of the combinations of each number")
    training: ClassifierTraining = ClassifierTraining()


class Importance(Section):
    """What is lost when a group of features is permuted among texts (Figure 3)."""

    repeats: Count = Field(description="permutations of each group")
    texts: Count = Field(description="most texts of each combination")


class Ltmia(Section):
    """A learned attack on fine-tuned language models that transfers between architectures (LT-MIA)"""

    training: list[Group] = Field(description="combinations that classifiers learn from; []: the study is left out")
    held_out: list[Group] = Field(description="combinations that attacks are judged on, others in model and corpus")
    controls: dict[Name, Group] = Field({}, description="more combinations, judged by themselves and against held_out")
    shifted: dict[Name, Shifted] = Field({}, description="corpora that the blind check must flag")
    texts: Texts
    pretraining: Pretraining = Field(description="how base models are trained that are made here")
    tunings: dict[Name, FineTuning] = Field(min_length=1, description="ways to fine-tune")
    baselines: Baselines
    targets_per_job: Count = Field(description="targets of one base model that a job fine-tunes and asks")
    validation: Fraction = Field(description="share of the texts by which a classifier's best epoch is taken")
    test: Fraction = Field(description="share of the texts of training combinations that tests classifiers")
    classifiers: dict[Name, Classifier] = Field(min_length=1, description="classifiers; the first is the attack")
    folds: Count = Field(3, description="left-out (model, corpus) folds by which settings are chosen, at most")
    seeds: Count = Field(5, description="classifiers that differ in their seeds alone, whose log-odds are averaged")
    shuffles: Annotated[int, Field(ge=0)] = Field(10, description="classifiers of shuffled labels, the null: 0 or 3 on")
    diversity: Diversity
    importance: Importance
    fpr: list[Fraction] = Field(min_length=1, description="false positive rates; one below 1 / non-members is left out")
    replicates: Annotated[int, Field(ge=20)] = Field(description="bootstrap replicates behind each interval")
    attack: Attack | None = Field(None, description="a target of your own for `snakemake ltmia_attack`; null: none")


def ltmia_faults(study: Ltmia, shared: SharedKeys) -> Iterator[str]:
    """Faults of the section, each naming its key path and a remedy."""
    if study.attack:
        yield from attack_faults(study.attack, bool(study.training))
    if not study.training:
        return
    groups = {f"ltmia/training/{number}": group for number, group in enumerate(study.training)}
    groups |= {f"ltmia/held_out/{number}": group for number, group in enumerate(study.held_out)}
    groups |= {f"ltmia/controls/{name}": group for name, group in study.controls.items()}
    yield from text_faults(groups, study, shared)
    for where, group in groups.items():
        yield from _group_faults(where, group, study, shared)
    for name, trap in study.shifted.items():
        yield from unknown(f"ltmia/shifted/{name}", [trap.members, trap.nonmembers], "datasets", shared)
        if name in shared.datasets:
            yield f"ltmia/shifted/{name}: a data set has that name; choose another"
    yield from _overlaps(study)
    yield from _size_faults(study)
    yield from _choice_faults(study)
    for name, tuning in study.tunings.items():
        if tuning.privacy and tuning.privacy.delta > 1 / (study.texts.parts.member + study.baselines.known // 2):
            yield f"ltmia/tunings/{name}/privacy/delta: {tuning.privacy.delta:g} is more than 1 / members"
        if tuning.privacy and tuning.lora:
            yield f"ltmia/tunings/{name}: lora and privacy together are not measured; leave one out"


def _group_faults(where: str, group: Group, study: Ltmia, shared: SharedKeys) -> Iterator[str]:
    yield from unknown(f"{where}/models", group.models, "language_models", shared)
    yield from unknown(
        f"{where}/corpora", [name for name in group.corpora if name not in study.shifted], "datasets", shared
    )
    if group.tuning not in study.tunings:
        yield f"{where}/tuning: {group.tuning} is none of ltmia/tunings: {', '.join(study.tunings)}"
    for name in (name for name in group.corpora if name in shared.datasets):
        if shared.datasets[name].kind != "text":
            yield f"{where}/corpora: {name} is no corpus of texts (kind: text)"
    for name in (name for name in group.models if name in shared.language_models):
        model = shared.language_models[name]
        if study.texts.unit == "tokens" and (model.hub or model.path):
            yield f"{where}/models: {name} has a tokenizer of its own; set ltmia/texts/unit to words"


def _overlaps(study: Ltmia) -> Iterator[str]:
    """What the classifiers learn from must not be what they are judged on (Table 10)."""
    for key in ("models", "corpora"):
        learnt = {name for group in study.training for name in getattr(group, key)}
        judged = {name for group in study.held_out for name in getattr(group, key)}
        if both := sorted(learnt & judged):
            yield f"ltmia/held_out: {key} {', '.join(both)} are also trained on; nothing is then held out"
    named = [
        (model, corpus, group.tuning)
        for group in (*study.training, *study.held_out, *study.controls.values())
        for model in group.models
        for corpus in group.corpora
    ]
    if len(set(named)) < len(named):
        twice = next(" ".join(one) for one in named if named.count(one) > 1)
        yield f"ltmia: the combination {twice} stands twice; name it once"


def _size_faults(study: Ltmia) -> Iterator[str]:
    learnt = sum(len(group.models) * len(group.corpora) for group in study.training)
    if study.texts.unit == "tokens" and study.texts.size > study.texts.length:
        yield f"ltmia/texts/length: {study.texts.length} is less than ltmia/texts/size; texts would be cut"
    if study.validation + study.test >= 0.9:
        yield "ltmia/validation: with ltmia/test it leaves less than a tenth of the texts to train on; lower them"
    yield from _portion_faults(study)
    yield from baseline_faults(study.baselines, study.texts.parts.selection, study.texts.length)
    if max(study.diversity.combinations, default=0) > learnt:
        yield f"ltmia/diversity/combinations: there are {learnt} combinations in ltmia/training; ask for at most those"


def _choice_faults(study: Ltmia) -> Iterator[str]:
    """What cannot be chosen by transfer, and rates and nulls that nothing resolves."""
    names = [(model, corpus) for group in study.training for model in group.models for corpus in group.corpora]
    models, corpora = ({name[place] for name in names} for place in (0, 1))
    for name, classifier in study.classifiers.items():
        lists = [getattr(classifier.choice, key) for key in type(classifier.choice).model_fields]
        if any(len(values) > 1 for values in lists) and min(len(models), len(corpora)) < 2:
            yield (
                f"ltmia/classifiers/{name}/choice: ltmia/training has {len(models)} models and {len(corpora)} corpora, "
                "and a fold leaves one of each out; name two of each, or one value of each setting"
            )
    if 0 < study.shuffles < 3:
        yield f"ltmia/shuffles: of {study.shuffles} classifiers nothing can be said; ask for 3 or more, or for 0"
    if max(study.fpr) < 1 / study.texts.parts.nonmember:
        yield (
            f"ltmia/fpr: {study.texts.parts.nonmember} non-members resolve none of them; name one of at least "
            f"{1 / study.texts.parts.nonmember:.3g}"
        )


def _portion_faults(study: Ltmia) -> Iterator[str]:
    """Texts that few combinations must have; their number is exact (studies/ltmia/exact_portions.py)."""
    if not study.diversity.combinations:
        return
    texts = study.texts.parts.member + study.texts.parts.nonmember
    there = texts - round(texts * study.validation) - round(texts * study.test)
    by_tuning = Counter(group.tuning for group in study.training for _ in group.models for _ in group.corpora)
    fewest = min([*study.diversity.combinations, *(by_tuning.values() if len(by_tuning) > 1 else [])])
    if (each := study.diversity.samples // fewest) > there:
        yield (
            f"ltmia/diversity/samples: {each} texts of one of {fewest} combinations are needed, and of {texts} there "
            f"are {there} to train on; ask for at most {fewest * there}, or for more of ltmia/texts/parts"
        )
