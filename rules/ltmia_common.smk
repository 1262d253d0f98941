"""What the rules of `ltmia*.smk` share: combinations of models and corpora, targets by job, files; no rule here."""

LTMIA = config["ltmia"]
# What says where a corpus comes from, and what of it is read.
LTMIA_SOURCE = "source package content path name subset split text_columns characters sha256".split()


def ltmia_named(groups):
    """[model, dataset, tuning] of every target of these groups; none where nothing is learnt from."""
    return LTMIA["training"] and [
        [model, corpus, group["tuning"]] for group in groups for model in group["models"] for corpus in group["corpora"]
    ]


LTMIA_TRAINING = ltmia_named(LTMIA["training"])
LTMIA_HELD_OUT = ltmia_named(LTMIA["held_out"])
# Controls that this run has.
LTMIA_CONTROLS = {name: found for name, group in LTMIA["controls"].items() if (found := ltmia_named([group]))}
LTMIA_TARGETS = [*LTMIA_TRAINING, *LTMIA_HELD_OUT, *(name for names in LTMIA_CONTROLS.values() for name in names)]
LTMIA_MODELS = list(dict.fromkeys(model for model, _, _ in LTMIA_TARGETS))
LTMIA_SHIFTED = {
    name: trap for name, trap in LTMIA["shifted"].items() if name in {corpus for _, corpus, _ in LTMIA_TARGETS}
}
LTMIA_CORPORA = list(
    dict.fromkeys(
        source
        for _, corpus, _ in LTMIA_TARGETS
        for source in (LTMIA_SHIFTED[corpus].values() if corpus in LTMIA_SHIFTED else [corpus])
    )
)
LTMIA_ATTACK = list(LTMIA["classifiers"])[0]
LTMIA_FAMILIES = {name: config["language_models"][name]["family"] for name in LTMIA_MODELS}
# A rate below 1 / non-members is not resolved: the smallest that is takes its place.
LTMIA_FPRS = sorted({max(fpr, 1 / LTMIA["texts"]["parts"]["nonmember"]) for fpr in LTMIA["fpr"]}, reverse=True)


def ltmia_targets(model):
    """Dataset and tuning of every target of a base model."""
    return [[corpus, tuning] for name, corpus, tuning in LTMIA_TARGETS if name == model]


def ltmia_shards(model):
    return shards(len(ltmia_targets(model)), LTMIA["targets_per_job"])


def ltmia_of_shard(wildcards):
    """Targets of one job."""
    first = int(wildcards.shard) * LTMIA["targets_per_job"]
    return ltmia_targets(wildcards.model)[first : first + LTMIA["targets_per_job"]]


def ltmia_files(kind, combinations=None):
    """Files of all targets, or of the jobs that make these."""
    wanted = LTMIA_TARGETS if combinations is None else combinations
    places = dict.fromkeys(
        (model, ltmia_targets(model).index([corpus, tuning]) // LTMIA["targets_per_job"])
        for model, corpus, tuning in wanted
    )
    return [f"<results>/signals/ltmia/{model}/{shard}.{kind}" for model, shard in places]


def ltmia_way(name):
    """What is told of a tuning: untrained, full, lora or private."""
    tuning = LTMIA["tunings"][name]
    if not tuning["epochs"]:
        return "untrained"
    return next((way for way in ("private", "lora") if tuning[{"private": "privacy"}.get(way, way)]), "full")


def ltmia_corpus_file(wildcards):
    """A local file or folder of texts."""
    entry = config["datasets"][wildcards.dataset]
    if entry["source"] != "file":
        return []
    path = in_project(os.path.expanduser(entry["path"]))
    if not os.path.exists(path):
        raise WorkflowError(
            f"datasets/{wildcards.dataset}/path: there is nothing at {path}; give the path of the texts"
        )
    return path


def ltmia_made_here(file):
    """A file that base models are made from; none for a model that is there."""

    def of(wildcards):
        made = config["language_models"][wildcards.model]["model_type"] is not None
        return file if made else []

    return of


def ltmia_fetched(wildcards):
    """A base model of the hub."""
    hub = config["language_models"][wildcards.model]["hub"]
    return f"<results>/models/ltmia/{wildcards.model}/fetched" if hub else []


def ltmia_model_entry(wildcards):
    """What makes a base model; the family is for readers alone."""
    entry = config["language_models"][wildcards.model]
    path = entry["path"] and in_project(os.path.expanduser(entry["path"]))
    return {key: entry[key] for key in ("model_type", "config", "hub")} | {"path": path}


def ltmia_own(key, file):
    """A file of the user's own (ltmia/attack), or its folder's config.json."""

    def of(wildcards):
        path = in_project(os.path.expanduser(LTMIA["attack"][key]))
        path = os.path.join(path, file) if file and os.path.isdir(path) else path
        if not os.path.exists(path):
            raise WorkflowError(f"ltmia/attack/{key}: there is nothing at {path}; give the path of the {key}")
        return path

    return of


def ltmia_attack_target(wildcards):
    """What `snakemake ltmia_attack` makes."""
    if LTMIA["attack"] is None:
        raise WorkflowError("ltmia/attack: this config does not say which target, base and texts; see README.md")
    return "<results>/ltmia_attack/verdicts.csv"


LTMIA_FITTING = {
    "seed": config["seed"],
    "training": LTMIA_TRAINING,
    "validation": LTMIA["validation"],
    "test": LTMIA["test"],
}


def ltmia_fitting(name):
    """How a classifier is shaped and trained."""
    own = LTMIA["classifiers"][name]
    return {"arm": own["arm"], "architecture": own["architecture"], "fitting": own["training"]}


def ltmia_diverse():
    """The attack's settings, and what training on few texts changes of them."""
    own, changed = ltmia_fitting(LTMIA_ATTACK), LTMIA["diversity"]["training"]
    return own | {"fitting": own["fitting"] | {key: value for key, value in changed.items() if value is not None}}


def ltmia_scores(*kinds):
    """Files of tidy results."""
    return [f"<results>/scores/ltmia/{kind}.parquet" for kind in kinds]


def ltmia_size(model, shard=None):
    """Tokens that the targets of a job read, in training and when they are asked."""
    parts, tunings = LTMIA["texts"]["parts"], LTMIA["tunings"]
    texts = sum(
        3 * tunings[tuning]["epochs"] * parts["member"] + 2 * (parts["member"] + parts["nonmember"])
        for _, tuning in ltmia_targets(model)
    )
    # What they hold grows with the model, not with the texts: features are written text by text, and read from the disk.
    return size(texts * LTMIA["texts"]["length"] / len(ltmia_shards(model)), held=0)


def ltmia_base_size(model):
    texts = LTMIA["texts"]["parts"]["pretraining"] * len(LTMIA_CORPORA)
    return size(3 * texts * LTMIA["texts"]["length"], held=0)


def ltmia_classifier_size(name=None):
    texts = len(LTMIA_TRAINING) * (LTMIA["texts"]["parts"]["member"] + LTMIA["texts"]["parts"]["nonmember"])
    return size(texts * LTMIA["texts"]["length"], held=0)


if LTMIA_TARGETS:
    costs("data_make_key", [""], no_size)
    costs("ltmia_fetch_corpus", LTMIA_CORPORA, no_size)
    fetched = [model for model in LTMIA_MODELS if config["language_models"][model]["hub"]]
    costs("ltmia_fetch_model", fetched, no_size)
    costs("ltmia_prepare_corpora", [""], no_size)
    costs("ltmia_prepare_model", LTMIA_MODELS, ltmia_base_size)
    jobs = [f"{model}/{shard}" for model in LTMIA_MODELS for shard in ltmia_shards(model)]
    costs("ltmia_finetune_targets", jobs, ltmia_size)
    costs("ltmia_train_attack", LTMIA["classifiers"], ltmia_classifier_size)
    costs("ltmia_measure_diversity", [""], ltmia_classifier_size)
    costs("ltmia_permute_features", [""], ltmia_classifier_size)
    costs("ltmia_judge_attacks", [""], no_size)
