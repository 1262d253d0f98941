"""The section `attacks`: its shape, and what only several of its keys together can get wrong."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from memaudit.config.arm_tables import tables_of
from memaudit.config.context_variants import variant_name
from memaudit.config.field_types import Count, Fraction, Name, Rmia, Section
from memaudit.config.name_checks import hint, licence_faults, unknown
from memaudit.config.shared_keys import PREDICTORS, SharedKeys

NEEDED = ("main", "settings", "defended")  # arms that the tables are made of
TAKEN = ("designs", "perturbed", "poisoned", "attribute", "attention", "families")  # folders beside those of the arms
# Inputs are called by arms, and a Snakemake list of inputs has these names for itself.
RESERVED = {"get", "items", "keys", *dir(list)}


class Variant(Section):
    """One way to draw shadow contexts; what is left out stays as usual: half of the members, once each."""

    context: Annotated[int, Field(ge=4)] | None = Field(None, description="records of a context, of twice as many")
    features: Count | None = Field(None, description="columns that are kept, the first of a random order")
    order: Annotated[int, Field(ge=0)] = Field(0, description="which random order of the columns")
    copies: Annotated[int, Field(ge=1, le=255)] = Field(
        1, description="copies of each target of attacks/active in the contexts that have it"
    )
    population: Annotated[int, Field(ge=0)] = Field(0, description="shadow population: another number, other contexts")
    bags: Count = Field(1, description="parts that a context is split into; their probabilities are averaged")
    keys: Annotated[int, Field(ge=2)] | None = Field(
        None, description="records whose keys are averaged in the first block of in-context learning (k-anonymous)"
    )
    layer: Literal["dropped", "coarsened", "random"] | None = Field(
        None, description="what becomes of the most vulnerable records; random: as many others are dropped"
    )
    shares: Annotated[list[Fraction], Field(min_length=2, max_length=2)] | None = Field(
        None, description="shares of a sensitive property, in turn: the adversary tells the second from the first"
    )


class Arm(Section):
    """Shadow contexts of one model, all queried about the same records."""

    model: Name = Field(description="model whose contexts are attacked")
    datasets: list[Name] | None = Field(
        None, description="tables that have the arm; null: all of attacks/datasets, []: the arm is left out"
    )
    sets: Annotated[int, Field(ge=16)] = Field(description="shadow contexts of each variant")
    variants: list[Variant] = Field([Variant()], min_length=1, description="how the contexts are drawn")


class Perturbation(Section):
    """Label-only attack: share of noisy copies that keep the label (TabPATE, Appendix A.1, Tables 5, 8, 9)."""

    datasets: list[Name] | None = Field(
        None, description="tables whose targets get noisy copies, where attacks/datasets has them; null: all"
    )
    targets: Annotated[int, Field(ge=4)] = Field(description="members that are attacked, at most")
    sets: Annotated[int, Field(ge=16)] = Field(description="shadow contexts")
    shard: Count = Field(description="shadow contexts per job")
    counts: list[Annotated[int, Field(ge=2)]] = Field(min_length=1, description="numbers N of noisy copies")
    scales: list[Annotated[float, Field(gt=0)]] = Field(
        min_length=1, description="noise, in standard deviations of a column; a category is redrawn that often"
    )
    count: Annotated[int, Field(ge=2)] = Field(description="N where the scale is compared; one of `counts`")
    scale: Annotated[float, Field(gt=0)] = Field(description="noise where N is compared; one of `scales`")
    directions: Count = Field(5, description="lines along which the distance to the decision boundary is measured")
    steps: Annotated[int, Field(ge=1, le=20)] = Field(5, description="bisection steps, one query each, of a line")


class Attention(Section):
    """White-box attack: how concentrated the attention of a record on the context is (after AMIA, arXiv 2606.26021)."""

    datasets: list[Name] = Field([], description="tables whose attention is read, where attacks/datasets has them")
    model: Name | None = Field(None, description="TabICL or TabPFN in mode raw whose attention is read; null: main's")
    sets: Annotated[int, Field(ge=16)] = Field(32, description="shadow contexts")
    shard: Count = Field(32, description="shadow contexts per job")


class Families(Section):
    """Leakage and accuracy of models that people choose among, by the strongest score of each, in the same contexts."""

    datasets: list[Name] = Field(
        [], description="tables whose model families are compared, where attacks/datasets has them; []: no comparison"
    )
    sets: Annotated[int, Field(ge=16)] = Field(24, description="shadow contexts of `main`, the same for every family")
    arms: list[Name] = Field([], description="arms with the contexts of `main` that are compared with it")
    models: list[Name] = Field([], description="estimators of the catalogue, fitted again on every context")


class Active(Section):
    """Mislabelled copies in the context: LiRA with poisoning and Brainwash (TabPATE, Appendix A.1, Table 6)."""

    arms: list[Name] = Field(min_length=1, description="arms whose contexts are poisoned; the first one is the study's")
    datasets: list[Name] | None = Field(
        None, description="tables whose contexts are poisoned, where attacks/datasets has them; null: all"
    )
    targets: Annotated[int, Field(ge=4)] = Field(description="members that are attacked, at most")
    sets: Annotated[int, Field(ge=16)] = Field(
        description="shadow contexts; an arm of fewer has all of its own poisoned"
    )
    shard: Count = Field(description="shadow contexts per job")
    budgets: list[Count] = Field(min_length=1, description="numbers k of mislabelled copies, beside none")
    most: Count = Field(description="most copies that Brainwash tries; a record that resists them is censored")
    grouped: Annotated[int, Field(ge=4)] = Field(
        64, description="members that are attacked by poisons with a chosen label, at most"
    )
    together: Count = Field(8, description="of these, how many are poisoned in the same context")
    copies: list[Count] = Field([1, 4], min_length=1, description="numbers of copies with a chosen label")
    scanned: Annotated[float, Field(ge=0, le=1)] = Field(
        description="share of the searches that are also made copy by copy, to show that they find the same"
    )


class Inference(Section):
    """What else the contexts tell: a sensitive column, the presence of a corpus, the share of a property."""

    sensitive: dict[Name, str] = Field(description="by table: the column that is sensitive")
    levels: Annotated[int, Field(ge=2)] = Field(description="values of a numeric column that are tried")
    sets: Annotated[int, Field(ge=16)] = Field(description="shadow contexts that are queried about the column")
    corpora: list[Annotated[int, Field(ge=2)]] = Field(min_length=1, description="records of a suspected corpus")
    trials: Annotated[int, Field(ge=19)] = Field(description="corpora that are drawn for each power")


class Attacks(Section):
    """What a record in the context leaks, to whom, and at what cost (TabPATE, Section 3 and Appendix A)."""

    datasets: list[Name] = Field(description="tables whose records are attacked; []: the study is left out")
    split: Name = Field(
        description="split whose members are drawn into contexts; non-members: negative control and reference"
    )
    arms: dict[Name, Arm] = Field(description="shadow contexts; `main` is the one that the others are compared with")
    shard: Count = Field(description="shadow contexts per job")
    sets: Annotated[int, Field(ge=16)] = Field(description="shadow contexts of `main` behind the tables")
    sizes: list[Annotated[int, Field(ge=8)]] = Field(min_length=1, description="numbers of shadow contexts compared")
    fpr: list[Fraction] = Field(min_length=1, description="target false positive rates")
    replicates: Annotated[int, Field(ge=20)] = Field(description="bootstrap replicates behind each interval")
    permutations: Annotated[int, Field(ge=19)] = Field(description="redraws of the membership matrix behind each null")
    detectable: Annotated[float, Field(gt=0.5, lt=1)] | None = Field(
        None,
        description="AUC that an attack on some of the members must be able to detect with probability .9; those that "
        "have too few contexts and members have no numbers. null: all are judged",
    )
    layer: Annotated[float, Field(gt=0, le=0.5)] = Field(
        description="share of the members that are the most vulnerable layer; as many others are dropped at random"
    )
    decimals: list[Annotated[int, Field(ge=0)]] = Field(min_length=1, description="digits of rounded probabilities")
    neighbours: Count = Field(description="neighbours whose distance says how much of an outlier a record is")
    rmia: Rmia
    perturbation: Perturbation
    attention: Attention = Attention()
    families: Families = Families()
    active: Active
    inference: Inference


def attacks_faults(attacks: Attacks, shared: SharedKeys, audited: str | None = None) -> Iterator[str]:
    """Faults of the section `attacks`, each naming its key path and a remedy; audited: table of an audit, if any.

    An audited table may have a number as its target: the attacks of an audit alone are made for regressors, too.
    """
    if not attacks.datasets:
        return
    task = shared.datasets[audited].task if audited in shared.datasets else "classification"
    yield from unknown("attacks/datasets", attacks.datasets, "datasets", shared)
    for name in (name for name in attacks.datasets if name in shared.datasets):
        wanted = task if name == audited else "classification"
        if shared.datasets[name].kind != "table" or shared.datasets[name].task != wanted:
            yield f"attacks/datasets: {name} is no classification table"
        if name not in attacks.inference.sensitive:
            yield f"attacks/inference/sensitive/{name}: missing; name the column whose value an adversary would guess"
    if attacks.split not in shared.data.splits:
        yield f"attacks/split: unknown split {attacks.split!r}{hint(attacks.split, list(shared.data.splits))}"
    for name in NEEDED:
        if name not in attacks.arms:
            yield f"attacks/arms/{name}: missing; the study compares with it, take it from config/config.yaml"
    for name in (name for name in NEEDED if name in attacks.arms):
        there = set(tables_of(attacks.arms[name].datasets, attacks.datasets)) & set(attacks.datasets)
        if not there or (name == "main" and there != set(attacks.datasets)):
            least = "all" if name == "main" else "some"
            yield f"attacks/arms/{name}/datasets: say null, or {least} of attacks/datasets"
    for name, arm in attacks.arms.items():
        yield from (f"attacks/arms/{name}{fault}" for fault in _arm_faults(name, arm, attacks))
        yield from unknown(f"attacks/arms/{name}/model", [arm.model], "models", shared)
        yield from unknown(f"attacks/arms/{name}/datasets", arm.datasets or [], "datasets", shared)
        wanted = task if audited in tables_of(arm.datasets, attacks.datasets) else "classification"
        if arm.model in shared.models and shared.models[arm.model].task != wanted:
            yield f"attacks/arms/{name}/model: {arm.model} is no {PREDICTORS[wanted]}"
    yield from _active_faults(attacks, shared)
    yield from _attention_faults(attacks, shared)
    yield from _family_faults(attacks, shared)
    used = {f"attacks/arms/{name}/model": arm.model for name, arm in attacks.arms.items()}
    yield from licence_faults(used, shared)
    if "main" in attacks.arms:
        yield from _number_faults(attacks)


def _arm_faults(name: str, arm: Arm, attacks: Attacks) -> Iterator[str]:
    if not name.isidentifier() or name in TAKEN or name in RESERVED:
        yield f": call an arm by letters, digits and _ alone, and not {', '.join(TAKEN)}, nor like a method of a list"
    if arm.sets % attacks.sizes[0]:
        yield f"/sets: {arm.sets} is no multiple of the first of attacks/sizes, {attacks.sizes[0]}: no balanced design"
    names = [variant_name(variant.model_dump()) for variant in arm.variants]
    yield from (
        f"/variants: {twice!r} stands twice" for twice in sorted({one for one in names if names.count(one) > 1})
    )
    first = arm.variants[0]
    if name in ("main", *attacks.active.arms) and (first.shares or first.layer or first.bags > 1):
        yield "/variants: the first one is attacked record by record: it takes no `shares`, `layer` or `bags`"
    if name == "main" and (names[0] != "usual" or any(variant.layer for variant in arm.variants)):
        yield "/variants: begins with {}, the usual contexts, and takes no `layer`: that is chosen by what main finds"
    if name == "defended" and (first.layer or first.bags > 1 or first.keys):
        yield "/variants: the first one is what the others are compared with: give it no `bags`, `layer` or `keys`"
    for variant, called in zip(arm.variants, names, strict=True):
        if variant.keys and name != "defended":
            yield f"/variants: {called!r}: `keys` is a mitigation, and compared in the arm `defended` alone"
        if variant.shares and called != f"shares {variant.shares[0]} {variant.shares[1]}":
            yield f"/variants: {called!r}: contexts with given `shares` are drawn in their own way; leave the rest out"
        if variant.shares and variant.shares[0] == variant.shares[1]:
            yield "/variants: both `shares` are the same: there is nothing to tell"


def _active_faults(attacks: Attacks, shared: SharedKeys) -> Iterator[str]:
    for key, named in (("active", attacks.active.datasets), ("perturbation", attacks.perturbation.datasets)):
        yield from unknown(f"attacks/{key}/datasets", named or [], "datasets", shared)
        if named is not None and not set(named) & set(attacks.datasets):
            yield f"attacks/{key}/datasets: say null, or some of attacks/datasets"
    for name in (name for name in attacks.active.arms if name not in attacks.arms):
        yield f"attacks/active/arms: unknown arm {name!r}{hint(name, list(attacks.arms))}"
    if attacks.active.arms[0] != "main":
        yield "attacks/active/arms: the first one must be main, whose threat models are compared"


def _attention_faults(attacks: Attacks, shared: SharedKeys) -> Iterator[str]:
    yield from unknown("attacks/attention/datasets", attacks.attention.datasets, "datasets", shared)
    if attacks.attention.model is not None:
        yield from unknown("attacks/attention/model", [attacks.attention.model], "models", shared)
    read = [attacks.attention.model or attacks.arms["main"].model] if "main" in attacks.arms else []
    for name in read if set(attacks.attention.datasets) & set(attacks.datasets) else []:
        model = shared.models.get(name)
        if model and (model.family not in ("tabicl", "tabpfn") or model.mode != "raw"):
            yield f"attacks/attention/model: {name} shows no attention; name a TabICL or TabPFN of mode raw"


def _family_faults(attacks: Attacks, shared: SharedKeys) -> Iterator[str]:
    families = attacks.families
    yield from unknown("attacks/families/datasets", families.datasets, "datasets", shared)
    yield from unknown("attacks/families/models", families.models, "models", shared)
    for name in (name for name in families.models if name in shared.models):
        if shared.models[name].family != "estimator" or shared.models[name].task != "classification":
            yield f"attacks/families/models: {name} is no estimator of classes; a network is compared as an arm"
    if not set(families.datasets) & set(attacks.datasets):
        return
    if not families.arms and not families.models:
        yield "attacks/families: nothing to compare with `main`; name `models`, or leave `datasets` empty"
    for name in families.arms:
        arm = attacks.arms.get(name)
        if arm is None or name == "main":
            yield f"attacks/families/arms: no other arm is called {name!r}{hint(name, list(attacks.arms))}"
        elif variant_name(arm.variants[0].model_dump()) != "usual" or arm.sets < families.sets:
            yield (
                f"attacks/families/arms: {name} must begin with {{}}, the contexts of `main`, and have {families.sets}"
                " of them (attacks/families/sets)"
            )


def _number_faults(attacks: Attacks) -> Iterator[str]:
    block, main = attacks.sizes[0], attacks.arms["main"].sets
    if attacks.sizes != sorted(set(attacks.sizes)) or block % 2 or any(size % block for size in attacks.sizes):
        yield f"attacks/sizes: must increase, from an even first size in multiples of it ({block})"
    limits = {
        "sets": (attacks.sets, main),
        "sizes": (max(attacks.sizes), main),
        "perturbation/sets": (attacks.perturbation.sets, main),
        **({"attention/sets": (attacks.attention.sets, main)} if attacks.attention.datasets else {}),
        **({"families/sets": (attacks.families.sets, main)} if attacks.families.datasets else {}),
        "inference/sets": (attacks.inference.sets, main),
        "active/sets": (attacks.active.sets, main),
    }
    lists = [("", attacks, ("datasets", "fpr", "decimals")), ("inference/", attacks.inference, ("corpora",))]
    lists += [("families/", attacks.families, ("datasets", "arms", "models"))]
    lists += [("perturbation/", attacks.perturbation, ("counts", "scales"))]
    for where, section, keys in [*lists, ("active/", attacks.active, ("arms", "budgets"))]:
        for key in keys:
            if len(set(values := getattr(section, key))) < len(values):
                yield f"attacks/{where}{key}: a value stands twice"
    for key, (value, most) in limits.items():
        if value > most:
            yield f"attacks/{key}: {value} shadow contexts requested, the arm has {most}"
        elif value % block and key != "sizes":
            yield f"attacks/{key}: {value} is no multiple of the first of attacks/sizes, {block}: no balanced design"
    for key, value in (("count", attacks.perturbation.count), ("scale", attacks.perturbation.scale)):
        if value not in getattr(attacks.perturbation, f"{key}s"):
            yield f"attacks/perturbation/{key}: {value} is none of `{key}s`"
