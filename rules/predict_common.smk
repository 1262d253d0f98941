"""What the rules of `predict*.smk` share: settings, files, and how large the jobs are; no rule stands here."""

PREDICT = config["predict"]
PREDICT_SETTINGS = {name: PREDICT["settings"][name] for name in PREDICT["cases"]}
# A language model of 7 billion weights in fp32, once as it was and once as it is trained.
PREDICT_MEMORY = 64000 if any(setting["network"].get("model") for setting in PREDICT_SETTINGS.values()) else 4000
# Projections that PSMI holds at once (memaudit/attacks/psmi.py).
PREDICT_BLOCK = 2**25


wildcard_constraints:
    case="|".join(PREDICT_SETTINGS) or "-",


PREDICT_METRICS = ["auc", *(f"tpr@{fpr:g}" for fpr in PREDICT["fpr"]), *(f"fpr@tpr{tpr:g}" for tpr in PREDICT["tpr"])]
# Published numbers stand beside ours: `table` says where the paper prints them.
PREDICT_SOURCES = "Lines that name a table or section are what the paper prints there; it states no interval."


def predict_layout(*rows, null=True, **where):
    """Layout of results by metric."""
    return {"rows": list(rows), "columns": ["metric"], "where": where, "null": null}


def predict_told(network):
    """A network in words."""
    small, adapter = network.get("small"), network.get("adapter")
    if network["kind"] == "mlp":
        return f"MLP, {network['depth']} layers of {network['width']}, from scratch"
    if network["kind"] == "wrn":
        return f"WRN{network['depth']}-{network['widen']}, {network['base']} channels, from scratch"
    name = f"{small['family']}, {small['layers']} layers of {small['width']}" if small else network["model"]
    return f"{name}, " + (f"LoRA of rank {adapter['rank']}" if adapter else "all weights tuned")


def predict_facts(name, setting):
    """A line of the table of settings."""
    data, training = setting["data"], setting["training"]
    source = data.get("dataset") or ", ".join([data["kind"], *data.get("packages", [])])
    keys = [setting[key] for key in ("models", "targets")] + [
        training[key] for key in ("epochs", "batch", "learning_rate")
    ]
    return [
        *(name, f"{source} as questions" if data.get("questions") else source, predict_told(setting["network"])),
        *(setting["max_records"] or "all", *keys, setting["label_noise"], setting["canaries"], setting["interrupt"]),
    ]


def predict_setting(*keys):
    """These leaves of a setting, as params."""

    def of(wildcards):
        setting = {key: PREDICT_SETTINGS[wildcards.case][key] for key in keys}
        data = setting.get("data", {})
        if "path" in data:
            setting["data"] = data | {"path": in_project(os.path.expanduser(data["path"]))}
        return setting

    return of


def predict_leaf(key):
    """A leaf of a setting, as param."""
    return lambda wildcards: PREDICT_SETTINGS[wildcards.case][key]


def predict_leaves(*keys):
    """Leaves of the section, as params."""
    return {key: PREDICT[key] for key in keys}


def predict_table(file):
    """A file of the setting's table, where it has one."""

    def of(wildcards):
        data = PREDICT_SETTINGS[wildcards.case]["data"]
        return f"<results>/data/{data['dataset']}/{file}" if data["kind"] == "table" else []

    return of


def predict_key(wildcards):
    """The key of the ids, for what has none yet."""
    return [] if PREDICT_SETTINGS[wildcards.case]["data"]["kind"] == "table" else "<results>/data/id.key"


def predict_source(wildcards):
    """A user's own files. What is not there is named by the job, which also says where it can be had."""
    data = predict_setting("data")(wildcards)["data"]
    path = Path(data.get("path", "-"))
    files = sorted(path.glob("*.bin")) if data["kind"] == "cifar10" else [path]
    return [str(file) for file in files if file.is_file()]


def predict_model(file):
    """A file of the catalogue's model that the setting fine-tunes, where it does."""

    def of(wildcards):
        model = PREDICT_SETTINGS[wildcards.case]["network"].get("model")
        return f"<results>/models/{model}/{file}" if model else []

    return of


def predict_tokenizer(file):
    """The same where its tokenizer cuts the questions."""
    of_model = predict_model(file)
    kinds = {name: setting["network"]["kind"] for name, setting in PREDICT_SETTINGS.items()}
    return lambda wildcards: of_model(wildcards) if kinds[wildcards.case] == "text" else []


def predict_signals(kind, of_targets=False):
    """Shards of a setting's models, or those with targets alone."""

    def of(wildcards):
        setting = PREDICT_SETTINGS[wildcards.case]
        numbers = shards(setting["targets" if of_targets else "models"], setting["shard"])
        return expand("<results>/signals/predict/{{case}}/{shard}.{kind}", shard=numbers, kind=kind)

    return of


def predict_scores(*kinds):
    """Files of tidy results: one for each setting, or one for the study."""
    folders = [f"{name}/" for name in PREDICT_SETTINGS]
    return [
        f"<results>/scores/predict/{folder}{kind}.parquet"
        for kind in kinds
        for folder in ([""] if kind in ("average", "theorem") else folders)
    ]


def predict_rows(setting):
    """Records of a setting."""
    data = setting["data"]
    known = {"cifar10": 60000, "choices": 14000, "docstrings": setting["max_records"]}  # MMLU has 14,000
    rows = known.get(data["kind"]) or table_size(data["dataset"])["rows"]
    return min(filter(None, (rows, setting["max_records"]))) + setting["canaries"]


def predict_operations(setting):
    """Floating-point operations of one record's forward pass, roughly: two for a weight and place where it is used."""
    network, data = setting["network"], setting["data"]
    columns = table_size(data["dataset"])["columns"] if data["kind"] == "table" else 0
    if network["kind"] == "mlp":
        return 2 * network["width"] * (columns + (network["depth"] - 1) * network["width"])
    if network["kind"] == "wrn":
        _, height, width = network["shape"]
        widest = network["base"] * network["widen"]
        return 2 * network["depth"] * 9 * widest**2 * height * width
    if network["kind"] == "in_context":
        return 2 * flops.tabicl(network["context"], 1, columns, **architecture(network["model"]))
    if not network["small"]:
        return 2 * 7e9 * 200
    small, tokens = network["small"], (data["questions"]["features"] if data["kind"] == "table" else data["words"]) + 1
    return 2 * small["layers"] * small["width"] * (4 * small["width"] + 3 * small["inner"]) * tokens


def predict_looks(setting):
    """Checkpoints of a training."""
    return round(setting["training"]["until"] / setting["training"]["every"]) + 1 + setting["training"]["later"]


def predict_train_size(case, shard):
    """A record that is trained on costs three passes, one that is asked about one."""
    setting = PREDICT_SETTINGS[case]
    rows, models = predict_rows(setting), min(setting["shard"], setting["models"])
    passes = models * rows * (1.5 * setting["training"]["epochs"] + predict_looks(setting))
    answers = models * rows * predict_looks(setting)
    return size(passes * predict_operations(setting), answers, answers)


def predict_prepare_size(case):
    setting = PREDICT_SETTINGS[case]
    small, taught = setting["network"].get("small"), 0
    if small:
        taught = 3 * small["pretraining"]["steps"] * small["pretraining"]["batch"] * predict_operations(setting)
    return size(taught, predict_rows(setting) * setting["models"])


def predict_score_size(case):
    """Projections: directions times records, of every target and checkpoint; one block of those of one is held."""
    setting, directions = PREDICT_SETTINGS[case], PREDICT["scoring"]["directions"]
    scored = predict_rows(setting) * setting["targets"] * predict_looks(setting)
    return size(scored * directions, scored, min(predict_rows(setting) * directions, PREDICT_BLOCK))


def predict_judge_size(case):
    setting = PREDICT_SETTINGS[case]
    cells = predict_rows(setting) * predict_looks(setting)
    return size(cells * PREDICT["replicates"] * setting["targets"], cells, cells * setting["models"])


def predict_theorem_size():
    theorem = PREDICT["theorem"]
    cells = theorem["records"] * theorem["directions"]
    drawn = theorem["repeats"] * len(theorem["rates"]) * len(theorem["separations"])
    return size(cells * drawn, held=min(cells, PREDICT_BLOCK))


def predict_shards():
    return [
        f"{name}/{shard}"
        for name, setting in PREDICT_SETTINGS.items()
        for shard in shards(setting["models"], setting["shard"])
    ]


def predict_uses(model):
    """What the study asks of a tabular in-context model."""

    def of():
        for name, setting in PREDICT_SETTINGS.items():
            network = setting["network"]
            if network["kind"] == "in_context" and network["model"] == model:
                table = table_size(setting["data"]["dataset"])
                features = table["columns"] if table["known"] else None
                yield {"where": f"predict, setting {name}", "rows": network["context"], "features": features}

    return of


for setting in PREDICT_SETTINGS.values():
    if setting["data"]["kind"] == "table":
        data_costs([setting["data"]["dataset"]], [])
    else:
        costs("data_make_key", [""], no_size)
    if setting["network"].get("model"):
        uses(setting["network"]["model"], predict_uses(setting["network"]["model"]))
        costs("models_fetch_checkpoint", [setting["network"]["model"]], no_size)
if PREDICT_SETTINGS:
    costs("predict_prepare_setting", PREDICT_SETTINGS, predict_prepare_size)
    costs("predict_train_shadows", predict_shards(), predict_train_size)
    costs("predict_score_records", PREDICT_SETTINGS, predict_score_size)
    costs("predict_judge_predictors", PREDICT_SETTINGS, predict_judge_size)
    costs("predict_average_settings", [""], no_size)
    costs("predict_simulate_theorem", [""], predict_theorem_size)

OWN = config["own"]


def own_target(wildcards):
    """What `snakemake predict_own` makes."""
    if OWN is None:
        raise WorkflowError("own: this config has no section `own`; config/README.md says what belongs into one")
    return expand("<results>/own/{name}/risk.{kind}", name=OWN["name"], kind=["parquet", "csv", "md"])


def own_file(key):
    """A file of the user's, where the section names one."""
    return lambda wildcards: in_project(os.path.expanduser(OWN[key])) if OWN[key] else []
